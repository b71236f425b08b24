// Trusts certificate authorities that a configuration names, for requests to one endpoint.

import { trustingFetch } from '#auth/trusting-fetch.ts';
import type { CredentialPorts } from './ports.ts';

/** Settings by which tokens of callers are checked. */
export interface IssuerTrust {
  readonly bundle: string | undefined;
  /** URLs that the bundle is for. */
  readonly urls: readonly (string | undefined)[];
}

/** Returns the bundle if the endpoint has the origin of one of the URLs: one provider has one certificate. */
export function issuerBundle({ bundle, urls }: IssuerTrust, endpoint: string): string | undefined {
  const origin = URL.parse(endpoint)?.origin;
  const isSame = urls.some((url) => url !== undefined && URL.parse(url)?.origin === origin);
  return origin !== undefined && isSame ? bundle : undefined;
}

/** Returns ports whose requests trust the bundle, if a bundle is given. */
export function trustBundle(ports: CredentialPorts, bundle: string | undefined): CredentialPorts {
  return { ...ports, fetch: trustingFetch(ports.fetch, ports.secretFiles, bundle) };
}
