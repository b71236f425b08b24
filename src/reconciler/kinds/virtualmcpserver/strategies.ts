// Turns an MCPExternalAuthConfig into the strategy by which a virtual server authenticates to a backend, with the Secrets
// that it needs in the environment.

import { VMCP_ENV } from '#contracts/vmcp-config.ts';
import type { Strategy } from '#contracts/vmcp-config-auth.ts';
import { sha256 } from '#std/hash.ts';
import { type Bundle, bundleOf } from '../auth/ca-bundle.ts';
import { type ExternalAuthConfig, externalAuthConfig } from '../auth/external-auth-config.ts';
import { signedService, TOKEN_TYPES } from '../auth/external-auth-parts.ts';
import type { View } from '../kind.ts';
import type { Env } from '../pods/pod.ts';

export type Converted =
  | { readonly strategy: Strategy; readonly env: readonly Env[]; readonly bundle?: Bundle }
  | Unusable;

/** Why a backend is not called. */
export interface Unusable {
  readonly fault: string;
  /** The field of a backend in the manifest that is wrong. */
  readonly field?: 'url' | 'transport';
}

export function strategyOf(name: string, view: View): Converted {
  const config = externalAuthConfig({ name }, view);
  if (config === undefined) return { fault: `MCPExternalAuthConfig ${name} does not exist` };
  const { tokenExchange, headerInjection, bearerToken, cloudSts } = config;
  if (tokenExchange !== undefined) return convertTokenExchange(name, tokenExchange, view);
  if (headerInjection !== undefined) return header(name, headerInjection);
  if (bearerToken !== undefined) return bearer(name, bearerToken);
  if (cloudSts !== undefined) return { strategy: { type: 'cloud_sts', cloudSts: sts(cloudSts) }, env: [] };
  if (config.type === 'unauthenticated') return { strategy: { type: 'unauthenticated' }, env: [] };
  return {
    fault: `${config.type} of MCPExternalAuthConfig ${name} is for those who call a server, not for one that calls`,
  };
}

function convertTokenExchange(
  name: string,
  config: NonNullable<ExternalAuthConfig['tokenExchange']>,
  view: View,
): Converted {
  const { clientSecretRef, scopes = [], externalTokenHeaderName } = config;
  const clientId = config.clientId === '' ? undefined : config.clientId;
  const variable = VMCP_ENV.tokenExchangeClientSecret(variableSuffix(name));
  // Only a client with an id has a secret (RFC 6749, section 2.3.1).
  const secret = clientId === undefined ? undefined : clientSecretRef;
  const bundle = bundleOf(config.caBundleRef, view);
  const tokenExchange = {
    tokenUrl: config.tokenUrl,
    caBundlePath: bundle?.path,
    clientId,
    clientSecretEnv: secret && variable,
    audience: config.audience,
    scopes: scopes.length === 0 ? undefined : scopes,
    subjectTokenType: TOKEN_TYPES[config.subjectTokenType],
    externalTokenHeaderName,
  };
  const env = secret === undefined ? [] : [{ name: variable, secret }];
  return { strategy: { type: 'token_exchange', tokenExchange }, env, bundle };
}

function header(name: string, config: NonNullable<ExternalAuthConfig['headerInjection']>): Converted {
  const headerValueEnv = VMCP_ENV.headerInjectionValue(variableSuffix(name));
  const headerInjection = { headerName: config.headerName, headerValueEnv };
  const env = [{ name: headerValueEnv, secret: config.valueSecretRef }];
  return { strategy: { type: 'header_injection', headerInjection }, env };
}

function bearer(name: string, config: NonNullable<ExternalAuthConfig['bearerToken']>): Converted {
  const tokenEnv = VMCP_ENV.bearerToken(variableSuffix(name));
  const env = [{ name: tokenEnv, secret: config.tokenSecretRef }];
  return { strategy: { type: 'bearer_token', bearerToken: { tokenEnv } }, env };
}

function sts(config: NonNullable<ExternalAuthConfig['cloudSts']>): NonNullable<Strategy['cloudSts']> {
  const { fallbackRoleArn, roleMappings = [] } = config;
  return {
    region: config.region,
    service: signedService(config.service),
    fallbackRoleArn,
    roleMappings: roleMappings.length === 0 ? undefined : roleMappings,
    roleClaim: config.roleClaim,
    sessionDuration: config.sessionDuration,
    sessionNameClaim: config.sessionNameClaim,
  };
}

/** The name in capitals; with a digest if that would no longer tell two names apart. */
export function variableSuffix(name: string): string {
  const capitals = name.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_');
  return name.includes('.') ? `${capitals}_${sha256(name).slice(0, 8).toUpperCase()}` : capitals;
}
