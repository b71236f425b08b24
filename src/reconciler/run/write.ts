// Makes all writes of a run while it holds the Lease: first the changes, then the statuses.

import type { ListedServer } from '#contracts/running-servers.ts';
import { keyOf } from '#kubernetes/rules/object.ts';
import { Failure } from '#std/failure.ts';
import type { Problem } from '#std/problem.ts';
import { UNTRACED } from '#std/telemetry/trace.ts';
import { type ChangeOutcome, isNotBegun, outcomesOfRefused } from './apply/apply.ts';
import { type ChangeDeps, type Changed, type ChangeOptions, makeChanges } from './apply/change.ts';
import { declareExtent, exactExtent } from './apply/extent.ts';
import { SUSPENDED } from './apply/suspension-watch.ts';
import { runningServers } from './catalogue/running.ts';
import { type FoundField, fieldsLost, problemsOf } from './diff/conceded.ts';
import { fieldManager } from './labels.ts';
import { sameExtent } from './observe/applyset.ts';
import { awaitedKinds, checkServed } from './observe/awaited-kinds.ts';
import { type PrepareDeps, type Prepared, type PrepareOptions, prepare, sealDigests } from './prepare.ts';
import { isOfOthers, sameOrigins } from './prune/origins.ts';
import { saveReadings } from './save-readings.ts';
import { readNeededIssuer } from './settle/needed-issuer.ts';
import { listObservedState, openObservedState, waitSecondsOf } from './settle/observed-state.ts';
import type { Readiness } from './settle/readiness.ts';
import { computeStatuses, type ObservedState, type SettleDeps, settle } from './settle/settle.ts';
import { settleInput } from './settle/settle-input.ts';
import { takeTurn } from './turns.ts';

export interface WriteDeps extends PrepareDeps, ChangeDeps {
  readonly cluster: ChangeDeps['cluster'];
  readonly clock: ChangeDeps['clock'];
  readonly enough?: SettleDeps['enough'];
}

export interface WriteOptions extends PrepareOptions, ChangeOptions {
  /** Seconds to wait for readiness after a change. If 0, the run reads the readiness once. */
  readonly waitSeconds: number;
}

/** Results of a run in addition to its plan. */
export interface Done {
  readonly outcomes: readonly ChangeOutcome[];
  readonly readiness: Readiness;
  readonly failures: readonly Failure[];
  readonly problems: readonly Problem[];
  /** Fields that other managers have set during the run. */
  readonly fields: readonly FoundField[];
  readonly timedOut: boolean;
  /** Running servers; undefined if unknown. */
  readonly running: readonly ListedServer[] | undefined;
}

export interface WriteResult {
  readonly done: Done;
  /**
   * State from which `done` was computed. It is newer than the state at the start of the run if the run called
   * `prepare` again: for kinds that its changes defined, or for sources that waited.
   */
  readonly prepared: Prepared;
}

/**
 * Returns the result of a run that needs no writes and no wait; undefined for any other run. If no earlier source of
 * the instance is a source now, runs write nothing until a person approves the new sources.
 */
export async function finishWithoutWriting(
  deps: WriteDeps,
  options: WriteOptions,
  prepared: Prepared,
): Promise<Done | undefined> {
  const isStranger = isOfOthers(prepared.plan.waiting);
  // A change that the server would refuse is not attempted: its outcome is known without a write.
  const outcomes = outcomesOfRefused(prepared.plan);
  if (outcomes === undefined) return undefined;
  const now = new Date(deps.clock.now()).toISOString();
  const observed = await openObservedState(deps, options, prepared);
  const issuer = await readNeededIssuer(deps.cluster, prepared.resolved.standings, observed.views);
  const input = settleInput(options, prepared, outcomes, issuer, deps.reuse);
  const { changes, readiness } = computeStatuses(input, observed, now);
  const isAwaited = readiness.progressing.length > 0 || [...prepared.waits.values()].some(({ passes }) => passes);
  const waiting = waitSecondsOf(options, prepared) > 0 && isAwaited;
  // If changes are refused, kinds and namespaces are not compared with the ApplySet parent: the objects of these
  // changes are neither created nor deleted yet.
  const { extent, origins } = prepared.parent;
  const exact = outcomes.length > 0 || (sameExtent(exactExtent(options, prepared), extent) && sameOrigins(origins));
  if (!isStranger && (changes.length > 0 || waiting || !exact)) return undefined;
  for (const outcome of outcomes) deps.progress(outcome);
  const running = runningServers(deps, options, prepared.resolved, { observed, changes });
  return { outcomes, readiness, failures: [], problems: [], fields: [], timedOut: false, running };
}

export async function write(deps: WriteDeps, options: WriteOptions, first: Prepared): Promise<WriteResult> {
  const changed = await changeAll(deps, options, first);
  const { prepared, outcomes } = changed;
  const see = (): Promise<ObservedState> => listObservedState(deps, options, prepared);
  const seeing = outcomes.length === 0 ? openObservedState(deps, options, prepared) : see();
  const [observed, failures] = await bothOf(seeing, recordAndSave(deps, options, changed));
  // The deadline of the run does not limit this wait, because all changes are already recorded.
  const waitSeconds = waitSecondsOf(options, prepared);
  const deadline = deps.clock.monotonic() + waitSeconds * 1000;
  const issuer = await readNeededIssuer(deps.cluster, prepared.resolved.standings, observed.views);
  const input = settleInput(options, prepared, outcomes, issuer, deps.reuse);
  const { trace = UNTRACED } = deps;
  const settled = await trace.span('settle', {}, () =>
    settle({ ...deps, instance: options.instance }, input, observed, see, deadline),
  );

  const timedOut = waitSeconds > 0 && settled.readiness.progressing.length > 0;
  const { loaded } = prepared.gathered;
  const manager = fieldManager(options.instance);
  const fields = fieldsLost({ manager, force: options.conflicts === 'force' }, outcomes, loaded);
  const problems = [...problemsOf(fields, loaded, manager), ...settled.problems];
  const { readiness } = settled;
  const running = runningServers(deps, options, prepared.resolved, settled);
  const all = [...failures, ...settled.failures];
  return { prepared, done: { outcomes, readiness, problems, fields, failures: all, timedOut, running } };
}

/**
 * Records the changes, and saves the results of reading manifests. Begins one turn of the event loop later, so that the
 * LIST requests of `write` are sent first.
 */
async function recordAndSave(deps: WriteDeps, options: WriteOptions, changed: AllChanged): Promise<readonly Failure[]> {
  await takeTurn();
  const recording = recordChanges(deps, options, changed);
  const saving = takeTurn().then(() => saveReadings(deps));
  const [failures] = await bothOf(recording, saving);
  return failures;
}

async function recordChanges(
  deps: WriteDeps,
  options: WriteOptions,
  { prepared, outcomes, superset, failures, record }: AllChanged,
): Promise<readonly Failure[]> {
  const unrecorded = await record();
  const complete = outcomes.every(({ action }) => action !== 'failed' && action !== 'held');
  const exact = exactExtent(options, prepared);
  const narrow = complete && !sameExtent(exact, superset);
  const unnarrowed = narrow ? await narrowExtent(deps, options, prepared, exact) : [];
  return [...failures, ...unrecorded, ...unnarrowed];
}

/** Waits for both promises even if one rejects, because all requests must have ended when the Lease is released. */
async function bothOf<A, B>(one: Promise<A>, other: Promise<B>): Promise<readonly [A, B]> {
  await Promise.allSettled([one, other]);
  return Promise.all([one, other]);
}

/**
 * Removes kinds and namespaces without members from the ApplySet parent, and returns the failures. After a failure, the
 * next run removes them.
 */
async function narrowExtent(...change: Parameters<typeof declareExtent>): Promise<readonly Failure[]> {
  try {
    await declareExtent(...change);
    return [];
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return isNotBegun(error) ? [] : [error];
  }
}

interface AllChanged extends Changed {
  readonly prepared: Prepared;
  readonly failures: readonly Failure[];
}

/** Makes the changes. If they define kinds for which other objects wait, also makes the changes of these objects. */
async function changeAll(deps: WriteDeps, options: WriteOptions, first: Prepared): Promise<AllChanged> {
  const made = { prepared: first, failures: [], ...(await makeChanges(deps, options, first)) };
  // With `admit`, a run makes only the changes of a plan file. They include no objects of kinds that the server did not
  // serve.
  if (options.admit !== undefined) return made;
  const awaited = awaitedKinds(first.gathered.loaded, first.snapshot.served, made.outcomes);
  if (awaited.length === 0) return made;
  // The second call of `prepare` reads the inventory, so the changes are recorded first.
  const changed = { ...made, failures: await made.record(), record: async () => [] };
  try {
    return (await checkServed(deps, awaited)) ? await changeAgain(deps, options, changed) : changed;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return error.code === SUSPENDED ? changed : { ...changed, failures: [...changed.failures, error] };
  }
}

async function changeAgain(deps: WriteDeps, options: WriteOptions, changed: AllChanged): Promise<AllChanged> {
  // The new objects may be the first objects that need digests.
  const prepared = await sealDigests(deps, options, await prepare(deps, options, 'sync', changed.prepared));
  const next = await makeChanges(deps, options, prepared);
  const again = new Set(next.outcomes.map(({ resource }) => keyOf(resource)));
  const standing = changed.outcomes.filter(({ action, resource }) => !isStuck(action) || !again.has(keyOf(resource)));
  return { ...next, prepared, outcomes: [...standing, ...next.outcomes], failures: changed.failures };
}

function isStuck(action: ChangeOutcome['action']): boolean {
  return action === 'failed' || action === 'held';
}
