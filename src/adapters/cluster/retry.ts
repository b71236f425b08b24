// Decides whether and when a failed request is repeated.

import type { Failure } from '#std/failure.ts';
import { fnv1a32 } from '#std/hash.ts';
import { isObject } from '#std/json.ts';
import { connectionProblem } from '../http/failures.ts';
import { type ClusterResponse, readStatus } from './refusals.ts';

export interface RequestAttempt {
  /**
   * True if the request has the same effect when it is sent twice. It may then be repeated even if the server may have
   * executed it.
   */
  readonly repeatable: boolean;
  /** Number of the attempt, starting at 0. */
  readonly number: number;
  /** Seed that varies the waits of requests that failed at the same time. */
  readonly seed: string;
}

const MAX_ATTEMPTS = 6;
const FIRST_WAIT_MS = 200;
/** If the server demands a longer wait, the request fails, so that the next run tries again. */
const LONGEST_WAIT_MS = 10_000;

/** Returns the milliseconds before the next attempt. undefined if the request must not be repeated. */
export function waitAfterAnswer(attempt: RequestAttempt, answer: ClusterResponse): number | undefined {
  if (attempt.number + 1 >= MAX_ATTEMPTS || !isPassing(attempt, answer)) return undefined;
  const reported = requestedWait(answer);
  if (reported === undefined) return backoff(attempt);
  return reported > LONGEST_WAIT_MS ? undefined : Math.max(reported, backoff(attempt));
}

/**
 * Returns the milliseconds before the next attempt after a request without a response. `failure` is from `unanswered`.
 */
export function waitAfterSilence(attempt: RequestAttempt, failure: Failure): number | undefined {
  if (attempt.number + 1 >= MAX_ATTEMPTS || !failure.retryable) return undefined;
  const unsent = connectionProblem(failure.cause).unsent === true;
  return attempt.repeatable || unsent ? backoff(attempt) : undefined;
}

/** True if a repeated request may succeed soon. A server that responds with 429 has not executed the request. */
function isPassing({ repeatable }: RequestAttempt, answer: ClusterResponse): boolean {
  if (answer.status === 429) return true;
  if (!repeatable) return false;
  if ([502, 503, 504].includes(answer.status)) return true;
  return answer.status === 500 && isStorageHiccup(answer);
}

/** Messages of temporary etcd failures, which the API server returns as internal errors without a reason. */
const STORAGE_HICCUPS = ['etcdserver: leader changed', 'etcdserver: request timed out', 'etcdserver: no leader'];

function isStorageHiccup({ text }: ClusterResponse): boolean {
  const { message, reason } = readStatus(text);
  return reason === 'ServerTimeout' || STORAGE_HICCUPS.some((hiccup) => String(message).includes(hiccup));
}

/**
 * Returns the wait in milliseconds that the server demands: from `Retry-After` in seconds or as a date (RFC 9110
 * section 10.2.3, relative to the response's `Date`), or from the Status.
 */
function requestedWait({ headers, text }: ClusterResponse): number | undefined {
  const header = headers['retry-after'];
  const { details } = readStatus(text);
  const reported = header ?? (isObject(details) ? details.retryAfterSeconds : undefined);
  const seconds = Number(reported ?? Number.NaN);
  if (Number.isFinite(seconds)) return seconds * 1000;
  const until = Date.parse(String(reported)) - Date.parse(String(headers.date));
  return Number.isFinite(until) ? until : undefined;
}

/** Returns a wait that doubles with each attempt and varies by a quarter. */
function backoff({ number, seed }: RequestAttempt): number {
  const spread = Number.parseInt(fnv1a32(`${seed} ${number}`), 16) / 2 ** 32;
  return FIRST_WAIT_MS * 2 ** number * (0.75 + spread / 2);
}
