// Computes the statuses of resources, and writes each status that has changed.

import { idOf, type KubeObject, keyOf } from '#kubernetes/rules/object.ts';
import { isObject, type JsonObject, jsonEquals } from '#std/json.ts';
import type { Problem, ResourceId } from '#std/problem.ts';
import type { Kind, Resource, View } from '../../kinds/kind.ts';
import type { Standing } from '../resolve/resolve.ts';
import { createReminder, type ReportWaiting } from '../waiting.ts';
import { computeStatus, type StatusFacts, withUnlisted } from './one-status.ts';
import {
  driftOf,
  type NotReady,
  notReady,
  type Readiness,
  reportedState,
  type StatusChange,
  stateOf,
} from './readiness.ts';
import { inOrder, startRenewing } from './renewed.ts';
import { overtakenFailure, type StatusesWritten, type TellDeps, writeStatuses } from './tell.ts';

/** State of the cluster at one moment. */
export interface ObservedState {
  readonly living: (id: ResourceId) => KubeObject | undefined;
  readonly views: (namespace: string) => View;
  /** Kinds with a failed LIST. Objects of these kinds may exist although this state does not contain them. */
  readonly unlisted: ReadonlySet<string>;
  /** Our resources that are being deleted. */
  readonly departing: readonly Owned[];
  /** Our resources that are not being deleted. */
  readonly owned: readonly Owned[];
}

/** A live resource of our kinds in our ApplySet. */
export interface Owned {
  readonly kind: Kind;
  readonly object: KubeObject;
}

export interface SettleInput extends StatusFacts {
  readonly standings: readonly Standing[];
  /** Live resources that are no longer declared. These resources are kept because other objects refer to them. */
  readonly kept: readonly BlockedDeletion[];
  /** Writer of the statuses: `ours` is this instance, `theirs` is another operator. */
  readonly statuses: 'ours' | 'theirs';
}

export interface BlockedDeletion {
  readonly id: ResourceId;
  readonly kind: Kind;
  readonly reason: string;
}

export interface Settlement {
  readonly changes: readonly StatusChange[];
  readonly readiness: Readiness;
}

/** Returns the statuses that resources should have now, without writing them. */
export function computeStatuses(input: SettleInput, observed: ObservedState, now: string): Settlement {
  return input.statuses === 'ours'
    ? ownStatuses(input, observed, now)
    : { changes: [], readiness: reportedReadiness(input, observed) };
}

/** Returns the readiness of resources from statuses that another operator writes. */
function reportedReadiness({ standings }: SettleInput, { living }: ObservedState): Readiness {
  const reported = standings.flatMap(({ loaded, health }) => {
    const found = loaded.kind === undefined || health === 'held' ? undefined : living(loaded.id);
    if (found === undefined) return [];
    const status = isObject(found.status) ? found.status : {};
    return [{ id: notReady(loaded.id, status), state: reportedState(found) }];
  });
  const idsOf = (expected: ReturnType<typeof reportedState>) =>
    reported.filter(({ state }) => state === expected).map(({ id }) => id);
  const ready = idsOf('ready').map(({ why: _why, ...id }) => id);
  return { ready, progressing: idsOf('progressing'), failed: idsOf('failed') };
}

function ownStatuses(input: SettleInput, observed: ObservedState, now: string): Settlement {
  const changes: StatusChange[] = [];
  const ready: ResourceId[] = [];
  const progressing: NotReady[] = [];
  const failed: NotReady[] = [];
  const notRun: NotReady[] = [];
  const drifted: NotReady[] = [];
  const renewed = startRenewing();
  for (const { loaded, health, findings } of inOrder(input.standings)) {
    const { id, kind } = loaded;
    const found = observed.living(id);
    if (kind === undefined || health === 'held' || found === undefined || !isObject(found.spec)) continue;
    const live = resourceFrom(found, found.spec);
    const around = renewed.over(observed.views(id.namespace ?? ''), id.namespace ?? '');
    const { status, isKnown, isWritten } = computeStatus(input, observed, { kind, live, found, findings, around, now });
    if (!isWritten) renewed.add(id, status);
    if (isKnown && !isWritten) changes.push({ id, live, status, written: kind.written(status) });
    const state = stateOf(status);
    if (state === 'ready') ready.push(id);
    else if (state !== 'degraded') ({ progressing, failed, notRun })[state].push(notReady(id, status));
    const drift = driftOf(id, status);
    if (drift !== undefined) drifted.push(drift);
  }
  changes.push(...farewells(input, observed, now));
  changes.push(...input.kept.flatMap((kept) => keptChange(kept, observed, now)));
  const rare = { ...(notRun.length === 0 ? {} : { notRun }), ...(drifted.length === 0 ? {} : { drifted }) };
  return { changes, readiness: { ready, progressing, failed, ...rare } };
}

/**
 * Returns the statuses of undeclared resources that are being deleted. Such a resource exists until its children are
 * deleted. Only kinds with a phase for deletion get a status here.
 */
function farewells({ standings }: SettleInput, observed: ObservedState, now: string): readonly StatusChange[] {
  const declared = new Set(standings.map(({ loaded }) => keyOf(loaded.id)));
  return observed.departing.flatMap(({ kind, object }): readonly StatusChange[] => {
    const id = idOf(object);
    if (!isObject(object.spec) || declared.has(keyOf(id))) return [];
    const live = resourceFrom(object, object.spec);
    const view = withUnlisted(observed, observed.views(id.namespace ?? ''));
    const status = kind.status(live, { view, refusals: [], failures: [], now });
    if (view.isMissing()) return [];
    if (status.phase !== 'Terminating' || jsonEquals(status, live.status)) return [];
    return [{ id, live, status, written: kind.written(status), departing: true }];
  });
}

/**
 * Returns the status of a kept resource. The run does not wait for its readiness, because the resource is deleted as
 * soon as possible.
 */
function keptChange(
  { id, kind, reason }: BlockedDeletion,
  observed: ObservedState,
  now: string,
): readonly StatusChange[] {
  const found = observed.living(id);
  if (found === undefined || found.metadata.deletionTimestamp !== undefined || !isObject(found.spec)) return [];
  const live = resourceFrom(found, found.spec);
  const view = withUnlisted(observed, observed.views(id.namespace ?? ''));
  const status = kind.status(live, { view, refusals: [], failures: [], kept: reason, now });
  if (view.isMissing() || jsonEquals(status, live.status)) return [];
  return [{ id, live, status, written: kind.written(status) }];
}

export interface SettleDeps extends TellDeps {
  /** If aborted, the wait ends early. */
  readonly enough?: AbortSignal | undefined;
  readonly waiting?: ReportWaiting | undefined;
}

/**
 * Writes statuses until no resource is progressing and every kind was listed, or until the deadline. `deadline` is in
 * milliseconds of the monotonic clock. Each poll sends one LIST per kind.
 */
export async function settle(
  deps: SettleDeps,
  input: SettleInput,
  first: ObservedState,
  look: () => Promise<ObservedState>,
  deadline: number,
): Promise<Omit<StatusesWritten, 'overtaken'> & Settlement & { readonly observed: ObservedState }> {
  const problems: Problem[] = [];
  const startedAt = deps.clock.monotonic();
  const remind = createReminder(deps.clock, deps.waiting);
  let observed = first;
  for (let overtaken = 0; ; ) {
    const now = new Date(deps.clock.now()).toISOString();
    const { changes, readiness } = computeStatuses(input, observed, now);
    const reported = await writeStatuses(deps, changes, now);
    problems.push(...reported.problems);
    if (reported.overtaken.length > 0 && overtaken < OVERTAKEN_MAX && deps.enough?.aborted !== true) {
      overtaken += 1;
      observed = await look();
      continue;
    }
    const settled = observed.unlisted.size === 0 && readiness.progressing.length === 0;
    const isOver = deps.enough?.aborted === true || deps.clock.monotonic() >= deadline;
    if (settled || isOver) {
      const failures = [...reported.failures, ...reported.overtaken.map(overtakenFailure)];
      return { readiness, changes, observed, failures, problems };
    }
    const leftMs = deadline - deps.clock.monotonic();
    remind({ for: 'resources', resources: readiness.progressing, unlisted: [...observed.unlisted], leftMs });
    await deps.clock.sleep(Math.min(leftMs, pauseAfter(deps.clock.monotonic() - startedAt)), deps.enough);
    observed = await look();
  }
}

/**
 * Maximum number of immediate repetitions if objects changed before their statuses were written. After that, the next
 * run writes the statuses.
 */
const OVERTAKEN_MAX = 3;

/** Returns the pause in milliseconds: two seconds at first, five seconds after a minute. */
function pauseAfter(waitedMs: number): number {
  return Math.min(PAUSE_MAX_MS, PAUSE_MS + waitedMs / 20);
}

const PAUSE_MS = 2000;
const PAUSE_MAX_MS = 5000;

export function resourceFrom(object: KubeObject, spec: JsonObject): Resource {
  const { status, ...rest } = object;
  return {
    ...rest,
    apiVersion: object.apiVersion,
    kind: object.kind,
    metadata: object.metadata,
    spec,
    status: isObject(status) ? status : undefined,
  };
}
