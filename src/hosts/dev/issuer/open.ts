// Starts the issuer of the sample fleet, if its package is installed.

import { join } from 'node:path';
import { type SampleIssuer, startSampleIssuer } from './issuer.ts';

/** URL of the issuer in the sample's manifests. `skep dev` replaces it by the real URL. */
export const SAMPLE_ISSUER = 'http://127.0.0.1:8079';

/**
 * Returns an issuer without a listener if the package is missing: servers that require its tokens then cannot be
 * called.
 */
export async function openIssuer(dir: string, say: (text: string) => void): Promise<SampleIssuer> {
  const issuer = await startSampleIssuer(join(dir, 'issuer'));
  if (issuer !== undefined) {
    say(`issuer at ${issuer.url}, for the servers that require a token`);
    return issuer;
  }
  say('no issuer for the servers that require a token: the optional package oidc-provider is not installed');
  return { url: SAMPLE_ISSUER, stop: async () => undefined };
}
