// Plans without a cluster, against a snapshot. Live objects are rendered from the commits of the snapshot. The plan is
// then computed as in a run.

import { normalise } from '#kubernetes/rules/normalise.ts';
import { groupOf, type KubeObject, keyOf } from '#kubernetes/rules/object.ts';
import { formatFields } from '#kubernetes/rules/ownership/fieldsv1.ts';
import { ownedSet } from '#kubernetes/rules/ownership/owned.ts';
import { Failure } from '#std/failure.ts';
import type { Desired } from '../desire/desire.ts';
import type { DigestKey } from '../desire/digest-key.ts';
import { withValues } from '../desire/generated.ts';
import { fieldManager } from '../labels.ts';
import { readMergeTypes } from '../observe/merge-types.ts';
import type { Change, Plan } from '../plan/plan.ts';
import type { Cluster } from '../ports.ts';
import { type Prepared, prepare } from '../prepare.ts';
import type { FleetSource } from '../read/gather.ts';
import { compiledKind } from '../read/kind-table.ts';
import type { RunResult } from '../result.ts';
import { planInstance, type RunDeps, type RunOptions } from '../run.ts';
import { type AssumedKeys, readNamedKeys } from './assumed-keys.ts';
import type { PlanBinding } from './plan-file.ts';
import { snapshotCluster } from './snapshot-cluster.ts';
import { snapshotRegistries } from './snapshot-registries.ts';
import type { KnownObject, StateSnapshot } from './state-snapshot-format.ts';
import { againstOf } from './unknown-here.ts';

export interface PlanAgainstInput {
  readonly deps: Pick<RunDeps, 'clock' | 'cache'>;
  readonly options: RunOptions;
  readonly snapshot: StateSnapshot;
  readonly here: Pick<PlanBinding, 'tool' | 'instance' | 'settings'>;
  /** Sources at the commits of the snapshot. */
  readonly before: readonly FleetSource[];
  /** Sources at the commits to plan. */
  readonly after: readonly FleetSource[];
}

/** Returns the plan. Throws Failure `snapshot-foreign`, and the failure if a commit of the snapshot cannot be read. */
export async function planAgainst(
  input: PlanAgainstInput,
): Promise<{ readonly result: RunResult; readonly prepared: Prepared }> {
  const { snapshot, here, before, after, options } = input;
  if (snapshot.instance !== here.instance) {
    const message = `the snapshot is of instance "${snapshot.instance}", and this is "${here.instance}"`;
    throw new Failure('snapshot-foreign', message);
  }
  const byName = (assumed: AssumedKeys): Cluster =>
    clusterOf(
      input,
      snapshot.objects.map((known) => objectByName(known, fieldManager(options.instance), assumed)),
    );
  const assumed = await readNamedKeys(input, byName(new Map()));
  const names = byName(assumed);
  const base = await prepare(depsOf(input, names, before), options, 'read');
  const [failure] = base.gathered.failures;
  if (failure !== undefined) throw failure;
  const live = await livingOf(input, names, base, assumed);
  const { result, prepared } = await planInstance(depsOf(input, clusterOf(input, live), after), options);
  const plan = withDrift(withoutPreviews(result.plan), snapshot);
  return { prepared, result: { ...result, plan, against: againstOf(snapshot, here, prepared) } };
}

function clusterOf({ snapshot, options }: PlanAgainstInput, live: readonly KubeObject[]): Cluster {
  return snapshotCluster({ snapshot, live, kinds: options.kinds, apiGroup: options.apiGroup });
}

function depsOf({ deps, snapshot }: PlanAgainstInput, cluster: Cluster, sources: readonly FleetSource[]): RunDeps {
  return {
    ...deps,
    cluster,
    // A snapshot contains no statuses, so no source waits. The plan shows all changes, without the order of
    // `dependsOn`.
    sources: sources.map(({ dependsOn: _dependsOn, ...source }) => source),
    registries: snapshotRegistries(snapshot),
    remembered: new Map(),
    random: placeholder,
    digestKey: NO_SECRET_KEY,
    progress: () => undefined,
  };
}

/** Returns a placeholder for generated values. It is not zero, because generated values are never zero. */
function placeholder(bytes: number): Uint8Array {
  return new Uint8Array(bytes).fill(1);
}

/**
 * Key for digests in the old and the new state, so that the digests of both states can be compared. The digests in the
 * cluster are different, because the cluster has another key.
 */
const NO_SECRET_KEY: DigestKey = {
  known: () => Buffer.from('no key'),
  find: async () => undefined,
  make: async () => undefined,
};

/** Returns an object from the facts in the snapshot. */
function objectByName(known: KnownObject, manager: string, assumed: AssumedKeys): KubeObject {
  const { apiVersion, kind } = known.resource;
  const keys = known.keys ?? assumed.get(keyOf(known.resource));
  return {
    apiVersion,
    kind,
    // An entry of our manager, even without fields, marks the object as applied by this instance.
    metadata: metadataOf(known, known.applied === true ? [entry(manager, apiVersion, {})] : undefined),
    data: keys && Object.fromEntries(keys.map((key) => [key, ''])),
  };
}

type Metadata = KubeObject['metadata'];

function metadataOf(known: KnownObject, managedFields: Metadata['managedFields'] | undefined): Metadata {
  const { namespace, name } = known.resource;
  const { uid, generation, labels, annotations, controllers = [], deleting } = known;
  const ownerReferences = controllers.map((owner) => ({ apiVersion: 'v1', ...owner, uid: '', controller: true }));
  return {
    name,
    namespace,
    uid,
    generation,
    labels,
    annotations,
    ownerReferences: ownerReferences.length === 0 ? undefined : ownerReferences,
    deletionTimestamp: deleting === true ? '1970-01-01T00:00:00Z' : undefined,
    managedFields,
  };
}

/**
 * Returns the live objects. Declared objects are rendered from their manifests. Other objects have only the facts in
 * the snapshot.
 */
async function livingOf(
  input: PlanAgainstInput,
  names: Cluster,
  base: Prepared,
  assumed: AssumedKeys,
): Promise<KubeObject[]> {
  const rendered = new Map(base.desires.objects.map((desired) => [desired.key, desired]));
  const typeOf = await readMergeTypes(
    names,
    base.desires.objects.map(({ id }) => id),
  );
  const manager = fieldManager(input.options.instance);
  return input.snapshot.objects.map((known) => {
    const desired = rendered.get(keyOf(known.resource));
    if (desired === undefined || known.state === 'surplus' || known.state === 'foreign')
      return objectByName(known, manager, assumed);
    return asStored(input.options, asRendered(known, desired, typeOf(desired.id), manager));
  });
}

/** Adds defaults to custom resources, because the cluster stores them with defaults. */
function asStored({ kinds, apiGroup }: RunOptions, object: KubeObject): KubeObject {
  const kind = groupOf(object.apiVersion) === apiGroup ? kinds.find((each) => each.kind === object.kind) : undefined;
  if (kind === undefined) return object;
  const { spec } = compiledKind(kind).structural.withDefaults(object);
  return spec === undefined ? object : { ...object, spec };
}

function entry(manager: string, apiVersion: string, fieldsV1: ReturnType<typeof formatFields>) {
  return { manager, operation: 'Apply', apiVersion, fieldsType: 'FieldsV1', fieldsV1 } as const;
}

function asRendered(
  known: KnownObject,
  desired: Desired,
  type: Parameters<typeof normalise>[1],
  manager: string,
): KubeObject {
  const object = normalise(withValues(desired.object, desired.random, placeholder), type);
  const fields = type === undefined ? {} : formatFields(ownedSet(object, type).set);
  // The snapshot says that the object differs, but does not contain the values.
  const apiVersion = known.state === 'drifted' ? DRIFTED : object.apiVersion;
  const { uid, generation, annotations, deleting } = known;
  const metadata: Metadata = {
    ...object.metadata,
    annotations: annotations ? { ...object.metadata.annotations, ...annotations } : object.metadata.annotations,
    uid,
    generation,
    deletionTimestamp: deleting === true ? '1970-01-01T00:00:00Z' : undefined,
    managedFields: [entry(manager, apiVersion, fields)],
  };
  return { ...object, metadata };
}

/**
 * apiVersion in `managedFields` of objects that differ from their manifest. No API has this version, so the plan
 * updates the object.
 */
const DRIFTED = 'drifted';

/** Removes all dry runs, because no server was called. `againstOf` lists their results as one unknown fact. */
function withoutPreviews(plan: Plan): Plan {
  function unasked(change: Change): Change {
    if (change.action === 'delete') return change;
    const { preview: _preview, ...rest } = change;
    return rest;
  }
  return { ...plan, batches: plan.batches.map((batch) => ({ ...batch, changes: batch.changes.map(unasked) })) };
}

/** Adds the paths of fields that differ in the cluster. The snapshot does not contain their values. */
function withDrift(plan: Plan, { objects }: StateSnapshot): Plan {
  const drifted = new Map(objects.map((known) => [keyOf(known.resource), known.drifted ?? []]));
  function reported(change: Change): Change {
    const paths = change.action === 'update' ? (drifted.get(change.key) ?? []) : [];
    if (paths.length === 0) return change;
    const shown = new Map(change.diff.map((each) => [each.path, each]));
    for (const path of paths)
      shown.set(path, { after: '*** (as declared)', ...shown.get(path), path, before: '*** (drifted)' });
    return { ...change, diff: [...shown.values()].sort((a, b) => (a.path < b.path ? -1 : 1)) };
  }
  return { ...plan, batches: plan.batches.map(({ name, changes }) => ({ name, changes: changes.map(reported) })) };
}
