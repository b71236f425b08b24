// Writes the changes of a plan to the cluster, batch after batch. A failed change blocks only the changes that depend
// on it.

import { type KubeObject, keyOf } from '#kubernetes/rules/object.ts';
import type { Conceded } from '#kubernetes/rules/ownership/concede.ts';
import { Failure } from '#std/failure.ts';
import type { ResourceId } from '#std/problem.ts';
import { type Trace, UNTRACED } from '#std/telemetry/trace.ts';
import { ownerReference } from '../desire/desire.ts';
import { type Random, withValues } from '../desire/generated.ts';
import { applyConceding } from '../diff/conceded.ts';
import { takeParts } from '../diff/evictions.ts';
import { RUN } from '../labels.ts';
import type { Change, Plan } from '../plan/plan.ts';
import type { Clock, Cluster } from '../ports.ts';
import { type Gate, gateOf } from '../prune/gate.ts';
import { beginInTurns } from '../turns.ts';
import { createReminder, type ReportWaiting } from '../waiting.ts';
import { blockerOf } from './blockers.ts';
import { OVERTAKEN } from './current.ts';
import { SUSPENDED } from './suspension-watch.ts';

export type ActionOutcome = 'created' | 'configured' | 'unchanged' | 'deleted' | 'held' | 'failed';

export interface ChangeOutcome {
  readonly action: ActionOutcome;
  readonly resource: ResourceId;
  /** Reason why the change failed or was not made. */
  readonly error?: { readonly code: string; readonly message: string };
  /** Custom resource that owns the object, if the object is a child. */
  readonly owner?: ResourceId;
  /** Uid of the created object; absent unless the change created one. */
  readonly uid?: string;
  /** Fields that other managers set during the run. The run left their values in place. */
  readonly conceded?: readonly Conceded[];
}

export interface ApplyDeps {
  readonly cluster: Pick<Cluster, 'apply' | 'remove' | 'schema' | 'get' | 'patch'>;
  readonly clock: Pick<Clock, 'sleep' | 'monotonic'>;
  readonly random: Random;
  /** Receives each outcome as soon as it is known, and the number of changes in the plan. */
  readonly progress: (outcome: ChangeOutcome, planned?: number) => void;
  readonly waiting?: ReportWaiting | undefined;
  readonly trace?: Trace;
}

export interface ApplyInput {
  readonly plan: Plan;
  /** Uids of the live objects by key, for owner references. */
  readonly uids: ReadonlyMap<string, string>;
  /** If true, Git's values replace values of other managers. Children are always applied with force. */
  readonly force: boolean;
  /** Id of the run. The run writes the id on each declared object that it creates. */
  readonly run: string;
}

/** Code of the Failure of a change that was not begun because the process ends. */
export const RUN_STOPPED = 'run-stopped';

/** Code of the Failure of a change that was not begun because the run took too long. */
export const RUN_DEADLINE = 'cluster-deadline';

const NOT_BEGUN: ReadonlySet<string> = new Set([RUN_STOPPED, RUN_DEADLINE, OVERTAKEN, SUSPENDED]);

/**
 * Returns true if the change was not begun, or was abandoned because another writer changed the object. No author has
 * to act.
 */
export function isNotBegun({ code }: Failure): boolean {
  return NOT_BEGUN.has(code);
}

export async function apply(deps: ApplyDeps, input: ApplyInput): Promise<readonly ChangeOutcome[]> {
  const { trace = UNTRACED } = deps;
  const uids = new Map(input.uids);
  const outcomes: ChangeOutcome[] = [...withheldOutcomes(input.plan)];
  for (const outcome of outcomes) deps.progress(outcome);
  const failed = new Map(withheldBlockers(input.plan).map((id) => [keyOf(id), id]));
  let gate: Gate | undefined;
  for (const batch of input.plan.batches) {
    // Deletions are in the last batches, so the outcomes of all other changes are known.
    if (batch.changes.some(({ action }) => action === 'delete')) gate ??= gateOf(input.plan, outcomes);
    const facts = { 'skep.batch': batch.name, 'skep.changes': batch.changes.length };
    const done = await trace.span('batch', facts, () =>
      beginInTurns(batch.changes, (change) => execute(deps, { ...input, gate }, change, uids, failed)),
    );
    for (const [index, change] of batch.changes.entries()) {
      if (done[index]?.some(({ action }) => action === 'failed' || action === 'held') !== true) continue;
      failed.set(change.key, change.resource);
    }
    outcomes.push(...done.flat());
  }
  return outcomes;
}

function withheldOutcomes({ withheld = [] }: Plan): readonly ChangeOutcome[] {
  return withheld.map(({ deletion: _deletion, ...outcome }) => outcome);
}

/**
 * Returns the outcomes of all changes if `notTried` returns an outcome for each of them. undefined if at least one
 * change must be sent.
 */
export function outcomesOfRefused(plan: Plan): readonly ChangeOutcome[] | undefined {
  const outcomes: ChangeOutcome[] = [...withheldOutcomes(plan)];
  const failed = new Map(withheldBlockers(plan).map((id) => [keyOf(id), id]));
  let gate: Gate | undefined;
  for (const { changes } of plan.batches) {
    if (changes.some(({ action }) => action === 'delete')) gate ??= gateOf(plan, outcomes);
    const known = changes.map((change) => notTried(change, failed, gate));
    if (known.includes(undefined)) return undefined;
    outcomes.push(...known.filter((outcome) => outcome !== undefined));
    for (const { key, resource } of changes) failed.set(key, resource);
  }
  return outcomes;
}

/** Returns the outcome of a change that is not sent to the cluster; undefined if the change must be sent. */
function notTried(
  change: Change,
  failed: ReadonlyMap<string, ResourceId>,
  gate: Gate | undefined,
): ChangeOutcome | undefined {
  const { resource } = change;
  const owner = change.action === 'delete' ? undefined : change.owner;
  const barred = gate?.(change);
  if (barred !== undefined) return { action: 'held', error: barred, resource, owner };
  const blocker = blockerOf(change, failed);
  if (blocker !== undefined) {
    const message = `not tried: ${blocker} failed before it`;
    return { action: 'held', error: { code: 'blocked', message }, resource, owner };
  }
  if (change.action === 'delete' || change.preview?.result !== 'refused') return undefined;
  const { code, message } = change.preview;
  return { action: 'failed', error: { code, message }, resource, owner };
}

/** Returns the objects of withheld changes that block other changes. A withheld deletion blocks no change. */
function withheldBlockers({ withheld = [] }: Plan): ResourceId[] {
  return withheld.filter(({ deletion }) => !deletion).map(({ resource }) => resource);
}

/** Makes a change. Returns one outcome, or two if the object is replaced: the deletion and the creation. */
async function execute(
  deps: ApplyDeps,
  input: ApplyInput & { readonly gate: Gate | undefined },
  change: Change,
  uids: Map<string, string>,
  failed: ReadonlyMap<string, ResourceId>,
): Promise<readonly ChangeOutcome[]> {
  const outcomes: ChangeOutcome[] = [];
  const tell = (outcome: ChangeOutcome): void => {
    outcomes.push(outcome);
    deps.progress(outcome, planned);
  };
  const planned = input.plan.batches.reduce((count, { changes }) => count + changes.length, 0);
  const known = notTried(change, failed, input.gate);
  if (known !== undefined) {
    tell(known);
    return outcomes;
  }
  const { resource } = change;
  const whose = { resource, owner: change.action === 'delete' ? undefined : change.owner };
  try {
    if (change.action === 'delete') {
      await deps.cluster.remove(resource, change.uid, change.account);
      tell({ action: 'deleted', resource });
    } else {
      if (change.replaces === true) tell({ ...(await removed(deps, change)), ...whose });
      tell({ ...(await writeChange(deps, input, change, uids)), ...whose });
    }
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const action = isNotBegun(error) ? 'held' : 'failed';
    tell({ action, error: { code: error.code, message: error.message }, ...whose });
  }
  return outcomes;
}

type Write = Exclude<Change, { action: 'delete' }>;

async function writeChange(
  deps: ApplyDeps,
  { force: forced, run }: ApplyInput,
  change: Write,
  uids: Map<string, string>,
): Promise<Omit<ChangeOutcome, 'resource'>> {
  const force = forced || change.owner !== undefined;
  const object = markRun(complete(change, uids, deps.random), change, run);
  const as = change.account === undefined ? {} : { as: change.account };
  if (change.evicted !== undefined) await takeParts(deps.cluster, object, change.evicted, as);
  const { stored, conceded } = await applyConceding(deps.cluster, object, { force, ...as }, change.contents);
  if (stored.metadata.uid !== undefined) uids.set(change.key, stored.metadata.uid);
  const created = change.action === 'create' || change.replaces === true;
  const uid = created ? stored.metadata.uid : undefined;
  return { action: created ? 'created' : 'configured', uid, conceded: conceded.length === 0 ? undefined : conceded };
}

/**
 * Deletes an object and waits until it no longer exists; throws Failure `replace-unfinished` after a minute. Foreground
 * deletion ends only after the deletion of the dependents. If the run ends earlier, the next run creates the object
 * again.
 */
async function removed(
  deps: ApplyDeps,
  { resource, uid = '', account }: Write,
): Promise<Omit<ChangeOutcome, 'resource'>> {
  await deps.cluster.remove(resource, uid, account);
  const deadline = deps.clock.monotonic() + REPLACE_WAIT_MS;
  const remind = createReminder(deps.clock, deps.waiting);
  while ((await deps.cluster.get(resource))?.metadata.uid === uid) {
    const leftMs = deadline - deps.clock.monotonic();
    if (leftMs <= 0) {
      const message = `it still exists ${REPLACE_WAIT_MS / 1000} s after its deletion: the next run creates it again`;
      throw new Failure('replace-unfinished', message);
    }
    remind({ for: 'deletion', resource, leftMs });
    await deps.clock.sleep(REPLACE_POLL_MS);
  }
  return { action: 'deleted' };
}

const REPLACE_WAIT_MS = 60_000;
const REPLACE_POLL_MS = 250;

/**
 * Adds the uid that the live object must still have, generated values, and a reference to the owner. `uids` also has
 * the owners that this run has created.
 */
function complete(change: Write, uids: ReadonlyMap<string, string>, random: Random): KubeObject {
  const { uid, owner } = change;
  const object = withValues(change.object, change.random, random);
  const kept = uid !== undefined && change.replaces !== true;
  const metadata = kept ? { ...object.metadata, uid } : object.metadata;
  const ownerUid = owner === undefined ? undefined : uids.get(keyOf(owner));
  if (owner === undefined || ownerUid === undefined) return { ...object, metadata };
  return { ...object, metadata: { ...metadata, ownerReferences: [ownerReference(owner, ownerUid)] } };
}

/**
 * Writes the run's id on an object that the change creates. A later run recognises the object by the id if this run
 * ends before it records the uid. Children are recognised by their owners instead.
 */
function markRun(object: KubeObject, change: Write, run: string): KubeObject {
  const creates = change.owner === undefined && (change.action === 'create' || change.replaces === true);
  if (!creates && change.touched !== true) return object;
  const annotations = { ...object.metadata.annotations, [RUN]: run };
  return { ...object, metadata: { ...object.metadata, annotations } };
}
