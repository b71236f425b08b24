// Computes what waits for a person after a run: lists of deletions, rolled back sources, and objects that are kept
// unchanged.

import { formatId } from '#std/problem.ts';
import type { DeletionList } from '../prune/guard.ts';
import type { RunResult } from '../result.ts';
import type { WaitingList, WaitingState } from './waiting-format.ts';

/** Maximum number of kept objects in the state. Nobody reads a longer list. */
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

/** Returns the fields of a list that a person needs for a decision. */
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
