// Defines the record of a run, and the store of the records.

import type { Json } from '#std/json.ts';

/**
 * `progressing`: all changes are made, but their resources are not ready yet. `waiting`: deletions wait for approval.
 * `not-ready`: each change succeeded, but a resource is in phase Failed or was not ready in time.
 */
export type RunState = 'succeeded' | 'progressing' | 'waiting' | 'not-ready' | 'failed';

export interface RecordedDifference {
  readonly path: string;
  /** Values as a plan shows them, with values of Secrets masked. `long` is set if a long value is left out. */
  readonly before?: Json;
  readonly after?: Json;
  readonly long?: true;
}

export interface RecordedOutcome {
  readonly action: 'created' | 'configured' | 'unchanged' | 'deleted' | 'held' | 'failed';
  /** Resource as `namespace/Kind/name`, as in all fields `resource` of this file. */
  readonly resource: string;
  /** Custom resource that the object belongs to; absent for a custom resource, and in records of former releases. */
  readonly owner?: string;
  readonly error?: { readonly code: string; readonly message: string };
  readonly diff?: readonly RecordedDifference[];
}

export interface RecordedProblem {
  readonly code: string;
  readonly severity: 'error' | 'warning';
  readonly message: string;
  readonly file?: string;
  readonly line?: number;
  readonly column?: number;
  readonly pointer?: string;
  readonly resource?: string;
}

/** A source that a rollback keeps at a commit. */
interface RecordedPin {
  readonly source: string;
  /** `good` is the commit that the source is kept at, `bad` the commit that is not applied. */
  readonly good: string;
  readonly bad: string;
}

export interface RecordedNotReady {
  readonly resource: string;
  /**
   * `late`: the run waited for the resource until the time was up. `not-run`: no program of this machine runs in its
   * place (`skep dev`).
   */
  readonly state: 'failed' | 'late' | 'progressing' | 'not-run';
  /** Message of the condition Ready. */
  readonly why: string;
}

interface Completion {
  /** End of the later run; RFC 3339. */
  readonly at: string;
  /** Number of resources that were not ready at the end of the run and were ready later. */
  readonly ready: number;
}

export interface RunRecord {
  readonly id: string;
  /** RFC 3339. */
  readonly startedAt: string;
  readonly finishedAt: string;
  readonly state: RunState;
  /** Commits by name of the source. */
  readonly commits: Readonly<Record<string, string>>;
  readonly summary: Readonly<Record<'created' | 'configured' | 'unchanged' | 'deleted' | 'held' | 'failed', number>>;
  /** Hash of the plan: equal plans have equal hashes. */
  readonly planHash: string;
  readonly outcomes: readonly RecordedOutcome[];
  readonly held: readonly { readonly resource: string; readonly reason: string }[];
  /** Deletions that wait for approval, by source. */
  readonly approvals?: readonly {
    readonly source: string;
    readonly hash: string;
    readonly reasons: readonly string[];
    readonly deletions: readonly string[];
  }[];
  /** Hashes of the approvals of deletions that would otherwise have waited. */
  readonly approved?: readonly string[];
  readonly problems: readonly RecordedProblem[];
  readonly failures: readonly { readonly code: string; readonly message: string }[];
  readonly catalogue: readonly {
    readonly source: string;
    readonly action: string;
    readonly servers: number;
    readonly message: string;
  }[];
  /** Resources in phase Failed. */
  readonly unready: readonly string[];
  /**
   * Reasons why resources were not ready when the run ended, failed resources first; absent if all were ready, and in
   * records of former releases.
   */
  readonly notReady?: readonly RecordedNotReady[];
  /**
   * Servers whose tool definitions differ from the reviewed definitions; absent if no server differs, and in records of
   * former releases.
   */
  readonly drifted?: readonly { readonly resource: string; readonly why: string }[];
  readonly pinned: readonly RecordedPin[];
  /** Sources that waited for another source; absent if no source waited, and in records of former releases. */
  readonly waits?: readonly { readonly source: string; readonly for: string; readonly reason: string }[];
  /** Present if the run ended in state `progressing`, and a later run found its outcome. */
  readonly completed?: Completion;
  /** Number of entries that were left out because a list was too long, by name of the list. */
  readonly omitted: Readonly<Record<string, number>>;
}

export interface HistoryStore {
  /** Returns the newest runs, newest first. Throws Failure. */
  latest(count: number): Promise<readonly RunRecord[]>;
  /** Appends the record, and removes the oldest records beyond the limit. Throws Failure. */
  append(record: RunRecord): Promise<void>;
  /** Replaces the record with the same id; does nothing if that record was removed. Throws Failure. */
  replace(record: RunRecord): Promise<void>;
}
