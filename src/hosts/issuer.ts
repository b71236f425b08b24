// Opens the authorization server that is embedded in a proxy or a virtual server (the host).

import type { JSONWebKeySet } from 'jose';
import type { Logger } from 'pino';
import type { Outbound } from '#adapters/http/outbound.ts';
import type { Identity } from '#auth/identity.ts';
import { SESSION_CLAIM } from '#auth/identity.ts';
import type { Rejection } from '#auth/rejection.ts';
import type { AuthServerConfig } from '#contracts/auth-server/config.ts';
import type { UpstreamClaims } from '#gateway/backends/backend.ts';
import type { CredentialCaller } from '#gateway/credentials/credential.ts';
import { configInvalid } from '#gateway/issuer/config-fault.ts';
import { type AuthorizationServer, type CountAnswer, createAuthorizationServer } from '#gateway/issuer/issuer.ts';
import { mountIssuer, type ServeIssuer } from '#gateway/issuer/mount.ts';
import type { IssuerPorts, IssuerStore } from '#gateway/issuer/ports.ts';
import { issuerSettings } from '#gateway/issuer/settings.ts';
import { createUpstreamClaims, type ReadUpstreamClaims } from '#gateway/issuer/upstream-claims.ts';
import type { Environment } from '#std/environment.ts';
import { Failure } from '#std/failure.ts';
import type { Metrics } from '#std/telemetry/metrics.ts';
import { openIssuerRecords } from './issuer-store.ts';
import { proxyClock } from './proxy/clock.ts';
import type { WatchedFiles } from './watched-files.ts';

export interface IssuerOptions {
  readonly config: AuthServerConfig;
  /** Audience that the host requires in tokens. */
  readonly hostAudience: string;
  /**
   * Issuer whose tokens the host accepts. It must be this server, because clients would otherwise log in without
   * effect.
   */
  readonly hostIssuer: string | undefined;
  readonly trustForwarded: boolean;
  readonly environment: Environment;
  readonly files: WatchedFiles;
  readonly outbound: Outbound;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /**
   * Returns whether the server behind the host receives tokens of upstream providers. If false, a login without such a
   * token is valid.
   */
  readonly injects: () => boolean;
}

export interface OpenIssuer {
  readonly issuer: string;
  readonly serve: ServeIssuer;
  readonly publishedKeys: () => JSONWebKeySet;
  /** Returns the reason why the login of a token has ended; undefined if the login is valid. */
  readonly checkSession: (identity: Identity) => Promise<Rejection | undefined>;
  /** Returns the upstream token of the caller's login, from `provider` or from the first provider. */
  readonly upstreamToken: (caller: CredentialCaller, provider?: string) => Promise<string | undefined>;
  /** Returns the upstream id_token of the caller's login, from `provider` or from the first provider. */
  readonly upstreamIdToken: (caller: CredentialCaller, provider?: string) => Promise<string | undefined>;
  /** Returns the claims of the caller's upstream token, or the reason why they are not available. */
  readonly upstreamClaims: (identity: Identity, provider: string) => Promise<UpstreamClaims | Rejection>;
  close(): void;
}

/** Throws a Failure if the configuration, a key or a secret cannot be used. */
export async function openIssuer(options: IssuerOptions): Promise<OpenIssuer> {
  const { config, hostAudience, hostIssuer, logger, injects } = options;
  checkHostIssuer(config, hostIssuer);
  const settings = issuerSettings(config, hostAudience);
  const { store, close } = await openIssuerRecords(options);
  const ports = issuerPorts(options, store);
  const [{ name: first }] = settings.upstreams;
  const server = createAuthorizationServer(ports, settings, countIssuerAnswers(options.metrics));
  const upstreamToken: OpenIssuer['upstreamToken'] = async ({ claims }, provider = first) => {
    const { [SESSION_CLAIM]: session } = claims;
    return typeof session === 'string' ? server.upstreamToken(session, provider) : undefined;
  };
  logger.info(
    { issuer: settings.issuer, providers: settings.upstreams.map(({ name }) => name) },
    'authorization server serves',
  );
  return {
    issuer: settings.issuer,
    serve: mountIssuer(server, options.trustForwarded),
    publishedKeys: server.publishedKeys,
    checkSession: async (identity) => (injects() ? checkSession(server, first, identity) : undefined),
    upstreamToken,
    upstreamIdToken: async ({ claims }, provider = first) => {
      const { [SESSION_CLAIM]: session } = claims;
      return typeof session === 'string' ? server.upstreamIdToken(session, provider) : undefined;
    },
    upstreamClaims: findUpstreamClaims(server, createUpstreamClaims(ports)),
    close,
  };
}

/** Throws Failure `issuer-config-invalid` if the host does not accept the tokens of its own server. */
export function checkHostIssuer({ issuer }: AuthServerConfig, hostIssuer: string | undefined): void {
  if (hostIssuer === issuer) return;
  const message = `is ${issuer}, and the host accepts tokens of ${hostIssuer ?? 'nobody'}: the two must be equal`;
  throw configInvalid('/issuer', message);
}

async function checkSession(
  { upstreamToken }: AuthorizationServer,
  provider: string,
  { claims }: Identity,
): Promise<Rejection | undefined> {
  const { [SESSION_CLAIM]: session } = claims;
  try {
    const token = typeof session === 'string' ? await upstreamToken(session, provider) : undefined;
    return token === undefined ? { reason: 'session-ended' } : undefined;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return { reason: 'token-unjudged', attempts: [] };
  }
}

/** Returns a function that rejects a login without an upstream token, so that the client logs in again. */
function findUpstreamClaims(
  { upstreamToken }: AuthorizationServer,
  readClaims: ReadUpstreamClaims,
): OpenIssuer['upstreamClaims'] {
  return async function upstreamClaims({ claims }, provider) {
    const { [SESSION_CLAIM]: session } = claims;
    try {
      const token = typeof session === 'string' ? await upstreamToken(session, provider) : undefined;
      return token === undefined ? { reason: 'session-ended' } : { provider, claims: readClaims(provider, token) };
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      return { reason: 'token-unjudged', attempts: [] };
    }
  };
}

function issuerPorts({ environment, files, outbound, logger }: IssuerOptions, store: IssuerStore): IssuerPorts {
  return {
    fetch: outbound.request,
    store,
    clock: proxyClock,
    random: proxyClock.random,
    files,
    environment,
    notify: ({ level, code, message, data }) => logger[level]({ code, ...data }, message),
  };
}

export function countIssuerAnswers(metrics: Metrics): CountAnswer {
  const answers = metrics.counter(
    'skep_issuer_requests_total',
    'Requests to the authorization server, by endpoint and status.',
    ['endpoint', 'status_code'],
  );
  return (endpoint, status) => answers.add([endpoint, String(status)]);
}
