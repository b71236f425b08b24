// Builds the caller of a request from a verified token, or the anonymous caller.

import type { Identity } from '#auth/identity.ts';
import type { JsonObject } from '#std/json.ts';
import type { UpstreamClaims } from '../backends/backend.ts';
import { callerOwner } from '../backends/caller-key.ts';

export interface Caller {
  /** Issuer, subject and client as one text, equal for all tokens of the same caller. */
  readonly key: string;
  /** `sub` of the token; `anonymous` if callers are not authenticated. */
  readonly subject: string;
  readonly claims: JsonObject;
  /** The caller's token. Absent if callers are not authenticated. */
  readonly token?: string;
  /** `exp` of the token, seconds since 1970. */
  readonly expiry?: number;
  /** Claims for policies. Absent if policies read the caller's own token. */
  readonly upstream?: UpstreamClaims;
}

export const ANONYMOUS: Caller = { key: '', subject: 'anonymous', claims: {} };

/**
 * Returns the caller of a token. If the token has no `sub`, the subject is the client (RFC 9068 section 2.2, client
 * credentials).
 */
export function callerOf({ claims }: Identity, token: string): Caller {
  const client = claimText(claims.azp) ?? claimText(claims.client_id) ?? '';
  const subject = claimText(claims.sub) ?? client;
  const expiry = typeof claims.exp === 'number' ? claims.exp : undefined;
  return { key: JSON.stringify([claimText(claims.iss) ?? '', subject, client]), subject, claims, token, expiry };
}

/** Returns issuer and subject from a caller's `key`. All clients of a user share this text. */
export function userOfCaller(key: string): string {
  const owner = callerOwner(key);
  if (owner === ANONYMOUS.key) return '';
  const [issuer, subject]: unknown[] = JSON.parse(owner);
  return JSON.stringify([issuer, subject]);
}

function claimText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
