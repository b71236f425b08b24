// Finds conflicts between a resource with a proxy and the MCPExternalAuthConfig that it names.

import type { Finding, View } from '../kind.ts';
import type { AuthzSource } from './authz-settings.ts';
import { type ExternalAuthConfig, externalAuthConfig } from './external-auth-config.ts';
import { ANY_OWNER, resolveOIDC } from './oidc-settings.ts';
import { isIdleProvider, primaryProviderFindings } from './server/primary.ts';
import { idTokenFault, providerFault } from './server/providers.ts';
import { baselineScopeFindings } from './server/scopes.ts';
import { acceptedAudiences, trustHostFindings } from './server/trust-rules.ts';
import type { TokenSource } from './token-settings.ts';

/** Spec of a resource with a proxy. */
interface ProxySpec extends TokenSource, AuthzSource {
  readonly authServerRef?: { readonly name: string };
  readonly externalAuthConfigRef?: { readonly name: string };
  /** Not set if another controller sets the number. */
  readonly replicas?: number;
}

interface Caller {
  readonly name: string;
  /**
   * Issuer whose tokens the proxy accepts. `nobody`: the proxy accepts no tokens. `unknown`: the settings cannot be
   * read.
   */
  readonly issuer: string | 'nobody' | 'unknown';
  /** Scopes that the resource advertises; undefined if the settings cannot be read. */
  readonly scopes: readonly string[] | undefined;
  /** Values of `aud` that the resource accepts; empty if the values are unknown. */
  readonly audiences: readonly string[];
  /** Pointer of the field that names the MCPExternalAuthConfig. */
  readonly pointer: string;
  /** Field that contains or names the issuer. */
  readonly field: 'oidcConfig' | 'oidcConfigRef';
  /** True if the server behind the proxy uses standard streams, where requests have no headers. */
  readonly stdio: boolean;
  readonly replicas: number | undefined;
}

/** `stdio`: the server behind the proxy uses standard streams. */
export function externalAuthFindings(spec: ProxySpec, stdio: boolean, view: View): readonly Finding[] {
  const { externalAuthConfigRef: ref, authServerRef, replicas } = spec;
  const field = spec.oidcConfigRef === undefined ? ('oidcConfig' as const) : ('oidcConfigRef' as const);
  const common = { ...acceptedTokens(spec, view), field, stdio, replicas };
  const config = externalAuthConfig(ref, view);
  const server = externalAuthConfig(authServerRef, view);
  const caller = { ...common, name: ref?.name ?? '', pointer: '/spec/externalAuthConfigRef' };
  return [
    ...(config === undefined ? [] : settingsFindings(config, caller)),
    ...(config === undefined ? [] : injectFindings(config, server?.embeddedAuthServer, caller.pointer)),
    ...(server === undefined || authServerRef === undefined
      ? []
      : namedServerFindings(server, config, { ...common, name: authServerRef.name, pointer: '/spec/authServerRef' })),
    ...policyFindings(spec, (server ?? config)?.embeddedAuthServer, view),
  ];
}

function policyFindings(
  spec: ProxySpec,
  server: ExternalAuthConfig['embeddedAuthServer'],
  view: View,
): readonly Finding[] {
  const at = spec.authServerRef === undefined ? '/spec/externalAuthConfigRef' : '/spec/authServerRef';
  const message = 'primaryUpstreamProvider of the authorization server has no effect: there are no policies';
  return [
    ...primaryProviderFindings({ authz: spec, server, at: '/spec' }, view),
    ...(isIdleProvider(spec, server) ? [idle(message, at)] : []),
  ];
}

/**
 * Checks the upstream provider that the settings name. The proxy's authorization server must have the provider. Without
 * an authorization server, `subjectProviderName` has an effect only in virtual servers, because a proxy exchanges its
 * caller's token.
 */
function injectFindings(
  { tokenExchange, cloudSts, upstreamInject, xaa }: ExternalAuthConfig,
  server: ExternalAuthConfig['embeddedAuthServer'],
  pointer: string,
): readonly Finding[] {
  if (xaa !== undefined) {
    const fault = idTokenFault(xaa.subjectProviderName, server);
    if (fault === undefined) return [];
    return [authFinding('upstream-provider-unknown', `the authorization server of authServerRef ${fault}`, pointer)];
  }
  const provider = upstreamInject?.providerName ?? (tokenExchange ?? cloudSts)?.subjectProviderName;
  if (provider === undefined) return [];
  if (upstreamInject === undefined && server === undefined) {
    const message =
      'subjectProviderName only has an effect in virtual servers: without authServerRef, the proxy exchanges the token of the caller';
    return [idle(message, pointer)];
  }
  const fault = providerFault(provider, server);
  if (fault === undefined) return [];
  return [authFinding('upstream-provider-unknown', `the authorization server of authServerRef ${fault}`, pointer)];
}

function settingsFindings(config: ExternalAuthConfig, caller: Caller): readonly Finding[] {
  const server = config.embeddedAuthServer;
  return server === undefined ? idleFindings(config, caller) : serverFindings(server, caller);
}

/** `behind`: settings for authentication to the server behind the proxy. */
function namedServerFindings(
  { type, embeddedAuthServer: server }: ExternalAuthConfig,
  behind: ExternalAuthConfig | undefined,
  caller: Caller,
): readonly Finding[] {
  const { pointer, name } = caller;
  const conflict = (message: string) => [
    { code: 'auth-server-conflict', severity: 'error', pointer, message } as const,
  ];
  if (server === undefined) {
    return conflict(
      `MCPExternalAuthConfig ${name} is of type ${type}: authServerRef needs one of type embeddedAuthServer`,
    );
  }
  if (behind?.embeddedAuthServer !== undefined) {
    return conflict('externalAuthConfigRef names an authorization server, too: remove one of them');
  }
  const needsToken = ['tokenExchange', 'cloudSts', 'upstreamInject', 'xaa'].includes(behind?.type ?? '');
  if (server.disableUpstreamTokenInjection === true && needsToken) {
    return conflict(
      `MCPExternalAuthConfig ${name} has disableUpstreamTokenInjection, and externalAuthConfigRef needs the token of the upstream provider`,
    );
  }
  return serverFindings(server, caller);
}

/** Returns whether the proxy has its own authorization server. */
export function hasOwnIssuer(
  { externalAuthConfigRef, authServerRef }: Pick<ProxySpec, 'externalAuthConfigRef' | 'authServerRef'>,
  view: View,
): boolean {
  return [externalAuthConfigRef, authServerRef].some((ref) => {
    return externalAuthConfig(ref, view)?.embeddedAuthServer !== undefined;
  });
}

function acceptedTokens(source: TokenSource, view: View): Pick<Caller, 'issuer' | 'scopes' | 'audiences'> {
  const resolved = resolveOIDC(source, view, ANY_OWNER);
  if (resolved === undefined) return { issuer: 'nobody', scopes: undefined, audiences: [] };
  if ('findings' in resolved) return { issuer: 'unknown', scopes: undefined, audiences: [] };
  return { ...resolved.settings, audiences: acceptedAudiences(resolved.settings) };
}

function serverFindings(
  server: NonNullable<ExternalAuthConfig['embeddedAuthServer']>,
  { name, issuer, scopes, audiences, field, stdio, replicas, pointer }: Caller,
): readonly Finding[] {
  const whose = `the authorization server of MCPExternalAuthConfig ${name}`;
  const count = server.upstreamProviders.length;
  const several = `${whose} has ${count} upstream providers: only a VirtualMCPServer can use several`;
  return [
    ...(count > 1 ? [authFinding('auth-server-upstreams', several, pointer)] : []),
    ...issuerFindings(server.issuer, whose, { issuer, field, pointer }),
    ...(scopes === undefined ? [] : baselineScopeFindings(server, scopes, pointer)),
    ...(scopes === undefined
      ? []
      : trustHostFindings(
          server,
          { scopes, audiences, needsLogin: !stdio && server.disableUpstreamTokenInjection !== true },
          pointer,
        )),
    ...(replicas === 1 ? [] : replicaFindings(server, whose, pointer)),
  ];
}

/** Warns if replicas of the authorization server do not share its keys or its logins. */
function replicaFindings(
  { signingKeySecretRefs = [], hmacSecretRefs = [], storage }: NonNullable<ExternalAuthConfig['embeddedAuthServer']>,
  whose: string,
  pointer: string,
): readonly Finding[] {
  const alone = [
    ...(signingKeySecretRefs.length === 0 ? ['signs with a key of each process'] : []),
    ...(hmacSecretRefs.length === 0 ? ['protects codes with a secret of each process'] : []),
    ...(storage.type === 'memory' ? ['keeps logins in the memory of each process'] : []),
  ];
  if (alone.length === 0) return [];
  const message = `${whose} ${alone.join(', ')}: with several replicas logins fail, and a restart ends them`;
  return [{ code: 'auth-server-in-one-replica', severity: 'warning', pointer, message }];
}

/** Checks that the proxy accepts tokens of its own authorization server. */
function issuerFindings(
  own: string,
  whose: string,
  { issuer: accepted, field, pointer }: Pick<Caller, 'issuer' | 'field' | 'pointer'>,
): readonly Finding[] {
  if (accepted === 'unknown' || accepted === own) return [];
  const message =
    accepted === 'nobody'
      ? `${whose} issues tokens that the proxy does not require: set oidcConfig to accept the tokens of ${own}`
      : `${whose} issues tokens of ${own}, but ${field} accepts the tokens of ${accepted}`;
  return [authFinding('auth-server-issuer', message, pointer)];
}

function idleFindings({ type }: ExternalAuthConfig, { name, issuer, stdio, pointer }: Caller): readonly Finding[] {
  const whose = `${type} of MCPExternalAuthConfig ${name}`;
  if (type === 'unauthenticated') return [];
  if (stdio) return [idle(`${whose} has no effect: a server on standard streams receives no headers`, pointer)];
  const needsCaller = type === 'tokenExchange' || type === 'cloudSts' || type === 'xaa';
  return needsCaller && issuer === 'nobody'
    ? [
        idle(
          `${whose} needs the token of a caller, and without oidcConfig callers are unknown: every request is refused`,
          pointer,
        ),
      ]
    : [];
}

function authFinding(code: string, message: string, pointer: string): Finding {
  return { code, severity: 'error', pointer, message };
}

function idle(message: string, pointer: string): Finding {
  return { code: 'external-auth-idle', severity: 'warning', pointer, message };
}
