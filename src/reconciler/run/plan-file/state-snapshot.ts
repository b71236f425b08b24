// Writes the state of an instance to a file, for people who may not read the cluster. The file contains names and
// digests of the live objects, and says which objects differ from the commits of the sources.

import { idOf, type KubeObject, keyOf } from '#kubernetes/rules/object.ts';
import { isObject } from '#std/json.ts';
import { fingerprintsBy } from '../diff/fingerprints.ts';
import { applySetId, fieldManager, labelOf, OWNER, PART_OF, PRUNE, RECONCILE, SOURCE } from '../labels.ts';
import { appliedBy } from '../observe/applied-by.ts';
import type { Extent } from '../observe/applyset.ts';
import type { ApiResource } from '../ports.ts';
import type { Prepared } from '../prepare.ts';
import type { PlannedSource } from './format.ts';
import type { PlanBinding } from './plan-file.ts';
import { type KnownObject, SNAPSHOT_VERSION, STATE_SNAPSHOT, type StateSnapshot } from './state-snapshot-format.ts';
import { type FileKind, readVersioned, withDigest } from './versioned-file.ts';

export interface SnapshotInput {
  readonly binding: PlanBinding;
  readonly sources: readonly PlannedSource[];
  /** Time in RFC 3339. */
  readonly createdAt: string;
  /** State at the end of the run. */
  readonly prepared: Pick<Prepared, 'snapshot' | 'gathered' | 'registries' | 'parent' | 'desires' | 'plan'>;
  readonly served: readonly ApiResource[];
  readonly definitions: readonly KubeObject[];
  /** Key for digests of Secrets; undefined if the key does not exist. */
  readonly key: Uint8Array | undefined;
}

export function stateSnapshotOf(input: SnapshotInput): StateSnapshot {
  const { binding, sources, createdAt, prepared, served, definitions } = input;
  const { snapshot, gathered, registries, parent } = prepared;
  const applySet = applySetId(binding.instance, binding.cluster.homeNamespace);
  const ours = (object: KubeObject): boolean => labelOf(object, PART_OF) === applySet;
  const liveObjects = snapshot.objects();
  const declared = [...gathered.loaded.map(({ id }) => id), ...prepared.desires.objects.map(({ id }) => id)];
  const namespaces = new Set([
    ...liveObjects.filter(ours).flatMap(({ metadata }) => metadata.namespace ?? []),
    ...declared.flatMap(({ namespace }) => namespace ?? []),
  ]);
  // Foreign objects are needed only in namespaces of our objects.
  const near = liveObjects
    .filter((each) => ours(each) || (isNear(each, namespaces) && !isRecord(each, binding)))
    .sort(byKey);
  const describe = describer(input, ours);
  return withDigest({
    format: 'skep-snapshot' as const,
    version: SNAPSHOT_VERSION,
    createdAt,
    ...binding,
    sources: [...sources],
    extent: listsOf(parent.extent),
    served: served.map(({ apiVersion, kind, plural, namespaced }) => ({ apiVersion, kind, plural, namespaced })),
    definitions: definitions.map(withoutState),
    namespaces: [...namespaces].sort(),
    images: Object.fromEntries([...registries.images].map(([name, images]) => [name, [...images].sort()])),
    objects: near.map(describe),
  });
}

function isNear({ kind, metadata: { namespace, name } }: KubeObject, namespaces: ReadonlySet<string>): boolean {
  if (namespace !== undefined) return namespaces.has(namespace);
  return kind !== 'Namespace' || namespaces.has(name);
}

/** Returns true for records that the instance keeps in its home namespace, such as approvals and its lease. */
function isRecord({ metadata: { namespace, name } }: KubeObject, { instance, cluster }: PlanBinding): boolean {
  const manager = fieldManager(instance);
  return namespace === cluster.homeNamespace && (name === manager || name.startsWith(`${manager}-`));
}

function listsOf({ groupKinds, namespaces }: Extent): StateSnapshot['extent'] {
  return { groupKinds: [...groupKinds].sort(), namespaces: [...namespaces].sort() };
}

function withoutState({ apiVersion, kind, metadata, spec }: KubeObject) {
  return { apiVersion, kind, metadata: { name: metadata.name }, spec };
}

function describer(
  { binding, prepared: { plan, snapshot }, key }: SnapshotInput,
  ours: (object: KubeObject) => boolean,
): (object: KubeObject) => KnownObject {
  const manager = fieldManager(binding.instance);
  const prints = fingerprintsBy(manager, key);
  const applied = appliedBy(binding.instance);
  const same = new Set(plan.unchanged.map(keyOf));
  const changes = plan.batches.flatMap((batch) => batch.changes);
  const updates = new Map(changes.filter(({ action }) => action === 'update').map((change) => [change.key, change]));
  return (object) => {
    const resource = idOf(object);
    const { uid, generation, deletionTimestamp } = object.metadata;
    const change = updates.get(keyOf(resource));
    const state = change !== undefined ? 'drifted' : same.has(keyOf(resource)) ? 'same' : 'surplus';
    const owned = applied(object) ? prints.ofLive(object, []) : undefined;
    return {
      resource,
      state: ours(object) || state !== 'surplus' ? state : 'foreign',
      uid,
      generation,
      drifted: change?.diff.map(({ path }) => path),
      owned,
      applied: applied(object) ? true : undefined,
      deleting: deletionTimestamp === undefined ? undefined : true,
      ...marksOf(object),
      ...(snapshot.isPartial(resource) ? keysByFields(object) : dataKeysOf(object)),
    };
  };
}

function marksOf(object: KubeObject): Pick<KnownObject, 'labels' | 'annotations' | 'controllers'> {
  const labels = picked(object.metadata.labels, [PART_OF, SOURCE, OWNER]);
  const annotations = picked(object.metadata.annotations, [PRUNE, RECONCILE]);
  const controllers = (object.metadata.ownerReferences ?? [])
    .filter(({ controller }) => controller === true)
    .map(({ kind, name }) => ({ kind, name }));
  return {
    labels,
    annotations,
    controllers: controllers.length === 0 ? undefined : controllers,
  };
}

function picked(all: Readonly<Record<string, string>> = {}, names: readonly string[]) {
  const found = names.flatMap((name): [string, string][] => {
    const value = all[name];
    return value === undefined ? [] : [[name, value]];
  });
  return found.length === 0 ? undefined : Object.fromEntries(found);
}

function dataKeysOf({ kind, data, binaryData }: KubeObject): Pick<KnownObject, 'keys'> {
  if (kind !== 'ConfigMap' && kind !== 'Secret') return {};
  return { keys: [data, binaryData].flatMap((member) => (isObject(member) ? Object.keys(member) : [])).sort() };
}

/**
 * Returns the data keys from managed fields, because only the metadata of foreign objects is read. If no managed field
 * is a data key, the keys are unknown.
 */
function keysByFields({ metadata: { managedFields = [] } }: KubeObject): Pick<KnownObject, 'keys'> {
  const members = managedFields.flatMap(({ fieldsV1 }) => [fieldsV1['f:data'], fieldsV1['f:binaryData']]);
  const found = members.filter(isObject);
  if (found.length === 0) return {};
  const fields = found.flatMap((member) => Object.keys(member));
  const keys = fields.filter((field) => field.startsWith('f:')).map((field) => field.slice(2));
  return { keys: [...new Set(keys)].sort() };
}

function byKey(a: KubeObject, b: KubeObject): number {
  return keyOf(idOf(a)) < keyOf(idOf(b)) ? -1 : 1;
}

export function formatSnapshot(snapshot: StateSnapshot): string {
  return `${JSON.stringify(snapshot)}\n`;
}

const KIND: FileKind = {
  format: 'skep-snapshot',
  version: SNAPSHOT_VERSION,
  schema: STATE_SNAPSHOT,
  says: 'snapshot (runs with `snapshot` in skep.yaml publish one)',
  invalid: 'snapshot-invalid',
  otherVersion: 'snapshot-version',
};

/**
 * Returns the snapshot. Throws Failure `snapshot-invalid` or `snapshot-version`. `name` is the file name or URL for
 * messages.
 */
export function parseSnapshot(text: string, name: string): StateSnapshot {
  return readVersioned(KIND, text, name) as StateSnapshot;
}
