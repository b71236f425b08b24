// Computes the new state of a source after an attempt to sync it.

import type { SourceState } from '#contracts/catalogue-state.ts';
import type { Origin, RegistrySource } from '#contracts/registry/source.ts';
import { digest } from '#std/hash.ts';
import { countText } from '#std/words/count-text.ts';
import { declarationHash } from './due.ts';
import type { CatalogueEntry } from './entry.ts';
import type { Content, WriteCounts } from './ports.ts';

export interface SyncAttempt<O = Origin> {
  readonly source: RegistrySource<O>;
  /** State in the store. undefined if the source was never synced. */
  readonly state: SourceState | undefined;
  /** Value of the `sync-trigger` annotation, if present. */
  readonly trigger: string | undefined;
  /** Milliseconds since 1970. */
  readonly now: number;
}

export interface Result {
  readonly entries: readonly CatalogueEntry[];
  readonly written: WriteCounts;
  readonly hash: string;
  readonly rejected: number;
  /** Reason why the filter accepts no entry of the source. Absent if it accepts entries. */
  readonly note?: string | undefined;
}

export function syncedState<O>(attempt: SyncAttempt<O>, content: Content, result: Result): SourceState {
  const { entries, written, hash, rejected: rejectedCount, note } = result;
  const { created, updated, unchanged, held } = written;
  const gone = entries.filter(({ status }) => status === 'deleted').length;
  const serverCount = created + updated + unchanged + held - gone;
  return {
    ...attempted(attempt),
    ...resumeOf(attempt, content),
    phase: 'Complete',
    message:
      note === undefined ? summary(serverCount, rejectedCount) : `${summary(serverCount, rejectedCount)}: ${note}`,
    attemptCount: 0,
    emptySince: undefined,
    lastSyncTime: timeOf(attempt.now),
    lastSyncHash: hash,
    filterHash: digest(attempt.source.filter),
    serverCount,
    rejectedCount,
  };
}

/** Returns the state after an attempt that found no news. `content`: undefined if the source was not read. */
export function keptState<O>(attempt: SyncAttempt<O>, content: Content | undefined): SourceState {
  const { serverCount = 0, rejectedCount = 0, phase, message, emptySince } = attempt.state ?? {};
  // Keeps the message of a complete sync, which may explain why no entry is served.
  const isSame = phase === 'Complete' && emptySince === undefined && message !== undefined && message !== '';
  return {
    ...attempted(attempt),
    ...(content === undefined ? {} : resumeOf(attempt, content)),
    phase: 'Complete',
    message: isSame ? message : summary(serverCount, rejectedCount),
    attemptCount: 0,
    emptySince: undefined,
  };
}

/** Returns the state after a failed attempt. Hash, counts and entries stay. The attempt count grows. */
export function failedState<O>(attempt: SyncAttempt<O>, message: string): SourceState {
  const before = attempted(attempt);
  return { ...before, phase: 'Failed', message, attemptCount: before.attemptCount + 1 };
}

/**
 * Returns the state of a source that has no entries now, while its last servers are still served. `note` is set if the
 * filter accepts no entry.
 */
export function emptyState<O>(attempt: SyncAttempt<O>, emptySince: string, note: string | undefined): SourceState {
  const before = attempted(attempt);
  const left = attempt.source.intervalMs === undefined ? '' : 'the next read finds the same, or ';
  const reason = note === undefined ? `the source is empty since ${emptySince}` : `${note} (since ${emptySince})`;
  const message = `${reason}: the last ${summary(before.serverCount, 0)} stay until ${left}a manual trigger`;
  return { ...before, phase: 'Complete', message, attemptCount: 0, emptySince };
}

/** Returns RFC 3339. `ms` is in milliseconds since 1970. */
export function timeOf(ms: number): string {
  return new Date(ms).toISOString();
}

/** Returns the previous state with the fields that every attempt changes. */
function attempted<O>(attempt: SyncAttempt<O>): SourceState {
  const { source, state } = attempt;
  const fresh = { phase: 'Failed', message: '', attemptCount: 0, serverCount: 0, rejectedCount: 0 } as const;
  return {
    ...(state ?? fresh),
    lastAttempt: timeOf(attempt.now),
    declarationHash: declarationHash(source),
    trigger: attempt.trigger ?? state?.requestedTrigger ?? state?.trigger,
    requestsServed: state?.requests ?? state?.requestsServed,
  };
}

function resumeOf<O>({ source }: SyncAttempt<O>, { resume }: Content): Pick<SourceState, 'resume'> {
  return resume === undefined ? {} : { resume: { ...resume, declaration: declarationHash(source) } };
}

function summary(entries: number, rejected: number): string {
  const served = countText(entries, 'server');
  return rejected === 0 ? served : `${served}; ${countText(rejected, 'entry', 'entries')} rejected`;
}
