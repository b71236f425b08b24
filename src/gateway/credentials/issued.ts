// Stores issued credentials until shortly before they expire. Sends one request for all callers that wait for the same
// credential, and pauses requests to an endpoint that is down.

import { afterFailure, NO_BACKOFF } from '#auth/backoff.ts';
import { setBounded } from '#std/bounded.ts';
import { sha256 } from '#std/hash.ts';
import type { CredentialCaller, CredentialRefusal } from './credential.ts';
import type { CredentialPorts } from './ports.ts';

/** Time before the expiry in which an issued value is no longer used, because requests take time and clocks differ. */
const SKEW_MS = 30_000;
/** Maximum number of stored values. New values replace the oldest values. */
const KEPT_MAX = 10_000;
/** Maximum pause, even if an endpoint asks for a longer pause. */
const PAUSE_MAX_MS = 60_000;

export type Issued<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly refusal: CredentialRefusal };

/** Result of one request to the endpoint. */
export type Issue<T> =
  /** `expiresAtMs` is in milliseconds since 1970. If absent, the value is not stored. */
  | { readonly type: 'issued'; readonly value: T; readonly expiresAtMs?: number }
  /** The refusal concerns the caller or the configuration. The store does not keep refusals. */
  | { readonly type: 'refused'; readonly refusal: CredentialRefusal }
  /** The endpoint is down for all callers. `pauseMs` is the pause that the endpoint asks for. */
  | { readonly type: 'unavailable'; readonly detail: string; readonly pauseMs?: number }
  /**
   * The endpoint failed at this request. Requests of other callers continue, because one caller could cause such
   * failures deliberately.
   */
  | { readonly type: 'failed'; readonly detail: string };

interface IssuedStore<T> {
  /**
   * Returns the stored value of the key, otherwise the result of `ask`. Returns a plain value if no waiting is needed.
   */
  get(key: string, caller: CredentialCaller, ask: () => Promise<Issue<T>>): Issued<T> | Promise<Issued<T>>;
}

interface CachedCredential<T> {
  readonly issued: Issued<T>;
  /** Monotonic milliseconds. */
  readonly until: number;
}

/**
 * Returns a key that differs if the caller, the token or `particulars` differ. `particulars` must not contain a line
 * break.
 */
export function callerKey(caller: CredentialCaller, token: string, particulars = ''): string {
  return `${sha256(token)} ${particulars}\n${caller.key}`;
}

/** Creates the store. `unavailable` is the refusal while the endpoint is down. */
export function createIssuedStore<T>(
  clock: CredentialPorts['clock'],
  unavailable: Pick<CredentialRefusal, 'code' | 'message'>,
): IssuedStore<T> {
  const kept = new Map<string, CachedCredential<T>>();
  const pending = new Map<string, Promise<Issued<T>>>();
  let backoff = NO_BACKOFF;
  let lastDetail = '';

  function recall(key: string): Issued<T> | undefined {
    const known = kept.get(key);
    if (known === undefined) return undefined;
    if (clock.monotonic() < known.until) return known.issued;
    kept.delete(key);
    return undefined;
  }

  function pausedFor(): number {
    return backoff.retryAt - clock.monotonic();
  }

  function refuseForNow(detail: string): Issued<T> {
    const retryAfterSeconds = Math.max(1, Math.ceil(pausedFor() / 1000));
    return { ok: false, refusal: { status: 503, ...unavailable, detail, retryAfterSeconds } };
  }

  function recordOutage(detail: string, pauseMs = 0): Issued<T> {
    // If many concurrent requests fail, only the first failure lengthens the pause.
    if (pausedFor() <= 0) backoff = afterFailure(backoff, clock.monotonic());
    const asked = clock.monotonic() + Math.min(pauseMs, PAUSE_MAX_MS);
    backoff = { ...backoff, retryAt: Math.max(backoff.retryAt, asked) };
    lastDetail = detail;
    return refuseForNow(detail);
  }

  function keepIssued(key: string, caller: CredentialCaller, issued: Issued<T>, expiresAtMs: number): void {
    const endsAtMs = Math.min(expiresAtMs - SKEW_MS, (caller.expiry ?? Number.POSITIVE_INFINITY) * 1000);
    const lifeMs = endsAtMs - clock.now();
    if (lifeMs > 0) setBounded(kept, key, { issued, until: clock.monotonic() + lifeMs }, KEPT_MAX);
  }

  async function obtain(key: string, caller: CredentialCaller, ask: () => Promise<Issue<T>>): Promise<Issued<T>> {
    const issue = await ask();
    if (issue.type === 'unavailable') return recordOutage(issue.detail, issue.pauseMs);
    if (issue.type === 'failed') return refuseForNow(issue.detail);
    backoff = NO_BACKOFF;
    if (issue.type === 'refused') return { ok: false, refusal: issue.refusal };
    const issued = { ok: true, value: issue.value } as const;
    if (issue.expiresAtMs !== undefined) keepIssued(key, caller, issued, issue.expiresAtMs);
    return issued;
  }

  return {
    get(key, caller, ask) {
      const known = recall(key) ?? pending.get(key);
      if (known !== undefined) return known;
      if (pausedFor() > 0) return refuseForNow(`no new request yet, after: ${lastDetail}`);
      const asking = obtain(key, caller, ask).finally(() => pending.delete(key));
      pending.set(key, asking);
      return asking;
    },
  };
}
