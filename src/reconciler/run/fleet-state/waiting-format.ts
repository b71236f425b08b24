// Defines what waits for a person, as the console and its JSON route show it.

/** A list of deletions that waits for approval. */
export interface WaitingList {
  /** Name of the source; empty for children of resources that people applied by hand. */
  readonly source: string;
  readonly hash: string;
  readonly reasons: readonly string[];
  /** Time at which an approval of the list expired (RFC 3339). */
  readonly expiredAt?: string;
  readonly deletions: readonly WaitingDeletion[];
}

interface WaitingDeletion {
  /** `namespace/Kind/name`. */
  readonly id: string;
  /** Custom resource that owns the object and is deleted together with it. */
  readonly owner?: string;
  /** Set if the object is created again. */
  readonly replaced?: true;
  /** Foreign objects that are deleted with the object, in words. */
  readonly takes?: readonly string[];
  /** Kinds that cannot be listed, and whose objects may be deleted with the object. */
  readonly mayTake?: readonly string[];
}

export interface WaitingState {
  readonly version: 1;
  /** Last run that did not fail; absent before the first such run. */
  readonly run?: { readonly id: string; readonly at: string };
  /** Reason why the run wrote nothing; absent if it was free to write. */
  readonly paused?: WaitingPause;
  readonly approvals: readonly WaitingList[];
  /** Lists that are approved, and whose deletions are made when the instance may write again. */
  readonly approved: readonly {
    readonly source: string;
    readonly hash: string;
    readonly expiresAt: string;
    readonly deletions: number;
  }[];
  /** Sources that a rollback keeps at an earlier commit. */
  readonly rolledBack: readonly {
    readonly source: string;
    readonly good: string;
    readonly bad: string;
    readonly run: string;
    readonly since: string;
  }[];
  /** Objects that are kept unchanged for a reason other than a missing approval. */
  readonly held: readonly { readonly resource: string; readonly reason: string }[];
  /** Sources that wait for other sources. */
  readonly sources: readonly { readonly source: string; readonly for: string; readonly reason: string }[];
  /** Number of held objects that are left out. */
  readonly omitted: number;
}

/** As `Paused` of a run. */
type WaitingPause =
  | { readonly by: 'window'; readonly window: string; readonly until?: string }
  | { readonly by: 'suspension'; readonly who: string; readonly since: string; readonly reason: string };

/** An action that a person has done or attempted in this process. */
export interface RecentAction {
  /** Time in RFC 3339. */
  readonly at: string;
  readonly action: string;
  readonly by: string;
  /** Object of the action; empty for an action without an object. */
  readonly about: string;
  readonly result: string;
  readonly code?: string;
  /** Id of the run that the action caused; absent before the run begins, and if the action causes no run. */
  readonly run?: string;
}
