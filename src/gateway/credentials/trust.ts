// Adds certificate authorities of the configuration to the trusted authorities of requests to one endpoint.

import { trustingFetch } from '#auth/trusting-fetch.ts';
import type { CredentialPorts } from './ports.ts';

/** CA bundle for the issuer of callers' tokens. */
export interface IssuerTrust {
  readonly bundle: string | undefined;
  /** URLs that the bundle is for. */
  readonly urls: readonly (string | undefined)[];
}

/**
 * Returns the bundle if the endpoint has the origin of one of the URLs, because a provider uses one certificate for an
 * origin.
 */
export function issuerBundle({ bundle, urls }: IssuerTrust, endpoint: string): string | undefined {
  const origin = URL.parse(endpoint)?.origin;
  const isSame = urls.some((url) => url !== undefined && URL.parse(url)?.origin === origin);
  return origin !== undefined && isSame ? bundle : undefined;
}

/** Returns ports whose requests trust the bundle, if `bundle` is set. */
export function trustBundle(ports: CredentialPorts, bundle: string | undefined): CredentialPorts {
  return { ...ports, fetch: trustingFetch(ports.fetch, ports.secretFiles, bundle) };
}
