// Finds the caller of a request by its token. A refused caller gets the challenge of RFC 9728 section 5.1.

import type { IncomingMessage } from 'node:http';
import { authorizationHeaders, readBearer } from '#auth/bearer.ts';
import { challenge } from '#auth/challenge.ts';
import type { Identity } from '#auth/identity.ts';
import type { Authenticate, Authentication } from '#auth/providers.ts';
import { publicRejection, type Rejection } from '#auth/rejection.ts';
import type { ResourceSettings } from '#auth/settings.ts';
import type { UpstreamClaims } from '../backends/backend.ts';
import { ANONYMOUS, type Caller, callerOf } from './caller.ts';
import type { Refusal } from './faults.ts';

export interface Callers {
  readonly authenticate: Authenticate;
  readonly resource: ResourceSettings;
  /** Checks whether the login of a verified token is still valid. If absent, the token alone decides. */
  readonly checkSession?: (identity: Identity) => Promise<Rejection | undefined>;
  /**
   * Finds the token of an upstream provider for policies. Returns undefined if policies read the caller's own token.
   */
  readonly findUpstream?: (identity: Identity) => Promise<UpstreamClaims | Rejection | undefined>;
  /** Logs the reason why a token was refused. */
  readonly refused: (rejection: Rejection) => void;
}

/**
 * Callers by identity. An identity with an unchanged token gets the same Caller, because caches use the claims object
 * of the Caller as their key.
 */
const KNOWN = new WeakMap<object, Caller>();

/**
 * The Authorization header last verified on a connection. Most requests of a connection repeat this header, so the
 * proxy need not verify it again.
 */
interface Shown {
  readonly authorization: string;
  readonly caller: Caller;
  readonly callers: Callers;
  readonly holds: () => boolean;
}

const SHOWN = new WeakMap<object, Shown>();

/** Seconds after which clients may retry if a provider is unavailable. */
const RETRY_AFTER = '5';

export type FoundCaller = Caller | { readonly refusal: Refusal };

/**
 * Finds the caller. Returns a promise only if a check is asynchronous. Reads `rawHeaders` because `headers` of
 * node:http hides a second Authorization header.
 */
export function findCaller(
  callers: Callers | undefined,
  { rawHeaders, socket }: Pick<IncomingMessage, 'rawHeaders' | 'socket'>,
): FoundCaller | Promise<FoundCaller> {
  if (callers === undefined) return ANONYMOUS;
  const authorization = authorizationHeaders(rawHeaders);
  const shown = authorization.length === 1 ? SHOWN.get(socket) : undefined;
  const same = shown?.callers === callers && shown.authorization === authorization[0];
  if (same && shown.holds()) return shown.caller;
  const authentication = callers.authenticate(authorization);
  if (!(authentication instanceof Promise) && decidesAlone(callers)) {
    return callerBy(callers, authentication, authorization, socket);
  }
  return checkedCaller(callers, authentication, authorization, socket);
}

async function checkedCaller(
  callers: Callers,
  pending: Authentication | Promise<Authentication>,
  authorization: readonly string[],
  socket: object,
): Promise<FoundCaller> {
  const authentication = await pending;
  const rejection = authentication.ok ? await callers.checkSession?.(authentication.identity) : undefined;
  if (rejection !== undefined) return { refusal: refuseCaller(callers, rejection) };
  const caller = callerBy(callers, authentication, authorization, socket);
  const upstream = authentication.ok ? await callers.findUpstream?.(authentication.identity) : undefined;
  if (upstream === undefined || 'refusal' in caller) return caller;
  return 'reason' in upstream ? { refusal: refuseCaller(callers, upstream) } : { ...caller, upstream };
}

function decidesAlone({ checkSession, findUpstream }: Callers): boolean {
  return checkSession === undefined && findUpstream === undefined;
}

function callerBy(
  callers: Callers,
  authentication: Authentication,
  authorization: readonly string[],
  socket: object,
): FoundCaller {
  if (!authentication.ok) return { refusal: refuseCaller(callers, authentication.rejection) };
  const { identity, holds } = authentication;
  const caller = callerOfIdentity(identity, authorization);
  // If logins are checked, each request checks its login again: a login may end at any time.
  if (holds !== undefined && decidesAlone(callers) && authorization[0] !== undefined) {
    SHOWN.set(socket, { authorization: authorization[0], caller, callers, holds });
  }
  return caller;
}

function callerOfIdentity(identity: Identity, authorization: readonly string[]): Caller {
  const known = KNOWN.get(identity);
  if (known?.token !== undefined && authorization[0]?.endsWith(` ${known.token}`) === true) return known;
  const bearer = readBearer(authorization);
  const caller = callerOf(identity, bearer.ok ? bearer.token : '');
  KNOWN.set(identity, caller);
  return caller;
}

function refuseCaller(callers: Callers, rejection: Rejection): Refusal {
  callers.refused(rejection);
  return rejectionRefusal(callers, rejection);
}

function rejectionRefusal({ resource }: Callers, rejection: Rejection): Refusal {
  const { status, error, message, scope } = publicRejection(rejection);
  const reason = rejection.reason;
  if (status === 503) return { status, code: status, message, reason, headers: { 'retry-after': RETRY_AFTER } };
  // Clients request the scopes in the challenge rather than all scopes in the metadata (MCP 2025-11-25, Authorization).
  const scopes = scope ?? (resource.scopesSupported.join(' ') || undefined);
  const header = challenge(resource, { error, message, scope: scopes });
  const headers = { 'www-authenticate': header, 'cache-control': 'no-store' };
  return { status, code: status, message, reason, headers };
}
