// Who sends a request: its token is checked, or callers are not authenticated at all. A refused one gets the challenge of
// RFC 9728 section 5.1.

import type { IncomingMessage } from 'node:http';
import { authorizationHeaders, readBearer } from '#auth/bearer.ts';
import { challenge } from '#auth/challenge.ts';
import type { Identity } from '#auth/identity.ts';
import type { Authenticate, Verdict } from '#auth/providers.ts';
import { publicRejection, type Rejection } from '#auth/rejection.ts';
import type { ResourceSettings } from '#auth/settings.ts';
import type { UpstreamClaims } from '../backends/backend.ts';
import { ANONYMOUS, type Caller, callerOf } from './caller.ts';
import type { Refusal } from './faults.ts';

export interface Callers {
  readonly authenticate: Authenticate;
  readonly resource: ResourceSettings;
  /** Whether the login that a verified token comes from still stands; absent: tokens alone decide. */
  readonly checkSession?: (identity: Identity) => Promise<Rejection | undefined>;
  /** The token of an upstream provider that policies read; undefined if they read the caller's own. */
  readonly findUpstream?: (identity: Identity) => Promise<UpstreamClaims | Rejection | undefined>;
  /** Why a token was refused, for the log. */
  readonly refused: (rejection: Rejection) => void;
}

/** The callers of identities that are seen again: what is remembered by its claims stays remembered. */
const KNOWN = new WeakMap<object, Caller>();

/** What a connection has shown last: mostly it shows the same again, which then need not be read and digested anew. */
interface Shown {
  readonly authorization: string;
  readonly caller: Caller;
  readonly callers: Callers;
  readonly holds: () => boolean;
}

const SHOWN = new WeakMap<object, Shown>();

/** Until a provider that cannot be asked may be asked again, in seconds. */
const RETRY_AFTER = '5';

export type FoundCaller = Caller | { readonly refusal: Refusal };

/**
 * A value where nothing has to be waited for. `rawHeaders`: as node:http has them, since it hides a second Authorization header
 * otherwise.
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
  const verdict = callers.authenticate(authorization);
  if (!(verdict instanceof Promise) && decidesAlone(callers)) {
    return callerBy(callers, verdict, authorization, socket);
  }
  return checkedCaller(callers, verdict, authorization, socket);
}

async function checkedCaller(
  callers: Callers,
  judged: Verdict | Promise<Verdict>,
  authorization: readonly string[],
  socket: object,
): Promise<FoundCaller> {
  const verdict = await judged;
  const rejection = verdict.ok ? await callers.checkSession?.(verdict.identity) : undefined;
  if (rejection !== undefined) return { refusal: refuseCaller(callers, rejection) };
  const caller = callerBy(callers, verdict, authorization, socket);
  const upstream = verdict.ok ? await callers.findUpstream?.(verdict.identity) : undefined;
  if (upstream === undefined || 'refusal' in caller) return caller;
  return 'reason' in upstream ? { refusal: refuseCaller(callers, upstream) } : { ...caller, upstream };
}

/** Whether the token alone says who calls. */
function decidesAlone({ checkSession, findUpstream }: Callers): boolean {
  return checkSession === undefined && findUpstream === undefined;
}

function callerBy(callers: Callers, verdict: Verdict, authorization: readonly string[], socket: object): FoundCaller {
  if (!verdict.ok) return { refusal: refuseCaller(callers, verdict.rejection) };
  const { identity, holds } = verdict;
  const caller = callerOfIdentity(identity, authorization);
  // Whether a login still stands has to be asked each time.
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
  // MCP 2025-11-25, Authorization: clients ask for the scopes of the challenge rather than for all that the metadata lists.
  const scopes = scope ?? (resource.scopesSupported.join(' ') || undefined);
  const header = challenge(resource, { error, message, scope: scopes });
  const headers = { 'www-authenticate': header, 'cache-control': 'no-store' };
  return { status, code: status, message, reason, headers };
}
