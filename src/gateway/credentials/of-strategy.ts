// Creates the credential of one backend of a virtual server.

import type { VmcpBackend, VmcpConfig } from '#contracts/vmcp-config.ts';
import type { Strategy } from '#contracts/vmcp-config-auth.ts';
import { pointerToken } from '#std/json.ts';
import { bearerToken } from './bearer.ts';
import { configFault } from './config-fault.ts';
import type { Credential, CredentialCaller } from './credential.ts';
import { tokenExchange } from './exchange/exchange.ts';
import { crossApplicationAccess } from './exchange/xaa.ts';
import { headerForward } from './forward.ts';
import { headerInjection } from './header.ts';
import { inTurn } from './in-turn.ts';
import type { CredentialPorts } from './ports.ts';
import { removeCallerToken } from './remove.ts';
import { cloudSts, removeCallerSignature } from './sts.ts';
import { issuerBundle, trustBundle } from './trust.ts';
import { actAsUpstream, upstreamInjection } from './upstream.ts';

export interface StrategyPorts extends CredentialPorts {
  /** Returns the person's token at the provider. Absent if no authorization server is configured. */
  readonly providerToken?: (caller: CredentialCaller, provider: string) => Promise<string | undefined>;
  /**
   * Returns the id_token of the person's login at the provider, or at the first provider if `provider` is undefined.
   * Absent if no authorization server is configured.
   */
  readonly providerIdToken?: (caller: CredentialCaller, provider: string | undefined) => Promise<string | undefined>;
}

/**
 * Returns the strategy of a member. If the token endpoint of an exchange belongs to the provider that callers log in
 * with, the exchange also trusts this provider's CA bundle.
 */
export function strategyAt({ incomingAuth, outgoingAuth }: VmcpConfig, member: string): Strategy {
  const strategy = outgoingAuth.backends[member] ?? { type: 'unauthenticated' };
  const { tokenExchange: exchange } = strategy;
  if (exchange === undefined || exchange.caBundlePath !== undefined) return strategy;
  const { caBundlePath: bundle, issuer, jwksUrl, introspectionUrl } = incomingAuth.oidc ?? {};
  const caBundlePath = issuerBundle({ bundle, urls: [issuer, jwksUrl, introspectionUrl] }, exchange.tokenUrl);
  return { ...strategy, tokenExchange: { ...exchange, caBundlePath } };
}

/** Returns whether the backend may offer different tools to different callers. */
export function isPerCaller({ type }: Strategy): boolean {
  return type === 'token_exchange' || type === 'cloud_sts' || type === 'upstream_inject' || type === 'xaa';
}

/** Returns whether a caller of the backend needs a token of an upstream provider. */
export function needsProvider({ tokenExchange, cloudSts, upstreamInject, xaa }: Strategy): boolean {
  if (upstreamInject !== undefined || xaa !== undefined) return true;
  return (tokenExchange ?? cloudSts)?.subjectProviderName !== undefined;
}

/**
 * Returns the credential of a backend. It applies the strategy and the configured headers, which override headers of
 * the strategy. A signature is added after the configured headers. Throws a Failure like `credentialOfStrategy`.
 */
export function credentialOfBackend(listed: VmcpBackend, config: VmcpConfig, ports: StrategyPorts): Credential {
  const { name, headerForward: headers } = listed;
  const strategy = strategyAt(config, name);
  const credential = credentialOfStrategy(strategy, `/outgoingAuth/backends/${pointerToken(name)}`, ports);
  if (headers === undefined) return credential;
  const { addPlaintextHeaders: plain, addHeadersFromSecret: secret } = headers;
  const block = { add_plaintext_headers: plain, add_headers_from_secret: secret };
  const forward = headerForward(ports, block, `/backends/${pointerToken(name)}/headerForward`);
  return strategy.type === 'cloud_sts' ? inTurn(forward, credential) : inTurn(credential, forward);
}

/**
 * Returns the credential of a strategy. `pointer` names the strategy. Throws a Failure if the strategy or one of its
 * secrets is not usable.
 */
export function credentialOfStrategy(strategy: Strategy, pointer: string, ports: StrategyPorts): Credential {
  switch (strategy.type) {
    case 'unauthenticated':
      return removeCallerToken;
    case 'header_injection':
      return headerOf(strategy, pointer, ports);
    case 'bearer_token': {
      const { tokenEnv } = requireBlock(strategy.bearerToken, pointer, 'bearerToken');
      return bearerToken(ports, { token_env_var: tokenEnv });
    }
    case 'token_exchange':
      return exchangeOf(strategy, pointer, ports);
    case 'cloud_sts':
      return stsOf(strategy, pointer, ports);
    case 'upstream_inject':
      return upstreamOf(strategy, pointer, ports);
    case 'xaa':
      return accessOf(strategy, pointer, ports);
  }
}

function upstreamOf({ upstreamInject: block }: Strategy, pointer: string, ports: StrategyPorts): Credential {
  const { providerName } = requireBlock(block, pointer, 'upstreamInject');
  const { providerToken } = ports;
  if (providerToken === undefined) throw configFault(`${pointer}/type`, 'is upstream_inject, which needs /authServer');
  return upstreamInjection((caller) => providerToken(caller, providerName));
}

function requireBlock<T>(block: T | undefined, pointer: string, key: string): T {
  if (block === undefined) throw configFault(`${pointer}/${key}`, 'is missing: the type requires it');
  return block;
}

/**
 * Name of the variable that passes a secret of the configuration file to a credential. Credentials read secrets only
 * from variables and files.
 */
const WRITTEN = 'SKEP_WRITTEN_VALUE';

function written(ports: CredentialPorts, value: string | undefined): CredentialPorts {
  return value === undefined ? ports : { ...ports, environment: { ...ports.environment, [WRITTEN]: value } };
}

/** Removes the caller's own token, which is for the virtual server, before applying the credential. */
function instead(credential: Credential): Credential {
  return (request, caller) => {
    const { authorization: _authorization, ...headers } = request.headers;
    return credential({ ...request, headers }, caller);
  };
}

function headerOf({ headerInjection: block }: Strategy, pointer: string, ports: CredentialPorts): Credential {
  const { headerName, headerValue, headerValueEnv } = requireBlock(block, pointer, 'headerInjection');
  const variable = headerValue === undefined ? headerValueEnv : WRITTEN;
  return instead(headerInjection(written(ports, headerValue), { header_name: headerName, value_env_var: variable }));
}

function exchangeOf({ tokenExchange: block }: Strategy, pointer: string, ports: StrategyPorts): Credential {
  const given = requireBlock(block, pointer, 'tokenExchange');
  const { clientSecret, clientSecretEnv, externalTokenHeaderName: header } = given;
  const secret = clientSecret === undefined ? clientSecretEnv : WRITTEN;
  const exchange = tokenExchange(trustBundle(written(ports, clientSecret), given.caBundlePath), {
    token_url: given.tokenUrl,
    client_id: given.clientId,
    client_secret_env_var: secret,
    audience: given.audience,
    scopes: given.scopes,
    subject_token_type: given.subjectTokenType,
    header_strategy: header === undefined ? 'replace' : 'custom',
    external_token_header_name: header,
  });
  return asProvider(given.subjectProviderName, `${pointer}/tokenExchange`, ports, exchange);
}

function accessOf({ xaa: block }: Strategy, pointer: string, ports: StrategyPorts): Credential {
  const given = requireBlock(block, pointer, 'xaa');
  const { providerIdToken } = ports;
  if (providerIdToken === undefined) throw configFault(`${pointer}/type`, 'is xaa, which needs /authServer');
  const { environment } = ports;
  // Secrets in the file are passed on as environment variables.
  const written = { ...environment, [WRITTEN_IDP]: given.idpClientSecret, [WRITTEN_TARGET]: given.targetClientSecret };
  const access = crossApplicationAccess(
    { ...ports, environment: written },
    {
      idp_token_url: given.idpTokenUrl,
      idp_client_id: given.idpClientId || undefined,
      idp_client_secret_env_var: given.idpClientSecret === undefined ? given.idpClientSecretEnv : WRITTEN_IDP,
      target_token_url: given.targetTokenUrl,
      insecure_target_token_url: given.insecureTargetTokenUrl,
      target_client_id: given.targetClientId || undefined,
      target_client_secret_env_var:
        given.targetClientSecret === undefined ? given.targetClientSecretEnv : WRITTEN_TARGET,
      target_audience: given.targetAudience,
      target_resource: given.targetResource,
      scopes: given.scopes,
    },
    `${pointer}/xaa`,
  );
  return actAsUpstream((caller) => providerIdToken(caller, given.subjectProviderName), access);
}

const WRITTEN_IDP = `${WRITTEN}_IDP`;
const WRITTEN_TARGET = `${WRITTEN}_TARGET`;

/** If a provider is named, passes the provider's token to the credential in place of the caller's token. */
function asProvider(provider: string | undefined, pointer: string, ports: StrategyPorts, credential: Credential) {
  if (provider === undefined) return credential;
  const { providerToken } = ports;
  if (providerToken === undefined) throw configFault(`${pointer}/subjectProviderName`, 'needs /authServer');
  return actAsUpstream((caller) => providerToken(caller, provider), credential);
}

function stsOf({ cloudSts: block }: Strategy, pointer: string, ports: StrategyPorts): Credential {
  const given = requireBlock(block, pointer, 'cloudSts');
  const signs = cloudSts(ports, {
    region: given.region,
    service: given.service,
    fallback_role_arn: given.fallbackRoleArn,
    role_mappings: given.roleMappings?.map(({ roleArn, ...rest }) => ({ ...rest, role_arn: roleArn })),
    role_claim: given.roleClaim,
    session_duration: given.sessionDuration,
    session_name_claim: given.sessionNameClaim,
  });
  const sign = asProvider(given.subjectProviderName, `${pointer}/cloudSts`, ports, signs);
  return (request, caller) => {
    const cleaned = removeCallerSignature(request);
    return cleaned.ok ? sign({ ...request, headers: cleaned.headers }, caller) : cleaned;
  };
}
