// Determines the state of one resource after a run, with a sentence that gives the reason. A resource is healthy only
// if the run observed that it is ready.

import { type KubeObject, keyOf } from '#kubernetes/rules/object.ts';
import { isObject, type JsonObject } from '#std/json.ts';
import { formatId, type Problem, type ResourceId } from '#std/problem.ts';
import { liveStateOf } from '../observe/live-state.ts';
import { groupKindOf, type Snapshot } from '../observe/snapshot.ts';
import type { Sourced } from '../read/sourced.ts';
import type { Standing } from '../resolve/resolve.ts';
import type { RunResult } from '../result.ts';
import { isUnreported, type NotReady, notReady, readyCondition, reportedState, stateOf } from '../settle/readiness.ts';
import type { EntryState } from './format.ts';

export interface StateWithReason {
  readonly state: EntryState;
  readonly why: string;
}

/** Facts about resources from one run, by key of the resource. A fact about a child is also a fact about its owner. */
export interface RunFacts {
  readonly problems: ReadonlyMap<string, Problem>;
  readonly failed: ReadonlyMap<string, string>;
  readonly kept: ReadonlyMap<string, string>;
  readonly pending: ReadonlyMap<string, string>;
  /** Fields that other managers have set, and that differ from Git. */
  readonly fields: ReadonlyMap<string, string>;
  readonly readiness: ReadonlyMap<string, { readonly state: EntryState; readonly why: string }>;
  readonly drifted: ReadonlyMap<string, string>;
  readonly unlisted: ReadonlySet<string>;
  readonly paused: string | undefined;
}

export function runFacts(result: RunResult, snapshot: Pick<Snapshot, 'unlisted'>): RunFacts {
  const { plan, outcomes, problems, fields, readiness, paused } = result;
  const errors = problems.filter(({ severity }) => severity === 'error');
  const done = new Set(outcomes.map(({ resource }) => keyOf(resource)));
  const changes = plan.batches.flatMap((batch) => batch.changes).filter(({ key }) => !done.has(key));
  return {
    problems: firstById(errors, ({ resource }) => [resource], identity),
    failed: firstById(
      outcomes.filter(({ action }) => action === 'failed'),
      ({ resource, owner }) => [resource, owner],
      ({ resource, error }) => `${formatId(resource)}: ${error?.message ?? 'the change failed'}`,
    ),
    kept: firstById(
      [...plan.held, ...outcomes.flatMap(heldOutcome)],
      ({ resource, owner }) => [resource, owner],
      ({ reason }) => reason,
    ),
    pending: firstById(
      changes,
      (change) => [change.resource, change.action === 'delete' ? undefined : change.owner],
      ({ action, resource }) => `${formatId(resource)} is to be ${PENDING[action]}`,
    ),
    fields: firstById(
      fields.filter(({ state }) => state === 'kept'),
      ({ resource, owner }) => [resource, owner],
      ({ resource, path, manager }) => `${manager} has set ${path} of ${formatId(resource)}`,
    ),
    readiness: readinessOf(readiness),
    drifted: firstById(
      readiness.drifted ?? [],
      (each) => [each],
      ({ why }) => why,
    ),
    unlisted: snapshot.unlisted(),
    paused: paused === undefined ? undefined : pausedText(paused),
  };
}

const PENDING = { create: 'created', update: 'changed', delete: 'deleted' } as const;

const identity = <T>(value: T): T => value;

function heldOutcome({ action, resource, owner, error }: RunResult['outcomes'][number]) {
  return action === 'held' ? [{ resource, owner, reason: error?.message ?? 'the run has not changed it' }] : [];
}

export function pausedText(paused: NonNullable<RunResult['paused']>): string {
  if (paused.by === 'window') return `outside of the sync windows (${paused.window})`;
  return paused.reason === undefined || paused.reason === '' ? 'suspended' : `suspended: ${paused.reason}`;
}

function firstById<T, V>(
  items: readonly T[],
  idsOf: (item: T) => readonly (ResourceId | undefined)[],
  textOf: (item: T) => V,
): ReadonlyMap<string, V> {
  const found = new Map<string, V>();
  for (const item of items)
    for (const id of idsOf(item)) if (id !== undefined && !found.has(keyOf(id))) found.set(keyOf(id), textOf(item));
  return found;
}

function readinessOf({ ready, progressing, failed, notRun = [] }: RunResult['readiness']): RunFacts['readiness'] {
  const found = new Map<string, StateWithReason>();
  const add = (state: EntryState, ids: readonly NotReady[]) => {
    for (const id of ids) found.set(keyOf(id), { state, why: id.why });
  };
  for (const id of ready) found.set(keyOf(id), { state: 'healthy', why: '' });
  add('progressing', progressing);
  add('failed', failed);
  add('not-run', notRun);
  return found;
}

export interface ResourceWithHealth extends Pick<Standing, 'health'> {
  readonly loaded: Pick<Sourced, 'id' | 'kind'>;
  readonly live: KubeObject | undefined;
}

/** Returns the state of a declared resource. `ours` is true if this instance writes the statuses of our kinds. */
export function entryState(
  facts: RunFacts,
  declared: ResourceWithHealth,
  snapshot: Pick<Snapshot, 'known'>,
  ours: boolean,
): StateWithReason {
  const { loaded } = declared;
  const key = keyOf(loaded.id);
  const problem = facts.problems.get(key);
  if (declared.health === 'held') return { state: 'kept', why: keptText(problem, facts.kept.get(key)) };
  const failed = facts.failed.get(key);
  if (failed !== undefined) return { state: 'failed', why: failed };
  if (declared.health === 'refused') return { state: 'failed', why: problemText(problem) ?? 'It is refused.' };
  const kept = facts.kept.get(key);
  if (kept !== undefined) return { state: 'kept', why: sentence(kept) };
  if (!snapshot.known(groupKindOf(loaded.id))) {
    return { state: 'unknown', why: `The ${loaded.id.kind} objects of the cluster could not all be listed.` };
  }
  return certain(facts, drifting(facts, key) ?? observedState(facts, declared, ours));
}

function keptText(problem: Problem | undefined, reason: string | undefined): string {
  return problemText(problem) ?? sentence(reason ?? 'something that it depends on is invalid');
}

/** Returns the reason with a capital first letter. In other reports, the same reason follows a colon. */
function sentence(reason: string): string {
  return `${reason.slice(0, 1).toUpperCase()}${reason.slice(1)}`;
}

function problemText(problem: Problem | undefined): string | undefined {
  if (problem === undefined) return undefined;
  const { message, place } = problem;
  return place === undefined ? message : `${message} (${place.file}:${place.line})`;
}

function drifting({ pending, fields, drifted, paused, readiness }: RunFacts, key: string): StateWithReason | undefined {
  // State `failed` is more severe than state `drifted`.
  if (readiness.get(key)?.state === 'failed') return undefined;
  const change = pending.get(key);
  if (change !== undefined) {
    return { state: 'drifted', why: `${change}${paused === undefined ? '' : `; the instance is ${paused}`}.` };
  }
  const why = drifted.get(key) ?? fields.get(key);
  return why === undefined
    ? undefined
    : { state: 'drifted', why: why === '' ? 'Its tools are not as they were reviewed.' : why };
}

function observedState({ readiness }: RunFacts, { loaded, live }: ResourceWithHealth, ours: boolean): StateWithReason {
  const reported = readiness.get(keyOf(loaded.id));
  const status = isObject(live?.status) ? live.status : undefined;
  if (reported !== undefined) return reported.state === 'healthy' ? readyState(status) : reported;
  if (live === undefined) return { state: 'unknown', why: 'It was not in the cluster when the run looked.' };
  if (loaded.kind === undefined) return foreignState(live);
  if (status === undefined || Object.keys(status).length === 0)
    return { state: 'unknown', why: 'It has no status yet.' };
  return ours ? ownState(loaded.id, status) : reportedByOthers(live, status);
}

function ownState(id: ResourceId, status: JsonObject): StateWithReason {
  const state = stateOf(status);
  const { why } = notReady(id, status);
  if (state === 'ready') return readyState(status);
  if (state === 'notRun') return { state: 'not-run', why };
  return { state, why: why === '' ? `Its phase is ${String(status.phase ?? 'not set')}.` : why };
}

function reportedByOthers(live: KubeObject, status: JsonObject): StateWithReason {
  const state = reportedState(live);
  const message = readyCondition(status)?.message;
  const why =
    typeof message === 'string' && message !== '' ? message : `Its phase is ${String(status.phase ?? 'not set')}.`;
  return { state: state === 'ready' ? 'healthy' : state, why };
}

function readyState(status: JsonObject | undefined): StateWithReason {
  const ready = status && readyCondition(status);
  if (ready?.reason === 'ScaledToZero') return { state: 'sleeping', why: 'Someone has scaled it to zero.' };
  if (status !== undefined && isUnreported(status)) {
    return { state: 'unknown', why: 'It runs; nobody reports whether its tools are as they were reviewed.' };
  }
  return { state: 'healthy', why: 'It is ready, and as Git declares it.' };
}

function foreignState(live: KubeObject): StateWithReason {
  const { ready, why } = liveStateOf(live);
  if (ready) return { state: 'healthy', why: 'It is in the cluster as Git declares it.' };
  return { state: 'progressing', why: why === '' ? 'It is not ready.' : why };
}

/** Replaces state `healthy` with `unknown` if a kind could not be listed: an unknown child may have failed. */
function certain({ unlisted }: RunFacts, found: StateWithReason): StateWithReason {
  if (found.state !== 'healthy' || unlisted.size === 0) return found;
  return { state: 'unknown', why: `Some objects could not be listed: ${[...unlisted].join(', ')}.` };
}
