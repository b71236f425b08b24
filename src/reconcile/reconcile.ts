// The whole run on one screen: prepare, and where something is to be written: lock, apply, settle, release.
// Knows nothing about HTTP, Git's protocol, files or what a spec means.

import type { Kind, Settings } from '../kinds/kind.ts';
import type { PolicySet } from '../kube/policy/read.ts';
import type { ResourceId } from '../std/problem.ts';
import { type Trace, UNTRACED } from '../std/trace.ts';
import { type Outcome, withheldOutcomes } from './apply.ts';
import { sameExtent } from './applyset.ts';
import type { Remembered } from './certainty.ts';
import { onlyCurrent } from './current.ts';
import type { DigestKey } from './digest-key.ts';
import type { FleetSource } from './gather.ts';
import type { Random } from './generated.ts';
import type { GuardLimits } from './guard.ts';
import { fieldManager } from './labels.ts';
import { acquire, look } from './lock.ts';
import { type Admission, admitAgain } from './plan-admission.ts';
import { withoutForbidden } from './plan-readers.ts';
import type { Clock, Cluster } from './ports.ts';
import { type Prepared, prepare } from './prepare.ts';
import { type Quarantine, release } from './quarantine.ts';
import type { RegistryDeps } from './registries.ts';
import type { Paused, RunResult } from './result.ts';
import { judge } from './settle.ts';
import { settleInput } from './settle-input.ts';
import type { LoadCache } from './source-file.ts';
import { readSuspension } from './suspension.ts';
import { type Done, exactExtent, sightOf, waitSecondsOf, write } from './write.ts';

export interface RunDeps {
  readonly cluster: Cluster;
  readonly clock: Clock;
  readonly sources: readonly FleetSource[];
  /** Absent: registry sources are not synced by this run. */
  readonly registries?: RegistryDeps;
  readonly cache: LoadCache;
  readonly remembered: Remembered;
  /** For values that are made once, such as keys. */
  readonly random: Random;
  readonly digestKey: DigestKey;
  /** Told each change as it is made. */
  readonly progress: (outcome: Outcome) => void;
  /** Told what a run has seen and planned, at its end. */
  readonly looked?: (prepared: Prepared) => void;
  /** Absent: nobody measures. */
  readonly trace?: Trace;
}

export interface RunOptions {
  /** Unique per run: in the lease, the report and the log. */
  readonly id: string;
  readonly instance: string;
  /** Where the instance's Lease and ApplySet parent live. */
  readonly homeNamespace: string;
  readonly apiGroup: string;
  readonly kinds: readonly Kind[];
  readonly settings: Omit<Settings, 'digest'>;
  /** Of files of the instance's own; absent: none. */
  readonly policies?: PolicySet;
  readonly namespaces: readonly string[];
  /** `cluster`: custom resources that others applied by hand get children and status, too. Absent: `git`. */
  readonly scope?: 'git' | 'cluster';
  /** False: another operator makes the children of the custom resources, and writes their status. */
  readonly children: boolean;
  readonly prune: boolean;
  readonly limits: GuardLimits;
  readonly conflicts: 'report' | 'force';
  /** How long to wait for readiness after a change; 0 looks once. */
  readonly waitSeconds: number;
  /** `name/version`. */
  readonly tooling: string;
  /** Absent: whatever is planned is done. */
  readonly admit?: Admission;
  /** `living`: registries are synced as they live, for nothing that Git says of them is applied. Absent: `declared`. */
  readonly registriesAs?: 'declared' | 'living';
  /** Throws Failure where the run must not go on for what was rolled back. Asked each time that the world is looked at. */
  readonly fits?: (quarantine: Quarantine) => void;
  /** Present: the run writes nothing, whether the instance is suspended or not. */
  readonly paused?: Paused;
}

/**
 * One run. Throws Failure where nothing could be done at all: `cluster-unreachable`, `locked`, ...; everything else is
 * in the result.
 */
export async function reconcile(deps: RunDeps, options: RunOptions): Promise<RunResult> {
  const paused = await pausedBy(deps, options);
  if (paused !== undefined) return { ...(await planOnly(deps, options)), paused };
  const start = startOf(deps);
  const seen = await look(deps, leaseId(options));
  const { trace = UNTRACED } = deps;
  const first = await trace.span('prepare', {}, () => prepare(deps, options, 'sync'));
  const warnings = await release(deps.cluster, options, first.quarantine, first.gathered.released);
  const idle = await nothingToWrite(deps, options, first);
  if (idle !== undefined) return { ...resultOf(deps, options, start, first, idle), warnings };

  const lock = await acquire(deps, seen, options.id);
  deps.cluster.fence(lock.assertHeld);
  try {
    const prepared = await underLock(deps, options, first, lock.contended);
    const cluster = onlyCurrent(deps.cluster, prepared.snapshot.objects(), lock.assertHeld);
    const written = await write({ ...deps, cluster }, options, prepared);
    return { ...resultOf(deps, options, start, written.prepared, written.done), warnings };
  } finally {
    deps.cluster.fence(undefined);
    await lock.release();
  }
}

/** Why a run writes nothing now; undefined where it may. */
export async function pausedBy(
  { cluster }: Pick<RunDeps, 'cluster'>,
  options: Pick<RunOptions, 'paused' | 'instance' | 'homeNamespace'>,
): Promise<Paused | undefined> {
  if (options.paused !== undefined) return options.paused;
  const suspension = await readSuspension(cluster, options);
  return suspension === undefined ? undefined : { by: 'suspension', ...suspension };
}

/** What is true now that nobody else writes, with digests for all Secrets. */
async function underLock(deps: RunDeps, options: RunOptions, first: Prepared, contended: boolean): Promise<Prepared> {
  // What an admission compares is compared under the lock.
  const again = contended || options.admit !== undefined;
  const prepared = again ? await prepare(deps, options, 'sync', first) : first;
  if (!prepared.unsealed) return prepared;
  await deps.digestKey.make(deps.random);
  const sealed = options.admit === undefined ? options : { ...options, admit: admitAgain(prepared.plan) };
  return prepare(deps, sealed, 'sync', prepared);
}

/** The plan alone: nothing is locked, synced or written. Throws Failure as `reconcile` does, but never `locked`. */
export async function planOnly(deps: RunDeps, options: RunOptions): Promise<RunResult> {
  return (await planned(deps, options)).result;
}

/** The same, with what it was made of. */
export async function planned(
  deps: RunDeps,
  options: RunOptions,
): Promise<{ readonly result: RunResult; readonly prepared: Prepared }> {
  const start = startOf(deps);
  const prepared = await prepare(deps, options, 'read');
  const { plan, problems } = withoutForbidden(prepared.plan);
  const readiness = { ready: [], progressing: [], failed: [] };
  const done = { outcomes: [], readiness, failures: [], problems, timedOut: false };
  return { prepared, result: resultOf(deps, options, start, { ...prepared, plan }, done) };
}

/** What a run tells that has nothing to write or to wait for; undefined where there is something. */
async function nothingToWrite(deps: RunDeps, options: RunOptions, prepared: Prepared): Promise<Done | undefined> {
  const sight = await sightOf(deps, options, prepared.snapshot);
  const { changes, readiness } = judge(settleInput(options, prepared, []), sight, timestamp(deps.clock));
  const waiting = waitSecondsOf(options, prepared) > 0 && readiness.progressing.length > 0;
  // What is withheld is neither there yet nor gone.
  const { withheld } = prepared.plan;
  const exact = withheld !== undefined || sameExtent(exactExtent(options, prepared), prepared.parent.extent);
  if (prepared.plan.batches.length > 0 || changes.length > 0 || waiting || !exact) return undefined;
  const outcomes = withheldOutcomes(prepared.plan);
  for (const outcome of outcomes) deps.progress(outcome);
  return { outcomes, readiness, failures: [], problems: [], timedOut: false };
}

function resultOf(deps: RunDeps, options: RunOptions, start: Start, prepared: Prepared, done: Done): RunResult {
  const { gathered, registries, snapshot, plan, problems } = prepared;
  deps.looked?.(prepared);
  return {
    id: options.id,
    commits: gathered.commits,
    quarantined: gathered.quarantined,
    startedAt: start.at,
    finishedAt: timestamp(deps.clock),
    plan,
    outcomes: done.outcomes,
    problems: [...problems, ...done.problems],
    failures: [...gathered.failures, ...registries.failures, ...snapshot.failures(), ...done.failures],
    warnings: [],
    catalogue: registries.outcomes,
    readiness: done.readiness,
    timedOut: done.timedOut,
    requests: deps.cluster.requests() - start.requests,
  };
}

interface Start {
  /** RFC 3339. */
  readonly at: string;
  readonly requests: number;
}

/** Kinds come and go between the runs of a process that stays. */
function startOf({ clock, cluster }: RunDeps): Start {
  cluster.refresh();
  return { at: timestamp(clock), requests: cluster.requests() };
}

export function leaseId({ instance, homeNamespace: namespace }: RunOptions): ResourceId {
  return { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', namespace, name: fieldManager(instance) };
}

function timestamp(clock: Clock): string {
  return new Date(clock.now()).toISOString();
}
