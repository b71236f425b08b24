// Converts an MCPExternalAuthConfig to the strategy with which a virtual server authenticates to a backend, and to
// environment variables with the Secrets.

import { VMCP_ENV } from '#contracts/vmcp-config.ts';
import type { Strategy } from '#contracts/vmcp-config-auth.ts';
import { digest, sha256 } from '#std/hash.ts';
import { type Bundle, bundleOf } from '../auth/ca-bundle.ts';
import { type ExternalAuthConfig, externalAuthConfig } from '../auth/external-auth-config.ts';
import { signedService, TOKEN_TYPES } from '../auth/external-auth-parts.ts';
import { type AuthServer, idTokenFault, providerFault } from '../auth/server/providers.ts';
import type { View } from '../kind.ts';
import type { Env } from '../pods/pod.ts';
import type { SecretKey } from '../pods/secret-checksum.ts';

export type Converted =
  | { readonly strategy: Strategy; readonly env: readonly Env[]; readonly bundle?: Bundle }
  | Unusable;

/** Reason why a backend is not called. */
export interface Unusable {
  readonly fault: string;
  /** Wrong field of the listed backend, if the manifest lists it. */
  readonly field?: 'url' | 'transport';
  /** True if a Secret or a ConfigMap was not found. Without a cluster, it may still exist. */
  readonly isAbsence?: true;
}

/** `place`: URL to which the credential is sent. Set only if the backend's author chooses the URL. */
export function strategyOf(name: string, view: View, place?: string): Converted {
  const config = externalAuthConfig({ name }, view);
  if (config === undefined) return { fault: `MCPExternalAuthConfig ${name} does not exist` };
  const { tokenExchange, headerInjection, bearerToken, cloudSts, upstreamInject, xaa } = config;
  const suffix = (secret: SecretKey) =>
    place === undefined ? variableSuffix(name) : variableSuffixOfPlace(name, { place, secret });
  if (tokenExchange !== undefined) return convertTokenExchange(suffix, tokenExchange, view);
  if (headerInjection !== undefined) return header(suffix, headerInjection);
  if (bearerToken !== undefined) return bearer(suffix, bearerToken);
  if (cloudSts !== undefined) return { strategy: { type: 'cloud_sts', cloudSts: cloudStsOf(cloudSts) }, env: [] };
  if (upstreamInject !== undefined) return { strategy: { type: 'upstream_inject', upstreamInject }, env: [] };
  if (xaa !== undefined) return convertAccess(suffix, xaa);
  if (config.type === 'unauthenticated') return { strategy: { type: 'unauthenticated' }, env: [] };
  return {
    fault: `${config.type} of MCPExternalAuthConfig ${name} is for callers of a server, not for a server that calls others`,
  };
}

/** Returns a fault if the upstream provider is unknown: callers would then have no token for the backend. */
export function withKnownProvider(converted: Converted, server: AuthServer | undefined): Converted {
  if (!('strategy' in converted)) return converted;
  const { xaa } = converted.strategy;
  if (xaa !== undefined) {
    const fault = idTokenFault(xaa.subjectProviderName, server);
    return fault === undefined ? converted : { fault: `authServerConfig ${fault}` };
  }
  const provider = providerOf(converted.strategy);
  const fault = provider === undefined ? undefined : providerFault(provider, server);
  return fault === undefined ? converted : { fault: `authServerConfig ${fault}` };
}

/** Returns true if callers need a login at an upstream provider. */
export function needsLogin(strategy: Strategy): boolean {
  return strategy.xaa !== undefined || providerOf(strategy) !== undefined;
}

function providerOf({ tokenExchange, cloudSts, upstreamInject }: Strategy): string | undefined {
  return upstreamInject?.providerName ?? (tokenExchange ?? cloudSts)?.subjectProviderName;
}

type Suffix = (secret: SecretKey) => string;

function convertTokenExchange(
  suffix: Suffix,
  config: NonNullable<ExternalAuthConfig['tokenExchange']>,
  view: View,
): Converted {
  const { clientSecretRef, scopes = [], externalTokenHeaderName } = config;
  const clientId = config.clientId === '' ? undefined : config.clientId;
  // Only a client with an id has a secret (RFC 6749, section 2.3.1).
  const secret = clientId === undefined ? undefined : clientSecretRef;
  const variable = secret && VMCP_ENV.tokenExchangeClientSecret(suffix(secret));
  const bundle = bundleOf(config.caBundleRef, view);
  const tokenExchange = {
    tokenUrl: config.tokenUrl,
    caBundlePath: bundle?.path,
    clientId,
    clientSecretEnv: variable,
    audience: config.audience,
    scopes: scopes.length === 0 ? undefined : scopes,
    subjectProviderName: config.subjectProviderName,
    subjectTokenType: TOKEN_TYPES[config.subjectTokenType],
    externalTokenHeaderName,
  };
  const env = secret === undefined || variable === undefined ? [] : [{ name: variable, secret }];
  return { strategy: { type: 'token_exchange', tokenExchange }, env, bundle };
}

function convertAccess(
  suffix: Suffix,
  { idpClientSecretRef, targetClientSecretRef, scopes = [], ...config }: NonNullable<ExternalAuthConfig['xaa']>,
): Converted {
  const idp = config.idpClientId ? idpClientSecretRef : undefined;
  const target = config.targetClientId ? targetClientSecretRef : undefined;
  const idpClientSecretEnv = idp && VMCP_ENV.idpClientSecret(suffix(idp));
  const targetClientSecretEnv = target && VMCP_ENV.targetClientSecret(suffix(target));
  const xaa = {
    ...config,
    idpClientId: config.idpClientId || undefined,
    targetClientId: config.targetClientId || undefined,
    scopes: scopes.length === 0 ? undefined : scopes,
    idpClientSecretEnv,
    targetClientSecretEnv,
  };
  const env = [
    ...(idp === undefined || idpClientSecretEnv === undefined ? [] : [{ name: idpClientSecretEnv, secret: idp }]),
    ...(target === undefined || targetClientSecretEnv === undefined
      ? []
      : [{ name: targetClientSecretEnv, secret: target }]),
  ];
  return { strategy: { type: 'xaa', xaa }, env };
}

function header(suffix: Suffix, config: NonNullable<ExternalAuthConfig['headerInjection']>): Converted {
  const headerValueEnv = VMCP_ENV.headerInjectionValue(suffix(config.valueSecretRef));
  const headerInjection = { headerName: config.headerName, headerValueEnv };
  const env = [{ name: headerValueEnv, secret: config.valueSecretRef }];
  return { strategy: { type: 'header_injection', headerInjection }, env };
}

function bearer(suffix: Suffix, config: NonNullable<ExternalAuthConfig['bearerToken']>): Converted {
  const tokenEnv = VMCP_ENV.bearerToken(suffix(config.tokenSecretRef));
  const env = [{ name: tokenEnv, secret: config.tokenSecretRef }];
  return { strategy: { type: 'bearer_token', bearerToken: { tokenEnv } }, env };
}

export function cloudStsOf(config: NonNullable<ExternalAuthConfig['cloudSts']>): NonNullable<Strategy['cloudSts']> {
  const { fallbackRoleArn, roleMappings = [] } = config;
  return {
    region: config.region,
    service: signedService(config.service),
    fallbackRoleArn,
    roleMappings: roleMappings.length === 0 ? undefined : roleMappings,
    roleClaim: config.roleClaim,
    sessionDuration: config.sessionDuration,
    sessionNameClaim: config.sessionNameClaim,
    subjectProviderName: config.subjectProviderName,
  };
}

/** Returns the name in upper case, with a digest if another name could result in the same text. */
function variableSuffix(name: string): string {
  const capitals = name.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_');
  return name.includes('.') ? `${capitals}_${sha256(name).slice(0, 8).toUpperCase()}` : capitals;
}

interface SecretUse {
  /** URL to which the secret is sent. */
  readonly place: string;
  readonly header?: string;
  readonly secret: SecretKey;
}

/**
 * Returns a suffix that changes with the URL, the header and the Secret. A running process has fixed variables, but
 * rereads the list of backends. With a stable suffix, the process would send an old secret to a new URL. With this
 * suffix, it has no variable of this name, and keeps the old list.
 */
export function variableSuffixOfPlace(name: string, { place, header, secret }: SecretUse): string {
  const use = digest({ place, header: header ?? null, secret: { name: secret.name, key: secret.key } });
  return `${variableSuffix(name)}_${use.slice(0, 16).toUpperCase()}`;
}
