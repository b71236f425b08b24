// Writes a plan, batch after batch; a failed change blocks only what depends on it.
// The only stage that changes anything in the cluster but status. Knows nothing about specs.

import { groupOf, type KubeObject, keyOf } from '../kube/object.ts';
import type { Conceded } from '../kube/ownership/concede.ts';
import { Failure } from '../std/failure.ts';
import { formatId, type ResourceId } from '../std/problem.ts';
import { applyConceding } from './conceded.ts';
import { ownerReference } from './desire.ts';
import { type Random, withValues } from './generated.ts';
import type { Change, Plan } from './plan.ts';
import type { Cluster } from './ports.ts';

export type Action = 'created' | 'configured' | 'unchanged' | 'deleted' | 'held' | 'failed';

export interface Outcome {
  readonly action: Action;
  readonly resource: ResourceId;
  /** Why it failed or is held. */
  readonly error?: { readonly code: string; readonly message: string };
  /** The owning custom resource, of children. */
  readonly owner?: ResourceId;
  /** Fields that others set while the run was under way, and keep. */
  readonly conceded?: readonly Conceded[];
}

export interface ApplyDeps {
  readonly cluster: Pick<Cluster, 'apply' | 'remove' | 'schema'>;
  readonly random: Random;
  /** Told each outcome as it happens. */
  readonly progress: (outcome: Outcome) => void;
}

export interface ApplyInput {
  readonly plan: Plan;
  /** Uids of the living objects, by key: what owner references point at. */
  readonly uids: ReadonlyMap<string, string>;
  /** Take fields over from other managers. Children are always ours. */
  readonly force: boolean;
}

export async function apply(deps: ApplyDeps, input: ApplyInput): Promise<readonly Outcome[]> {
  const uids = new Map(input.uids);
  const outcomes: Outcome[] = [...withheldOutcomes(input.plan)];
  for (const outcome of outcomes) deps.progress(outcome);
  const failed = new Map(withheldBlockers(input.plan).map((id) => [keyOf(id), id]));
  for (const batch of input.plan.batches) {
    const done = await Promise.all(batch.changes.map((change) => execute(deps, input, change, uids, failed)));
    for (const [index, change] of batch.changes.entries()) {
      const outcome = done[index];
      if (outcome?.action === 'failed' || outcome?.action === 'held') failed.set(change.key, change.resource);
    }
    outcomes.push(...done);
  }
  return outcomes;
}

/** What is known to come of a plan before anything of it is done. */
export function withheldOutcomes({ withheld = [] }: Plan): readonly Outcome[] {
  return withheld.map(({ deletion: _deletion, ...outcome }) => outcome);
}

/** What is not deleted is where it was: nothing waits for it. */
function withheldBlockers({ withheld = [] }: Plan): ResourceId[] {
  return withheld.filter(({ deletion }) => !deletion).map(({ resource }) => resource);
}

async function execute(
  deps: ApplyDeps,
  input: ApplyInput,
  change: Change,
  uids: Map<string, string>,
  failed: ReadonlyMap<string, ResourceId>,
): Promise<Outcome> {
  const outcome = await attempt(deps, input, change, uids, failed);
  deps.progress(outcome);
  return outcome;
}

async function attempt(
  deps: ApplyDeps,
  input: ApplyInput,
  change: Change,
  uids: Map<string, string>,
  failed: ReadonlyMap<string, ResourceId>,
): Promise<Outcome> {
  const { resource } = change;
  const owner = change.action === 'delete' ? undefined : change.owner;
  const whose = owner === undefined ? {} : { owner };
  const blocker = blockerOf(change, failed);
  if (blocker !== undefined) {
    const message = `not tried: ${blocker} failed before it`;
    return { action: 'held', resource, error: { code: 'blocked', message }, ...whose };
  }
  try {
    if (change.action === 'delete') {
      await deps.cluster.remove(resource, change.uid);
      return { action: 'deleted', resource };
    }
    const force = input.force || owner !== undefined;
    const object = complete(change, uids, deps.random);
    const { stored, conceded } = await applyConceding(deps.cluster, object, { force });
    if (stored.metadata.uid !== undefined) uids.set(change.key, stored.metadata.uid);
    const lost = conceded.length === 0 ? {} : { conceded };
    return { action: change.action === 'create' ? 'created' : 'configured', resource, ...whose, ...lost };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return { action: 'failed', resource, error: { code: error.code, message: error.message }, ...whose };
  }
}

/** The object with the uid it must still have, with its owner's, which may be known only now, and with made values. */
function complete(
  change: Exclude<Change, { action: 'delete' }>,
  uids: ReadonlyMap<string, string>,
  random: Random,
): KubeObject {
  const { uid, owner } = change;
  const object = withValues(change.object, change.random, random);
  const metadata = uid === undefined ? object.metadata : { ...object.metadata, uid };
  const ownerUid = owner === undefined ? undefined : uids.get(keyOf(owner));
  if (owner === undefined || ownerUid === undefined) return { ...object, metadata };
  return { ...object, metadata: { ...metadata, ownerReferences: [ownerReference(owner, ownerUid)] } };
}

/** What this change needs and what has failed, in words. */
function blockerOf(change: Change, failed: ReadonlyMap<string, ResourceId>): string | undefined {
  if (change.action === 'delete') {
    const referrer = change.referrers.find((each) => failed.has(keyOf(each)));
    return referrer === undefined ? replacementOf(change.resource, failed) : formatId(referrer);
  }
  if (change.owner !== undefined && failed.has(keyOf(change.owner))) return formatId(change.owner);
  const { namespace } = change.resource;
  if (namespace === undefined) return undefined;
  const id = { apiVersion: 'v1', kind: 'Namespace', name: namespace };
  return failed.has(keyOf(id)) ? formatId(id) : undefined;
}

/** The same kind and name elsewhere: an object that moves is deleted only where its new place has taken it. */
function replacementOf(going: ResourceId, failed: ReadonlyMap<string, ResourceId>): string | undefined {
  const group = groupOf(going.apiVersion);
  const replacement = [...failed.values()].find(
    ({ apiVersion, kind, name }) => groupOf(apiVersion) === group && kind === going.kind && name === going.name,
  );
  return replacement === undefined ? undefined : formatId(replacement);
}
