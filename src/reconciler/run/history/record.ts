// Computes the record of a run, and decides whether the history stores it.

import { keyOf } from '#kubernetes/rules/object.ts';
import type { Failure } from '#std/failure.ts';
import { digest } from '#std/hash.ts';
import { canonicalJson } from '#std/json.ts';
import { formatId, type Problem, type ResourceId } from '#std/problem.ts';
import type { ChangeOutcome } from '../apply/apply.ts';
import type { Change, Plan } from '../plan/plan.ts';
import { exitCodeOf, type RunResult, summaryOf } from '../result.ts';
import type { NotReady } from '../settle/readiness.ts';
import type {
  RecordedDifference,
  RecordedNotReady,
  RecordedOutcome,
  RecordedProblem,
  RunRecord,
  RunState,
} from './ports.ts';

/** Maximum number of entries in a list, and of differences of one object. */
const ENTRIES_MAX = 1000;
const DIFFERENCES_MAX = 20;
/** Maximum characters of a value in JSON. */
const VALUE_MAX = 200;
/** Maximum characters of a condition's message. */
const WHY_MAX = 500;

export function recordOf(result: RunResult): RunRecord {
  const { plan } = result;
  const lists = {
    outcomes: result.outcomes.map(outcomeWith(changesOf(plan))),
    held: plan.held.map(({ resource, reason }) => ({ resource: formatId(resource), reason })),
    deletions: plan.waiting.flatMap(({ deletions }) => deletions),
    problems: result.problems.map(recordedProblem),
    notReady: notReadyOf(result),
    drifted: (result.readiness.drifted ?? []).map((each) => ({
      resource: formatId(each),
      why: each.why.slice(0, WHY_MAX),
    })),
  };
  const { outcomes, held, problems } = lists;
  return {
    id: result.id,
    startedAt: result.startedAt,
    finishedAt: result.finishedAt,
    state: runState(result),
    commits: result.commits,
    summary: summaryOf(result),
    planHash: planHash(plan),
    outcomes: outcomes.slice(0, ENTRIES_MAX),
    held: held.slice(0, ENTRIES_MAX),
    ...approvalsOf(plan),
    problems: problems.slice(0, ENTRIES_MAX),
    failures: result.failures.map(({ code, message }) => ({ code, message })),
    catalogue: result.catalogue
      .filter(({ action }) => action !== 'unchanged')
      .map(({ source, action, servers, message }) => ({ source, action, servers, message })),
    unready: result.readiness.failed.map(formatId),
    ...(lists.notReady.length === 0 ? {} : { notReady: lists.notReady.slice(0, ENTRIES_MAX) }),
    ...(lists.drifted.length === 0 ? {} : { drifted: lists.drifted.slice(0, ENTRIES_MAX) }),
    ...(result.waits.length === 0
      ? {}
      : { waits: result.waits.map(({ source, for: needed, reason }) => ({ source, for: needed, reason })) }),
    pinned: result.quarantined.map(({ source, good, bad }) => ({ source, good, bad })),
    omitted: omittedOf(lists),
  };
}

/** Returns the record of a run that failed before it had a result. */
export function failedRecord(
  { id, startedAt, finishedAt }: Pick<RunRecord, 'id' | 'startedAt' | 'finishedAt'>,
  { code, message }: Failure,
): RunRecord {
  return {
    id,
    startedAt,
    finishedAt,
    state: 'failed',
    commits: {},
    summary: { created: 0, configured: 0, unchanged: 0, deleted: 0, held: 0, failed: 0 },
    planHash: '',
    outcomes: [],
    held: [],
    problems: [],
    failures: [{ code, message }],
    catalogue: [],
    unready: [],
    pinned: [],
    omitted: {},
  };
}

/**
 * Returns the record of a `progressing` run with the final state that a later run found. undefined if the later run had
 * failures. Also undefined while one of its resources is progressing or a source waits, until `waitSeconds` after the
 * run.
 */
export function completed(
  record: RunRecord,
  later: RunRecord,
  ready: readonly ResourceId[],
  waitSeconds: number,
): RunRecord | undefined {
  if (record.state !== 'progressing' || later.failures.length > 0) return undefined;
  const names = new Set(
    record.notReady?.filter(({ state }) => state === 'progressing').map(({ resource }) => resource),
  );
  const left = later.notReady?.filter(({ resource }) => names.has(resource)) ?? [];
  const isLate = Date.parse(later.finishedAt) - Date.parse(record.finishedAt) >= waitSeconds * 1000;
  const isOpen = left.some(({ state }) => state === 'progressing') || later.waits !== undefined;
  if (isOpen && !isLate) return undefined;
  const completion = { at: later.finishedAt, ready: ready.filter((id) => names.has(formatId(id))).length };
  const notReady = left.map((each) => (each.state === 'progressing' ? ({ ...each, state: 'late' } as const) : each));
  const state = left.some((each) => each.state !== 'not-run') ? 'not-ready' : 'succeeded';
  return { ...record, state, notReady: notReady.length === 0 ? undefined : notReady, completed: completion };
}

/**
 * Returns true if the history should store the record: the run changed an object, synced a source, or found another
 * state than the previous run.
 */
export function isNews(record: RunRecord, before: RunRecord | undefined): boolean {
  const changed = record.outcomes.some(({ action }) => CHANGES.has(action));
  const synced = record.catalogue.some(({ action }) => action === 'synced');
  return changed || synced || before === undefined || standingOf(record) !== standingOf(before);
}

const CHANGES: ReadonlySet<string> = new Set(['created', 'configured', 'deleted']);

/**
 * Returns the facts that last until a person acts. Messages are left out, because they may contain times and counts.
 */
function standingOf(record: RunRecord): string {
  const { commits, held, approvals = [], waits = [], problems, failures, unready, pinned, drifted = [] } = record;
  const stuck = record.outcomes.filter(({ action }) => action === 'failed' || action === 'held');
  return canonicalJson({
    commits,
    held,
    approvals: approvals.map(({ hash }) => hash),
    problems: problems.map(({ message: _message, ...rest }) => rest),
    failures: failures.map(({ code }) => code),
    stuck: stuck.map(({ action, resource, error }) => [action, resource, error?.code ?? '']),
    catalogue: record.catalogue.filter(({ action }) => action === 'failed').map(({ source }) => source),
    unready,
    pinned,
    drifted,
    waits: waits.map(({ source, for: needed }) => [source, needed]),
  });
}

function notReadyOf({
  readiness: { failed, progressing, notRun = [] },
  timedOut,
}: RunResult): readonly RecordedNotReady[] {
  const recorded = (state: RecordedNotReady['state']) => (each: NotReady) => {
    return { resource: formatId(each), state, why: each.why.slice(0, WHY_MAX) };
  };
  const waitedFor = progressing.map(recorded(timedOut ? 'late' : 'progressing'));
  return [...failed.map(recorded('failed')), ...waitedFor, ...notRun.map(recorded('not-run'))];
}

function runState(result: RunResult): RunState {
  const code = exitCodeOf(result);
  if (code === 5) return 'waiting';
  if (code === 8) return 'not-ready';
  if (code !== 0) return 'failed';
  if (result.readiness.failed.length > 0) return 'not-ready';
  return result.readiness.progressing.length + result.waits.length > 0 ? 'progressing' : 'succeeded';
}

/**
 * Returns the hash of the changes. Values of Secrets are masked in the plan, so the hash reveals nothing about them.
 */
function planHash({ batches }: Plan): string {
  const changes = batches.flatMap((batch) => batch.changes);
  return digest(changes.map(({ action, key, diff }) => [action, key, diff])).slice(0, 16);
}

function changesOf({ batches }: Plan): ReadonlyMap<string, Change> {
  return new Map(batches.flatMap(({ changes }) => changes).map((change) => [change.key, change]));
}

function outcomeWith(changes: ReadonlyMap<string, Change>): (outcome: ChangeOutcome) => RecordedOutcome {
  return ({ action, resource, owner, error }) => {
    const diff = changes.get(keyOf(resource))?.diff ?? [];
    return {
      action,
      resource: formatId(resource),
      ...(owner && { owner: formatId(owner) }),
      error: error && { code: error.code, message: error.message },
      diff: diff.length === 0 ? undefined : diff.slice(0, DIFFERENCES_MAX).map(recordedDifference),
    };
  };
}

function recordedDifference({ path, before, after }: Change['diff'][number]): RecordedDifference {
  if ([before, after].some((value) => value !== undefined && JSON.stringify(value).length > VALUE_MAX))
    return { path, long: true };
  return { path, before, after };
}

function recordedProblem({ code, severity, message, place, pointer, resource }: Problem): RecordedProblem {
  return {
    code,
    severity,
    message,
    ...(place ?? {}),
    pointer,
    resource: resource && formatId(resource),
  };
}

function approvalsOf({ waiting, approved: given }: Plan): Pick<RunRecord, 'approvals' | 'approved'> {
  let room = ENTRIES_MAX;
  const approvals = waiting.map(({ source, hash, reasons, deletions }) => {
    const ids = deletions.slice(0, room).map(({ id }) => id);
    room -= ids.length;
    return { source, hash, reasons, deletions: ids };
  });
  const approved = given.map(({ approval }) => approval.hash);
  return {
    approvals: approvals.length === 0 ? undefined : approvals,
    approved: approved.length === 0 ? undefined : approved,
  };
}

function omittedOf(lists: Readonly<Record<string, readonly unknown[]>>): Record<string, number> {
  const counts = Object.entries(lists).map(([name, list]): [string, number] => [name, list.length - ENTRIES_MAX]);
  return Object.fromEntries(counts.filter(([, count]) => count > 0));
}
