// Decides when a registry source is due for a sync.

import type { SourceState } from '#contracts/catalogue-state.ts';
import type { RegistrySource } from '#contracts/registry/source.ts';
import { digest } from '#std/hash.ts';

export type DueDecision =
  | {
      readonly due: true;
      readonly reason: 'never-synced' | 'triggered' | 'declaration-changed' | 'retry' | 'interval';
    }
  | {
      readonly due: false;
      /**
       * `once`: the source has no interval. It becomes due again only after a change of its declaration or a manual
       * trigger.
       */
      readonly reason: 'once' | 'interval' | 'backoff';
      /** Time at which the source becomes due, in milliseconds since 1970. Absent for `once`. */
      readonly dueAtMs?: number;
    };

/** A release that reads other entries from the same content increases the number, so that sources are read again. */
const READER_VERSION = 2;
const BACKOFF_FIRST_MS = 10_000;
const BACKOFF_LAST_MS = 15 * 60_000;
/**
 * Clocks of replicas differ by less than this. A last attempt further in the future means that a clock was set back.
 */
const CLOCKS_DIFFER_MS = 60_000;

export function due(
  source: RegistrySource<unknown>,
  state: SourceState | undefined,
  trigger: string | undefined,
  nowMs: number,
): DueDecision {
  const lastMs = Date.parse(state?.lastAttempt ?? '');
  if (state === undefined || Number.isNaN(lastMs)) return { due: true, reason: 'never-synced' };
  if (isTriggered(state, trigger)) return { due: true, reason: 'triggered' };
  if (state.declarationHash !== declarationHash(source)) return { due: true, reason: 'declaration-changed' };
  // After a clock was set back, the next sync must not wait for the time of the last attempt.
  const elapsedMs = nowMs < lastMs - CLOCKS_DIFFER_MS ? Number.POSITIVE_INFINITY : nowMs - lastMs;
  if (state.phase !== 'Complete') {
    const waitMs = backoffMs(state.attemptCount);
    return elapsedMs >= waitMs
      ? { due: true, reason: 'retry' }
      : { due: false, reason: 'backoff', dueAtMs: lastMs + waitMs };
  }
  const { intervalMs } = source;
  if (intervalMs === undefined) return { due: false, reason: 'once' };
  if (elapsedMs >= intervalMs) return { due: true, reason: 'interval' };
  return { due: false, reason: 'interval', dueAtMs: lastMs + intervalMs };
}

/** Returns whether a user requested a sync, by the annotation or through the service's API. */
export function isTriggered(state: SourceState, trigger: string | undefined): boolean {
  const requested = trigger ?? state.requestedTrigger;
  if (requested !== undefined && requested !== state.trigger) return true;
  return (state.requests ?? 0) > (state.requestsServed ?? 0);
}

/** Returns 10 s after the first failed attempt. Doubles with each attempt, up to 15 minutes. */
function backoffMs(attempts: number): number {
  return Math.min(BACKOFF_FIRST_MS * 2 ** Math.max(0, attempts - 1), BACKOFF_LAST_MS);
}

/** Returns a hash of the fields that decide which entries a source has. The interval is not such a field. */
export function declarationHash({ origin, format, filter }: RegistrySource<unknown>): string {
  return digest({ reader: READER_VERSION, origin, format, filter });
}
