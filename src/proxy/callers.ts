// Who sends a request: its token is checked, or callers are not authenticated at all. A refused one gets the challenge of
// RFC 9728 section 5.1. Knows nothing about what the request is for.

import { authorizationHeaders, readBearer } from '../auth/bearer.ts';
import { challenge } from '../auth/challenge.ts';
import type { Identity } from '../auth/identity.ts';
import type { Authenticate } from '../auth/providers.ts';
import { publicRejection, type Rejection } from '../auth/rejection.ts';
import type { ResourceSettings } from '../auth/settings.ts';
import { ANONYMOUS, type Caller, callerOf } from './caller.ts';
import type { Refusal } from './faults.ts';

export interface Callers {
  readonly authenticate: Authenticate;
  readonly resource: ResourceSettings;
  /** Whether the login that a verified token comes from still stands; absent: tokens alone decide. */
  readonly checkSession?: (identity: Identity) => Promise<Rejection | undefined>;
  /** Why a token was refused, for the log. */
  readonly refused: (rejection: Rejection) => void;
}

/** The callers of identities that are seen again: what is remembered by its claims stays remembered. */
const KNOWN = new WeakMap<object, Caller>();

/** Until a provider that cannot be asked may be asked again, in seconds. */
const RETRY_AFTER = '5';

/** `rawHeaders`: as node:http has them, since it hides a second Authorization header otherwise. */
export async function findCaller(
  callers: Callers | undefined,
  rawHeaders: readonly string[],
): Promise<Caller | { readonly refusal: Refusal }> {
  if (callers === undefined) return ANONYMOUS;
  const authorization = authorizationHeaders(rawHeaders);
  const verdict = await callers.authenticate(authorization);
  const rejection = verdict.ok ? await callers.checkSession?.(verdict.identity) : verdict.rejection;
  if (rejection !== undefined || !verdict.ok) return { refusal: refuseCaller(callers, rejection) };
  const known = KNOWN.get(verdict.identity);
  if (known?.token !== undefined && authorization[0]?.endsWith(` ${known.token}`) === true) return known;
  const bearer = readBearer(authorization);
  const token = bearer.ok ? bearer.token : '';
  const caller = callerOf(verdict.identity, token);
  KNOWN.set(verdict.identity, caller);
  return caller;
}

function refuseCaller(callers: Callers, rejection: Rejection = { reason: 'credentials-missing' }): Refusal {
  callers.refused(rejection);
  return rejectionRefusal(callers, rejection);
}

function rejectionRefusal({ resource }: Callers, rejection: Rejection): Refusal {
  const { status, error, message, scope } = publicRejection(rejection);
  const reason = rejection.reason;
  if (status === 503) return { status, code: status, message, reason, headers: { 'retry-after': RETRY_AFTER } };
  const headers = { 'www-authenticate': challenge(resource, { error, message, scope }), 'cache-control': 'no-store' };
  return { status, code: status, message, reason, headers };
}
