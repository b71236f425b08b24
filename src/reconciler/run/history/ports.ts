// What is kept of a run, and where it is kept.

import type { Json } from '#std/json.ts';

/** `progressing`: done, and its resources are not ready yet. `waiting`: deletions wait for approval. */
/** `not-ready`: each change succeeded, and a resource is in phase Failed or was not ready in time. */
export type RunState = 'succeeded' | 'progressing' | 'waiting' | 'not-ready' | 'failed';

export interface RecordedDifference {
  readonly path: string;
  /** Values as a plan shows them, those of Secrets masked; a long one is left out, and `long` says so. */
  readonly before?: Json;
  readonly after?: Json;
  readonly long?: true;
}

export interface RecordedOutcome {
  readonly action: 'created' | 'configured' | 'unchanged' | 'deleted' | 'held' | 'failed';
  /** `namespace/Kind/name`, here and below. */
  readonly resource: string;
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
  /** The commit that it is kept at, and the one that is not applied. */
  readonly good: string;
  readonly bad: string;
}

export interface RecordedNotReady {
  readonly resource: string;
  /** `late`: the run waited for it until the time was up. `not-run`: no program of this machine stands for it (`skep dev`). */
  readonly state: 'failed' | 'late' | 'progressing' | 'not-run';
  /** The message of its condition Ready. */
  readonly why: string;
}

interface Completion {
  /** When the later run ended; RFC 3339. */
  readonly at: string;
  /** How many of the resources that were not ready became so. */
  readonly ready: number;
}

export interface RunRecord {
  readonly id: string;
  /** RFC 3339. */
  readonly startedAt: string;
  readonly finishedAt: string;
  readonly state: RunState;
  /** Commit by name of the source. */
  readonly commits: Readonly<Record<string, string>>;
  readonly summary: Readonly<Record<'created' | 'configured' | 'unchanged' | 'deleted' | 'held' | 'failed', number>>;
  /** Names what was planned: equal plans have equal hashes. */
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
  /** Hashes of the approvals that let deletions go that would have waited. */
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
  /** Why resources were not ready when the run ended, failed ones first; absent if all were, or a former release wrote it. */
  readonly notReady?: readonly RecordedNotReady[];
  /** Servers whose definitions of tools are not as they were reviewed; absent if there are none, or a former release wrote it. */
  readonly drifted?: readonly { readonly resource: string; readonly why: string }[];
  readonly pinned: readonly RecordedPin[];
  /** Sources that waited for another one; absent if there was none, or a former release wrote it. */
  readonly waits?: readonly { readonly source: string; readonly for: string; readonly reason: string }[];
  /** Present if the run ended in state `progressing`, and a later run found out how it went on. */
  readonly completed?: Completion;
  /** How many entries of a list were too many to keep, by its name. */
  readonly omitted: Readonly<Record<string, number>>;
}

export interface HistoryStore {
  /** Newest first. Throws Failure. */
  latest(count: number): Promise<readonly RunRecord[]>;
  /** The oldest go where there are too many. Throws Failure. */
  append(record: RunRecord): Promise<void>;
  /** Puts the record in the place of the one with its id; does nothing if that one is not kept any more. Throws Failure. */
  replace(record: RunRecord): Promise<void>;
}
