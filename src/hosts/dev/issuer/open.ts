// Opens the issuer of the sample fleet, if its package is installed.

import { join } from 'node:path';
import { type SampleIssuer, startSampleIssuer } from './issuer.ts';

/** URL of the issuer in the manifests of the sample. The real URL is known only when the issuer runs. */
export const SAMPLE_ISSUER = 'http://127.0.0.1:8079';

/** Without the package, servers that require a token of this issuer cannot be called. */
export async function openIssuer(dir: string, say: (text: string) => void): Promise<SampleIssuer> {
  const issuer = await startSampleIssuer(join(dir, 'issuer'));
  if (issuer !== undefined) {
    say(`issuer at ${issuer.url}, for the servers that require a token`);
    return issuer;
  }
  say('no issuer for the servers that require a token: the optional package oidc-provider is not installed');
  return { url: SAMPLE_ISSUER, stop: async () => undefined };
}
