// Checks that a proxy reaches the issuer and its keys by HTTPS, so that accepted tokens can be trusted.

import { httpUrl } from '#std/address/address.ts';
import type { Static } from '#std/schema.ts';
import type { Finding, View } from '../kind.ts';
import { fieldWithoutEffect } from '../without-effect.ts';
import type { OIDCConfig, SharedOIDC } from './oidc.ts';
import { ANY_OWNER, resolveOIDC } from './oidc-settings.ts';
import type { TokenSource } from './token-settings.ts';

type Ref = Static<typeof OIDCConfig> | undefined;
type Inline = NonNullable<NonNullable<Ref>['inline']>;

interface OptionalUrl {
  readonly url: string | undefined;
  readonly pointer: string;
}

interface Trusted {
  readonly issuer: { readonly url: string; readonly pointer: string };
  readonly keys: OptionalUrl;
  readonly introspection: OptionalUrl;
  /** True if the author allowed plain HTTP to the issuer. */
  readonly insecure: boolean;
}

/** Pointer of the OIDC settings of MCPServer and MCPRemoteProxy. */
const POINTER = '/spec/oidcConfig';

/** For `rules`: checks settings in the resource itself. `pointer`: pointer of the settings. */
export function oidcFindings(oidc: Ref, pointer = POINTER): readonly Finding[] {
  const { kubernetes, inline } = oidc ?? {};
  return [
    ...(kubernetes === undefined ? [] : trustFindings(trustedOf(kubernetes, `${pointer}/kubernetes`, false))),
    ...(inline === undefined ? [] : trustFindings(trustedOf(inline, `${pointer}/inline`, inline.insecureAllowHTTP))),
    ...(inline === undefined ? [] : beatenFindings(inline, `${pointer}/inline`)),
  ];
}

/**
 * Warns of a field without an effect, because a field with precedence is set (virtual server document,
 * InlineOIDCConfig).
 */
function beatenFindings(config: NonNullable<NonNullable<Ref>['inline']>, pointer: string): readonly Finding[] {
  const { clientSecret, clientSecretRef, svcCABundlePath, caBundleRef } = config;
  return [
    ...(clientSecret === undefined || clientSecretRef === undefined
      ? []
      : [fieldWithoutEffect(`${pointer}/clientSecret`, 'clientSecretRef counts instead')]),
    ...(svcCABundlePath === undefined || caBundleRef === undefined
      ? []
      : [fieldWithoutEffect(`${pointer}/caBundleRef`, 'svcCABundlePath counts instead')]),
  ];
}

/**
 * For `inspect`: checks settings in the ConfigMap or MCPOIDCConfig that the resource names. Another manager may have
 * applied the MCPOIDCConfig without skep's checks. `at`: pointer of the object with the fields of `source`.
 */
export function namedOIDCFindings(source: TokenSource, view: View, at = '/spec'): readonly Finding[] {
  const { oidcConfig, oidcConfigRef } = source;
  const isInside = oidcConfig !== undefined && oidcConfig.configMap === undefined;
  if (oidcConfigRef === undefined && isInside) return [];
  const resolved = resolveOIDC(source, view, ANY_OWNER, at);
  if (resolved === undefined) return [];
  if ('findings' in resolved) return resolved.findings;
  const { issuer, jwks_url, introspection_url, insecure_allow_http } = resolved.settings;
  const pointer = oidcConfigRef === undefined ? `${at}/oidcConfig/configMap` : `${at}/oidcConfigRef/name`;
  const faults = trustFindings({
    issuer: { url: issuer, pointer },
    keys: { url: jwks_url, pointer },
    introspection: { url: introspection_url, pointer },
    insecure: insecure_allow_http,
  });
  if (oidcConfigRef === undefined) return faults;
  return faults.map((fault) => ({ ...fault, message: `MCPOIDCConfig ${oidcConfigRef.name}: ${fault.message}` }));
}

/**
 * For `inspect` of a proxy: warns if the settings name no audience. A token must name an audience (RFC 8707 section 2),
 * so the proxy then expects the resource's URL. `origin`: URL of the proxy inside the cluster.
 */
export function audienceFindings(source: TokenSource, view: View, origin: string): readonly Finding[] {
  const resolved = resolveOIDC(source, view, { ...ANY_OWNER, origin });
  if (resolved === undefined || 'findings' in resolved || resolved.settings.audience !== undefined) return [];
  const message = `without audience, tokens are only accepted if their aud is ${resolved.settings.resource_url}`;
  const at = source.oidcConfig?.configMap === undefined ? 'inline' : 'configMap';
  return [{ code: 'oidc-audience-missing', severity: 'warning', pointer: `${POINTER}/${at}`, message }];
}

/** For `rules` of an MCPOIDCConfig: checks its settings. */
export function sharedOIDCFindings({
  inline,
  kubernetesServiceAccount,
}: Static<typeof SharedOIDC>): readonly Finding[] {
  return [
    ...(kubernetesServiceAccount === undefined
      ? []
      : trustFindings(trustedOf(kubernetesServiceAccount, '/spec/kubernetesServiceAccount', false))),
    ...(inline === undefined ? [] : trustFindings(trustedOf(inline, '/spec/inline', inline.insecureAllowHTTP))),
  ];
}

function trustedOf(
  { issuer, jwksUrl, introspectionUrl }: Pick<Inline, 'issuer' | 'jwksUrl' | 'introspectionUrl'>,
  pointer: string,
  insecure: boolean,
): Trusted {
  return {
    issuer: { url: issuer, pointer: `${pointer}/issuer` },
    keys: { url: jwksUrl || undefined, pointer: `${pointer}/jwksUrl` },
    introspection: { url: introspectionUrl || undefined, pointer: `${pointer}/introspectionUrl` },
    insecure,
  };
}

function trustFindings({ issuer, keys, introspection, insecure }: Trusted): readonly Finding[] {
  return [
    ...issuerFindings(issuer, insecure),
    ...keysFindings(keys, insecure),
    ...introspectionFindings(introspection, insecure),
  ];
}

function issuerFindings({ url, pointer }: Trusted['issuer'], insecure: boolean): readonly Finding[] {
  const protocol = httpUrl(url)?.protocol;
  if (protocol === 'https:' || (protocol === 'http:' && insecure)) return [];
  if (protocol === 'http:') {
    const message = `the issuer ${url} is not reached by HTTPS, so anyone on the network path could sign tokens`;
    return [{ code: 'oidc-issuer-insecure', severity: 'error', pointer, message }];
  }
  const message = `the issuer must be a URL that begins with https://, not "${url}"`;
  return [{ code: 'oidc-issuer-invalid', severity: 'error', pointer, message }];
}

function isTrusted(url: string, insecure: boolean): boolean {
  const protocol = httpUrl(url)?.protocol;
  return protocol === 'https:' || (protocol === 'http:' && insecure);
}

function introspectionFindings({ url, pointer }: OptionalUrl, insecure: boolean): readonly Finding[] {
  if (url === undefined || isTrusted(url, insecure)) return [];
  const message = `opaque tokens must be checked at a URL that begins with https://, not "${url}"`;
  return [{ code: 'introspection-url-invalid', severity: 'error', pointer, message }];
}

function keysFindings({ url, pointer }: OptionalUrl, insecure: boolean): readonly Finding[] {
  if (url === undefined || isTrusted(url, insecure)) return [];
  const message = `the signing keys must be at a URL that begins with https://, not "${url}"`;
  return [{ code: 'jwks-url-invalid', severity: 'error', pointer, message }];
}
