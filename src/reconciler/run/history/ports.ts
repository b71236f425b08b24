// Defines the record of a run, and the store of all records.

import type { Json } from '#std/json.ts';

/**
 * End of a run. `progressing`: no change has failed, but a resource is not ready yet, or a source waits. `waiting`:
 * changes wait for an approval or for a signed plan. `not-ready`: no change has failed, but a resource has failed or
 * was not ready in time.
 */
export type RunState = 'succeeded' | 'progressing' | 'waiting' | 'not-ready' | 'failed';

export interface RecordedDifference {
  readonly path: string;
  /**
   * Values as the plan shows them, with masked values of Secrets. If `long` is set, the values are left out because
   * they are too long.
   */
  readonly before?: Json;
  readonly after?: Json;
  readonly long?: true;
}

export interface RecordedOutcome {
  readonly action: 'created' | 'configured' | 'unchanged' | 'deleted' | 'held' | 'failed';
  /** Resource as `namespace/Kind/name`, as in all fields `resource` of this file. */
  readonly resource: string;
  /** Custom resource that owns the object; absent for a custom resource, and in records of former releases. */
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
  /** `good` is the commit that is applied instead of `bad`. */
  readonly good: string;
  readonly bad: string;
}

export interface RecordedNotReady {
  readonly resource: string;
  /**
   * `late`: the resource was not ready when the wait of the run ended. `not-run`: `skep dev` has no program for the
   * image of the resource.
   */
  readonly state: 'failed' | 'late' | 'progressing' | 'not-run';
  /** Message of the condition Ready. */
  readonly why: string;
}

interface Completion {
  /** End of the later run, in RFC 3339. */
  readonly at: string;
  /** Number of resources that became ready after the end of the run. */
  readonly ready: number;
}

export interface RunRecord {
  readonly id: string;
  /** Time in RFC 3339. */
  readonly startedAt: string;
  readonly finishedAt: string;
  readonly state: RunState;
  /** Commits by name of the source. */
  readonly commits: Readonly<Record<string, string>>;
  readonly summary: Readonly<Record<'created' | 'configured' | 'unchanged' | 'deleted' | 'held' | 'failed', number>>;
  /** Hash of the changes in the plan. Plans with the same changes have the same hash. */
  readonly planHash: string;
  readonly outcomes: readonly RecordedOutcome[];
  readonly held: readonly { readonly resource: string; readonly reason: string }[];
  /** Deletions that wait for approval, by source. A list without deletions stands for all changes of the run. */
  readonly approvals?: readonly {
    readonly source: string;
    readonly hash: string;
    readonly reasons: readonly string[];
    readonly deletions: readonly string[];
  }[];
  /** Hashes of the approvals that the run used. Without these approvals, the deletions of the run would have waited. */
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
   * Resources that were not ready at the end of the run, failed resources first. Absent if all were ready, and in
   * records of former releases.
   */
  readonly notReady?: readonly RecordedNotReady[];
  /**
   * Servers whose tool definitions differ from the reviewed definitions. Absent if no server differs, and in records of
   * former releases.
   */
  readonly drifted?: readonly { readonly resource: string; readonly why: string }[];
  readonly pinned: readonly RecordedPin[];
  /** Sources that waited for another source. Absent if no source waited, and in records of former releases. */
  readonly waits?: readonly { readonly source: string; readonly for: string; readonly reason: string }[];
  /** Present if the run ended as `progressing` and a later run found its final state. */
  readonly completed?: Completion;
  /** Number of entries that are missing in a list, by name of the list. Long lists are cut. */
  readonly omitted: Readonly<Record<string, number>>;
}

export interface HistoryStore {
  /** Returns at most `count` runs, newest first. Throws Failure. */
  latest(count: number): Promise<readonly RunRecord[]>;
  /** Appends the record, and removes the oldest records beyond the limit. Throws Failure. */
  append(record: RunRecord): Promise<void>;
  /** Replaces the record with the same id. Does nothing if the store no longer has that record. Throws Failure. */
  replace(record: RunRecord): Promise<void>;
}
