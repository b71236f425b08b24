// Reads the discovery document of a provider, and finds the URL of its keys (OpenID Connect Discovery 1.0 section 4).

import { Failure } from '#std/failure.ts';
import type { JsonObject } from '#std/json.ts';
import { excerpt } from './excerpt.ts';
import { getJson, invalidAnswer } from './outbound.ts';
import type { AuthPorts } from './ports.ts';
import type { ProviderSettings } from './settings.ts';

/** Returns `<issuerUrl>/.well-known/openid-configuration` (registry server document, Provider entry). */
function discoveryUrl(issuerUrl: string): string {
  return urlBelow(issuerUrl, '/.well-known/openid-configuration');
}

function urlBelow(base: string, path: string): string {
  return `${base.endsWith('/') ? base.slice(0, -1) : base}${path}`;
}

/**
 * Returns the URL of the key set. Throws the Failures of `getJson`, `provider-issuer-mismatch` and
 * `provider-url-insecure`.
 */
export async function locateJwks(
  world: Pick<AuthPorts, 'fetch' | 'files'>,
  provider: ProviderSettings,
): Promise<string> {
  if (provider.jwksUrl !== undefined) return provider.jwksUrl;
  const document = await discover(world, provider);
  return jwksUri(discoveryUrl(provider.issuerUrl), document, provider.issuerUrl);
}

export interface ApiServerIssuer {
  /** Issuer of the cluster's service account tokens. */
  readonly issuer: string;
  readonly jwksUrl: string;
}

/**
 * Discovers the issuer of a cluster at its API server. Returns the API server's own URL of the keys. The discovery
 * document may name another host, which must not get the cluster's token. Throws the Failures of `getJson`.
 */
export async function discoverApiServer(
  world: Pick<AuthPorts, 'fetch' | 'files'>,
  provider: ProviderSettings,
): Promise<ApiServerIssuer> {
  const url = discoveryUrl(provider.issuerUrl);
  const { issuer } = await getJson(world, provider, url);
  if (typeof issuer !== 'string' || issuer === '') throw invalidAnswer(url, 'names no issuer');
  return { issuer, jwksUrl: urlBelow(provider.issuerUrl, '/openid/v1/jwks') };
}

/** Returns the discovery document of the provider. Throws the Failures of `getJson`, and `provider-issuer-mismatch`. */
export async function discover(
  world: Pick<AuthPorts, 'fetch' | 'files'>,
  provider: ProviderSettings,
): Promise<JsonObject> {
  const url = discoveryUrl(provider.issuerUrl);
  const document = await getJson(world, provider, url);
  checkIssuer(url, document, provider.issuerUrl);
  return document;
}

/**
 * Compares the issuer in the document. Without this check, an issuer could pose as another issuer (OIDC Discovery 1.0
 * section 4.3).
 */
function checkIssuer(url: string, document: JsonObject, issuerUrl: string): void {
  if (document.issuer === issuerUrl) return;
  const actual = typeof document.issuer === 'string' ? excerpt(document.issuer) : null;
  throw new Failure('provider-issuer-mismatch', `${url} names the issuer ${JSON.stringify(actual)}, not ${issuerUrl}`, {
    data: { url, expected: issuerUrl, actual },
  });
}

function jwksUri(url: string, document: JsonObject, issuerUrl: string): string {
  const { jwks_uri: uri } = document;
  if (typeof uri !== 'string' || !URL.canParse(uri)) throw invalidAnswer(url, 'names no jwks_uri');
  const { protocol } = new URL(uri);
  if (protocol === 'https:' || (protocol === 'http:' && new URL(issuerUrl).protocol === 'http:')) return uri;
  throw new Failure('provider-url-insecure', `${url} names a jwks_uri that is not https: ${excerpt(uri)}`, {
    data: { url },
  });
}
