// Computes the adoption of a fleet from ToolHive's operator: finalizers to remove, objects that get another owner, and
// fields that get another manager. The adoption changes no running workload.

import {
  groupOf,
  idOf,
  type KubeObject,
  keyOf,
  type ManagedFieldsEntry,
  type OwnerReference,
} from '#kubernetes/rules/object.ts';
import { differenceBelow, EMPTY_SET, type FieldSet, setOf, union } from '#kubernetes/rules/ownership/fieldset.ts';
import { formatFields, parseFields } from '#kubernetes/rules/ownership/fieldsv1.ts';
import { isObject, jsonEquals } from '#std/json.ts';
import type { ResourceId } from '#std/problem.ts';
import { type Desired, ownerReference } from '../desire/desire.ts';
import { isOtherInstance, labelOf, labelValue, OWNER, ownerLabel, PART_OF, SOURCE, withLabels } from '../labels.ts';

export interface Adoption {
  readonly resource: ResourceId;
  /** Object to store. Its resourceVersion is a precondition. */
  readonly object: KubeObject;
  /** Finalizers of ToolHive's operator that are removed. */
  readonly finalizers: readonly string[];
  /** Managers whose fields become ours. */
  readonly managers: readonly string[];
  /**
   * Custom resource that becomes the owner. Absent if the owner does not change, or if the object is itself a custom
   * resource.
   */
  readonly owner?: ResourceId;
  /** True if skep does not create this object. The next run then deletes the object, within the limits on deletions. */
  readonly surplus: boolean;
  /** Set if skep cannot decide yet whether it creates this object, because no children of the owner were computed. */
  readonly undecided?: true;
}

/** A custom resource that Git declares and that exists in the cluster. */
export interface AdoptableResource {
  readonly id: ResourceId;
  readonly source: string;
  readonly live: KubeObject;
}

export interface AdoptionInput {
  readonly apiGroup: string;
  readonly manager: string;
  readonly applySet: string;
  readonly declared: readonly AdoptableResource[];
  /** Declared objects, other than custom resources, that are in the ApplySet of another instance. */
  readonly ofOthers: readonly KubeObject[];
  /** Live custom resources in the instance's scope, declared or not. */
  readonly customResources: readonly KubeObject[];
  /** Children that the declared resources should have. */
  readonly children: readonly Desired[];
  /** All live objects in the instance's scope. */
  readonly live: readonly KubeObject[];
}

export function adoptions(input: AdoptionInput): readonly Adoption[] {
  const owners = new Map(input.declared.map((declared) => [keyOf(declared.id), declared]));
  const childByKey = new Map(input.children.map((child) => [child.key, child]));
  const statefulSets = new Map<string, AdoptableResource>();
  const decided = new Set(input.children.flatMap(({ owner }) => (owner === undefined ? [] : [keyOf(owner)])));
  for (const { id, owner } of input.children) {
    const declared = owner === undefined ? undefined : owners.get(keyOf(owner));
    if (id.kind === 'StatefulSet' && declared !== undefined) statefulSets.set(`${id.namespace}/${id.name}`, declared);
  }
  return [
    ...input.customResources.flatMap((live) => resourceAdoption(input, live, owners.get(keyOf(idOf(live))))),
    ...input.ofOthers.map((live) => ordinaryAdoption(input, live)),
    ...input.live.flatMap((live): Adoption[] => {
      if (live.metadata.deletionTimestamp !== undefined) return [];
      const desired = childByKey.get(keyOf(idOf(live)));
      const owner = desired?.owner === undefined ? formerOwner(input, live) : owners.get(keyOf(desired.owner));
      if (owner === undefined || !isTheirs(input, live, owner, statefulSets)) return [];
      const adoption = childAdoption(input, live, owner, desired);
      return adoption === undefined ? [] : [decided.has(keyOf(owner.id)) ? adoption : undecided(adoption)];
    }),
  ];
}

/**
 * Returns true for finalizers of ToolHive's operator: `toolhive.stacklok.dev/...` or
 * `mcpserver.toolhive.stacklok.dev/...`.
 */
function isFinalizer(name: string, apiGroup: string): boolean {
  const domain = name.slice(0, Math.max(0, name.indexOf('/')));
  return domain === apiGroup || domain.endsWith(`.${apiGroup}`);
}

function resourceAdoption(input: AdoptionInput, live: KubeObject, declared: AdoptableResource | undefined): Adoption[] {
  const all = live.metadata.finalizers ?? [];
  const finalizers = all.filter((name) => isFinalizer(name, input.apiGroup));
  const left = all.filter((name) => !finalizers.includes(name));
  const fields = declared === undefined ? undefined : transfer(input, live, undefined, () => true);
  if (finalizers.length === 0 && fields === undefined) return [];
  // The label of another instance's ApplySet is replaced by our label.
  const isMarked = declared !== undefined && labelOf(live, PART_OF) !== undefined;
  const marked = isMarked ? withLabels(live, { [PART_OF]: input.applySet }) : live;
  const { finalizers: _all, ...metadata } = marked.metadata;
  const kept = { ...metadata, finalizers: left.length === 0 ? undefined : left };
  const object = { ...marked, metadata: { ...kept, managedFields: fields?.entries ?? live.metadata.managedFields } };
  return [{ resource: idOf(live), object, finalizers, managers: fields?.managers ?? [], surplus: false }];
}

/** Returns the adoption of an object that is not a custom resource. Only fields of other skep instances become ours. */
function ordinaryAdoption(input: AdoptionInput, live: KubeObject): Adoption {
  const fields = transfer(input, live, undefined, (manager) => isOtherInstance(manager, input.manager));
  const { metadata, ...rest } = withLabels(live, { [PART_OF]: input.applySet });
  const managedFields = fields?.entries ?? metadata.managedFields;
  const object = { ...rest, metadata: { ...metadata, managedFields } };
  return { resource: idOf(live), object, finalizers: [], managers: fields?.managers ?? [], surplus: false };
}

/**
 * Returns the declared custom resource that is the controller of the object; undefined if there is no such resource.
 */
function formerOwner({ declared }: AdoptionInput, live: KubeObject): AdoptableResource | undefined {
  const uid = controllerOf(live)?.uid;
  return uid === undefined ? undefined : declared.find((each) => each.live.metadata.uid === uid);
}

function controllerOf(live: KubeObject): OwnerReference | undefined {
  return live.metadata.ownerReferences?.find(({ controller }) => controller === true);
}

/**
 * Returns true if ToolHive's operator or one of its proxies created the object for this owner. Proof is a controller
 * reference to the owner, or the labels that a proxy sets on its StatefulSet and Services. If only the labels match,
 * the object must have no controller, or the owner's StatefulSet as controller.
 */
function isTheirs(
  input: AdoptionInput,
  live: KubeObject,
  owner: AdoptableResource,
  statefulSets: ReadonlyMap<string, AdoptableResource>,
): boolean {
  if (labelOf(live, PART_OF) === input.applySet) return false;
  const controller = controllerOf(live);
  if (controller?.uid === owner.live.metadata.uid) return true;
  const set = `${live.metadata.namespace}/${controller?.name}`;
  const free = controller === undefined || (controller.kind === 'StatefulSet' && statefulSets.get(set) === owner);
  return free && labelOf(live, 'toolhive') === 'true' && labelOf(live, 'toolhive-name') === owner.id.name;
}

function childAdoption(
  input: AdoptionInput,
  live: KubeObject,
  owner: AdoptableResource,
  desired: Desired | undefined,
): Adoption | undefined {
  const { uid } = owner.live.metadata;
  if (uid === undefined) return undefined;
  const owned = controllerOf(live)?.uid === uid;
  const reference = ownerReference(owner.id, uid);
  const fields = transfer(input, live, desired, (manager) => !STAYS.test(manager));
  const marked = withLabels(live, {
    [PART_OF]: input.applySet,
    [SOURCE]: labelValue(owner.source),
    [OWNER]: ownerLabel(owner.id.kind, owner.id.name),
  });
  const metadata = {
    ...marked.metadata,
    ownerReferences: owned ? (live.metadata.ownerReferences ?? []) : [reference],
    managedFields: fields?.entries ?? live.metadata.managedFields,
  };
  return {
    resource: idOf(live),
    object: { ...marked, metadata },
    finalizers: [],
    managers: fields?.managers ?? [],
    owner: owned ? undefined : owner.id,
    surplus: desired === undefined,
  };
}

function undecided(adoption: Adoption): Adoption {
  return { ...adoption, surplus: false, undecided: true };
}

/** Managers that keep their fields of a child: people, and Kubernetes' own controllers. */
const STAYS = /^(kubectl(-.*)?|kube-controller-manager|.*autoscaler.*)$/;

interface Transfer {
  readonly entries: ManagedFieldsEntry[];
  readonly managers: readonly string[];
}

/**
 * Returns the managed fields, with the fields of managers for which `takes` returns true as ours. The next run then
 * removes fields that Git does not declare. undefined if no entry changes.
 */
function transfer(
  { manager, apiGroup }: AdoptionInput,
  live: KubeObject,
  desired: Desired | undefined,
  takes: (manager: string) => boolean,
): Transfer | undefined {
  const entries = live.metadata.managedFields ?? [];
  const taken = entries.filter((entry) => {
    const other = entry.manager !== manager || entry.operation !== 'Apply';
    return other && !entry.subresource && hasSameFields(entry, live, apiGroup) && takes(entry.manager);
  });
  if (taken.length === 0) return undefined;
  const ours = entries.filter(
    (entry) => entry.manager === manager && entry.operation === 'Apply' && !entry.subresource,
  );
  const sets = [...ours, ...taken].map(({ fieldsV1 }) => parseFields(fieldsV1) ?? EMPTY_SET);
  const set = differenceBelow(sets.reduce(union, EMPTY_SET), notTaken(desired?.object));
  const entry: ManagedFieldsEntry = {
    manager,
    operation: 'Apply',
    apiVersion: live.apiVersion,
    fieldsType: 'FieldsV1',
    fieldsV1: formatFields(set),
  };
  const rest = entries.filter((each) => !taken.includes(each) && !ours.includes(each));
  const managers = [...new Set(taken.map((each) => each.manager))].sort();
  return jsonEquals(rest, entries) ? undefined : { entries: [entry, ...rest], managers };
}

/**
 * Returns true if the paths of the entry are valid for the live object. All versions of our kinds share one schema.
 * Versions of other kinds may rename fields.
 */
function hasSameFields({ apiVersion }: ManagedFieldsEntry, live: KubeObject, apiGroup: string): boolean {
  return apiVersion === live.apiVersion || [apiVersion, live.apiVersion].every((each) => groupOf(each) === apiGroup);
}

/**
 * Returns fields that must not become ours: finalizers, and `spec.replicas` if the desired object does not set the
 * number. Otherwise the next run would reset the number of replicas to one.
 */
function notTaken(desired: KubeObject | undefined): FieldSet {
  const spec = isObject(desired?.spec) ? desired.spec : {};
  const finalizers = [['f:metadata', 'f:finalizers']];
  return setOf(spec.replicas === undefined ? [...finalizers, ['f:spec', 'f:replicas']] : finalizers);
}
