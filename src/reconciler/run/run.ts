// Performs a whole run: plans and, if there are changes, takes the Lease, applies the changes and writes statuses.

import { keyOf } from '#kubernetes/rules/object.ts';
import { Failure } from '#std/failure.ts';
import { UNTRACED } from '#std/telemetry/trace.ts';
import { onlyCurrent } from './apply/current.ts';
import { acquire, holderName, leaseId, readLease } from './apply/lock.ts';
import { SUSPENDED, type SuspensionWatch, watchSuspension } from './apply/suspension-watch.ts';
import { recordRunning } from './catalogue/record-running.ts';
import type { InstanceOptions } from './instance.ts';
import { withoutForbidden } from './plan/plan-readers.ts';
import { admitAgain } from './plan-file/admission.ts';
import type { Clock } from './ports.ts';
import { type Prepared, prepare, sealDigests } from './prepare.ts';
import { release } from './records/quarantine.ts';
import { readSuspension } from './records/suspension.ts';
import type { Paused, RunResult } from './result.ts';
import {
  type Done,
  finishWithoutWriting,
  type WriteDeps,
  type WriteOptions,
  type WriteResult,
  write,
} from './write.ts';

export interface RunDeps extends WriteDeps {
  /** Receives the observed state and the plan at the end of a run. */
  readonly looked?: (prepared: Prepared) => void;
}

export interface RunOptions extends InstanceOptions, WriteOptions {
  /** Unique id of the run, for the lease, the report and the log. */
  readonly id: string;
  /** Host name of the machine, for the lease. */
  readonly host?: string;
  /** If set, the run writes nothing. */
  readonly paused?: Paused;
}

/** Performs one run. Throws Failure if it cannot be carried out. All other failures are in the result. */
export async function reconcile(deps: RunDeps, options: RunOptions): Promise<RunResult> {
  if (options.paused !== undefined) return { ...(await planOnly(deps, options)), paused: options.paused };
  const start = startOf(deps);
  const seeing = readLease(deps, leaseId(options));
  // A suspended run does not await this promise, because it needs no lease.
  seeing.catch(() => undefined);
  const paused = await findPause(deps, options);
  if (paused !== undefined) return { ...(await planOnly(deps, options)), paused };
  const lease = await seeing;
  const { trace = UNTRACED } = deps;
  const first = await trace.span('prepare', {}, () => prepare(deps, options, 'sync'));
  const warnings = await release(deps.cluster, options, first.quarantine, first.gathered.released);
  const idle = await finishWithoutWriting(deps, options, first);
  const ended =
    idle === undefined
      ? await writeLocked({ deps, options, start, first }, lease)
      : { prepared: first, running: idle.running, result: resultOf(deps, options, start, first, idle) };
  if (!('result' in ended)) return { ...withWarnings(await planOnly(deps, options), warnings), paused: ended.paused };
  // The Lease is already released, so a database that does not respond blocks no other run.
  const unrecorded = await recordRunning(deps, options, ended.prepared.registries, ended.running);
  return withWarnings(ended.result, [...warnings, ...unrecorded]);
}

interface Begun {
  readonly deps: RunDeps;
  readonly options: RunOptions;
  readonly start: Start;
  readonly first: Prepared;
}

interface EndOfRun extends Pick<Done, 'running'> {
  readonly result: RunResult;
  readonly prepared: Prepared;
}

/** Writes while the run holds the Lease. If a suspension stops the writes with an error, returns only the pause. */
async function writeLocked(
  { deps, options, start, first }: Begun,
  lease: Awaited<ReturnType<typeof readLease>>,
): Promise<EndOfRun | { readonly paused: Paused }> {
  const lock = await acquire(deps, lease, holderName(options));
  const watch = await watchSuspension(deps, options);
  const assertGoing = (): void => {
    lock.assertHeld();
    watch.assertGoing();
  };
  deps.cluster.fence(assertGoing);
  try {
    const prepared = await underLock(deps, options, first, lock.contended);
    const written = await writeInOrder(deps, options, prepared, assertGoing);
    const result = resultOf(deps, options, start, written.prepared, written.done);
    const { running } = written.done;
    return { prepared: written.prepared, running, result: { ...result, paused: pausedWhile(watch) } };
  } catch (error) {
    const paused = error instanceof Failure && error.code === SUSPENDED ? pausedWhile(watch) : undefined;
    if (paused === undefined) throw error;
    return { paused };
  } finally {
    await watch.end();
    deps.cluster.fence(undefined);
    await lock.release();
  }
}

/** Writes all sources. While the run waits for readiness, writes waiting sources whose dependencies become ready. */
async function writeInOrder(
  deps: RunDeps,
  options: RunOptions,
  first: Prepared,
  assertGoing: () => void,
): Promise<WriteResult> {
  const writeOne = (prepared: Prepared): Promise<WriteResult> =>
    write({ ...deps, cluster: onlyCurrent(deps.cluster, prepared.snapshot.findByKey, assertGoing) }, options, prepared);
  const deadline = deps.clock.monotonic() + options.waitSeconds * 1000;
  let written = await writeOne(first);
  let hasChanged = hasMadeChanges(written.done);
  // A plan file contains no changes of waiting sources.
  while (options.admit === undefined && isToBeContinued(deps, written, hasChanged, deadline)) {
    if (!hasChanged) await deps.clock.sleep(ORDER_POLL_MS, deps.enough);
    const prepared = await sealDigests(deps, options, await prepare(deps, options, 'sync', written.prepared));
    const isFreed = [...written.prepared.waits.keys()].some((label) => !prepared.waits.has(label));
    const next = isFreed ? await writeOne(prepared) : { prepared, done: withoutChange(written.done) };
    hasChanged = hasMadeChanges(next.done);
    written = { prepared, done: inTurn(written.done, next.done) };
  }
  const isLate = options.waitSeconds > 0 && written.prepared.waits.size > 0;
  return { ...written, done: { ...written.done, timedOut: written.done.timedOut || isLate } };
}

/** Milliseconds between two checks for waiting sources that may now be written. */
const ORDER_POLL_MS = 2000;

function hasMadeChanges({ outcomes }: Done): boolean {
  return outcomes.some(({ action }) => action === 'created' || action === 'configured' || action === 'deleted');
}

/** Returns true if a waiting source may become free; after the deadline, only if the last write changed an object. */
function isToBeContinued(
  { clock, enough }: RunDeps,
  { prepared: { waits }, done }: WriteResult,
  hasChanged: boolean,
  deadline: number,
): boolean {
  const passing = [...waits.values()].some(({ passes }) => passes);
  if (!passing || enough?.aborted === true || done.failures.length > 0) return false;
  return hasChanged || clock.monotonic() < deadline;
}

function withoutChange({ readiness, running }: Done): Done {
  return { outcomes: [], readiness, failures: [], problems: [], fields: [], timedOut: false, running };
}

function inTurn(before: Done, next: Done): Done {
  const again = new Set(next.outcomes.map(({ resource }) => keyOf(resource)));
  const standing = before.outcomes.filter(({ resource }) => !again.has(keyOf(resource)));
  return {
    ...next,
    outcomes: [...standing, ...next.outcomes],
    failures: [...before.failures, ...next.failures],
    problems: [...before.problems, ...next.problems],
    fields: [...before.fields, ...next.fields],
  };
}

function withWarnings(result: RunResult, more: readonly Failure[]): RunResult {
  return { ...result, warnings: [...result.warnings, ...more] };
}

function pausedWhile(watch: SuspensionWatch): Paused | undefined {
  const suspension = watch.suspension();
  return suspension === undefined ? undefined : { by: 'suspension', ...suspension };
}

/** Returns the reason why runs write nothing now; undefined if runs may write. */
export async function findPause(
  { cluster }: Pick<RunDeps, 'cluster'>,
  options: Pick<RunOptions, 'paused' | 'instance' | 'homeNamespace'>,
): Promise<Paused | undefined> {
  if (options.paused !== undefined) return options.paused;
  const suspension = await readSuspension(cluster, options);
  return suspension === undefined ? undefined : { by: 'suspension', ...suspension };
}

/** Returns the plan to write. Plans again if the first plan may be stale or lacks digests. */
async function underLock(deps: RunDeps, options: RunOptions, first: Prepared, contended: boolean): Promise<Prepared> {
  // An admission must compare the plan with the state that was read while the run holds the Lease.
  const again = contended || options.admit !== undefined;
  // A watch may not have received the writes of the previous holder yet.
  if (again) deps.cluster.listAgain();
  const prepared = again ? await prepare(deps, options, 'sync', first) : first;
  const sealed = options.admit === undefined ? options : { ...options, admit: admitAgain(prepared.plan) };
  return sealDigests(deps, sealed, prepared);
}

/** Returns the plan, without Lease, syncs and writes. Throws Failure as `reconcile` does, but never `locked`. */
export async function planOnly(deps: RunDeps, options: RunOptions): Promise<RunResult> {
  return (await planInstance(deps, options)).result;
}

export async function planInstance(
  deps: RunDeps,
  options: RunOptions,
): Promise<{ readonly result: RunResult; readonly prepared: Prepared }> {
  const start = startOf(deps);
  const prepared = await prepare(deps, options, 'read');
  const { plan, problems } = withoutForbidden(prepared.plan);
  const readiness = { ready: [], progressing: [], failed: [] };
  const done = { outcomes: [], readiness, failures: [], problems, fields: [], timedOut: false, running: undefined };
  return { prepared, result: resultOf(deps, options, start, { ...prepared, plan }, done) };
}

function resultOf(deps: RunDeps, options: RunOptions, start: Start, prepared: Prepared, done: Done): RunResult {
  const { gathered, registries, snapshot, plan, problems } = prepared;
  deps.looked?.(prepared);
  return {
    id: options.id,
    commits: gathered.commits,
    quarantined: gathered.quarantined,
    waits: [...prepared.waits.values()],
    startedAt: start.at,
    finishedAt: timestamp(deps.clock),
    plan,
    outcomes: done.outcomes,
    problems: [...problems, ...done.problems],
    fields: [...prepared.fields, ...done.fields],
    failures: [...gathered.failures, ...registries.failures, ...snapshot.failures(), ...done.failures],
    warnings: gathered.late,
    catalogue: registries.outcomes,
    readiness: done.readiness,
    timedOut: done.timedOut,
    requests: deps.cluster.requests() - start.requests,
  };
}

interface Start {
  /** Time in RFC 3339. */
  readonly at: string;
  readonly requests: number;
}

/** Starts a run with a new discovery, because kinds may have been added since the previous run. */
function startOf({ clock, cluster }: RunDeps): Start {
  cluster.refresh();
  return { at: timestamp(clock), requests: cluster.requests() };
}

function timestamp(clock: Clock): string {
  return new Date(clock.now()).toISOString();
}
