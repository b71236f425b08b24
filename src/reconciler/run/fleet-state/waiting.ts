// Computes what waits for a person after a run: lists of deletions, rolled back sources, and objects that are kept
// unchanged.

import { formatId } from '#std/problem.ts';
import type { DeletionList } from '../prune/guard.ts';
import type { Paused, RunResult } from '../result.ts';

/** A list of deletions that waits, in full. */
export interface WaitingList {
  /** Name of the source; empty for children of resources that people applied by hand. */
  readonly source: string;
  readonly hash: string;
  readonly reasons: readonly string[];
  /** Time at which an approval of the list expired (RFC 3339). */
  readonly expiredAt?: string;
  readonly deletions: readonly WaitingDeletion[];
}

export interface WaitingDeletion {
  /** `namespace/Kind/name`. */
  readonly id: string;
  /** Custom resource that the object was created for, and is deleted with. */
  readonly owner?: string;
  /** Set if the object is created again. */
  readonly replaced?: true;
  /** Foreign objects that are deleted with the object, in words. */
  readonly takes?: readonly string[];
  /** Kinds that cannot be listed, and whose objects are deleted with the object. */
  readonly mayTake?: readonly string[];
}

export interface WaitingState {
  readonly version: 1;
  /** Last run that ended; absent before the first. */
  readonly run?: { readonly id: string; readonly at: string };
  /** Reason why the run wrote nothing; absent if it was free to write. */
  readonly paused?: Paused;
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
  /** Objects that are kept unchanged for another reason than an approval. */
  readonly held: readonly { readonly resource: string; readonly reason: string }[];
  /** Sources that wait for other sources. */
  readonly sources: readonly { readonly source: string; readonly for: string; readonly reason: string }[];
  /** Number of held objects that are left out. */
  readonly omitted: number;
}

/** The page shows the reasons, and nobody reads more of them. */
const HELD_MAX = 1000;

export const NOTHING_WAITS: WaitingState = {
  version: 1,
  approvals: [],
  approved: [],
  rolledBack: [],
  held: [],
  sources: [],
  omitted: 0,
};

export function waitingOf({ id, finishedAt: at, plan, paused, quarantined, waits }: RunResult): WaitingState {
  const approvals = plan.waiting.map(waitingList);
  const waiting = new Set(approvals.flatMap(({ deletions }) => deletions.map((each) => each.id)));
  const held = plan.held
    .map(({ resource, reason }) => ({ resource: formatId(resource), reason }))
    .filter(({ resource }) => !waiting.has(resource));
  return {
    version: 1,
    run: { id, at },
    ...(paused === undefined ? {} : { paused }),
    approvals,
    approved: (paused === undefined ? [] : plan.approved).map(({ source, hash, approval, deletions }) => ({
      source,
      hash,
      expiresAt: approval.expiresAt,
      deletions: deletions.length,
    })),
    rolledBack: quarantined.map(({ source, good, bad, run, since }) => ({ source, good, bad, run, since })),
    held: held.slice(0, HELD_MAX),
    sources: waits.map(({ source, for: other, reason }) => ({ source, for: other, reason })),
    omitted: Math.max(0, held.length - HELD_MAX),
  };
}

/** Returns the parts of a list that a person decides about. */
export function waitingList({ source, hash, reasons, expiredAt, deletions }: DeletionList): WaitingList {
  return {
    source,
    hash,
    reasons,
    ...(expiredAt === undefined ? {} : { expiredAt }),
    deletions: deletions.map(({ id, owner, replaced, takes = [], mayTake = [] }) => ({
      id,
      ...(owner === undefined ? {} : { owner }),
      ...(replaced === undefined ? {} : { replaced }),
      ...(takes.length === 0 ? {} : { takes }),
      ...(mayTake.length === 0 ? {} : { mayTake }),
    })),
  };
}
