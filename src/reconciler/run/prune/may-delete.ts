// Decides whether one undeclared live object may be deleted, and if not, why. Runs, plans, explanations, statuses and
// plan files use this decision.

import { idOf, type KubeObject, keyOf, keyOfObject } from '#kubernetes/rules/object.ts';
import { formatId, type ResourceId } from '#std/problem.ts';
import { heldOwner } from '../desire/desire.ts';
import { labelOf, OWNER, ownerLabel, SOURCE } from '../labels.ts';
import { type LeftAlone, protectionOf } from './left-alone.ts';

/** `stay`: the object must not be deleted while the reason is true. `wait`: `skep approve` can allow the deletion. */
export type DeletionDecision =
  | { readonly decision: 'go' }
  | { readonly decision: 'stay'; readonly reason: string; readonly referredTo?: true; readonly leaving?: true }
  | { readonly decision: 'wait'; readonly reason: string };

export interface DeletionFacts {
  readonly prune: boolean;
  /** Returns true if the instance may touch the namespace. */
  readonly allows: (namespace: string) => boolean;
  /** Returns true if the limits of a source allow it to declare the object. `source` is a value of the source label. */
  readonly couldDeclare: (source: string, object: KubeObject) => boolean;
  /** Returns true if the limits of the object's own source allow it to declare the object. */
  readonly withinLimits: (object: KubeObject) => boolean;
  /** Returns true if this instance has applied the object, by its managed fields. */
  readonly applied: (object: KubeObject) => boolean;
  /** Declared objects to leave alone, by key. */
  readonly leftAlone: ReadonlyMap<string, LeftAlone>;
  /** Reasons by `namespace/owner label`, for owners that have a protected child. */
  readonly protectedOwners: ReadonlyMap<string, string>;
  /** Keys of invalid resources, and of resources that depend on them. */
  readonly heldKeys: ReadonlySet<string>;
  /** `namespace/owner label` of owners whose children must be kept. */
  readonly heldOwners: ReadonlySet<string>;
  /** Our kinds, in lower case as in owner labels, that could not be listed. */
  readonly unknownOwnerKinds: ReadonlySet<string>;
  /** Values of the source label of the configured sources. */
  readonly sources: ReadonlySet<string>;
  /** Reason why no object of a source may be deleted, by value of the source label. */
  readonly suspended: ReadonlyMap<string, string>;
  /** Sentence about the wait of a source, by value of the source label. */
  readonly awaiting: ReadonlyMap<string, string>;
  /**
   * Keys of the objects in the commit that a rollback of the source excludes, by value of the source label. `unknown`
   * if the commit could not be read.
   */
  readonly outOfUse: ReadonlyMap<string, ReadonlySet<string> | 'unknown'>;
  /**
   * Returns true for a child of a deleted resource that was applied by hand. The garbage collector deletes the child.
   */
  readonly abandoned: (object: KubeObject) => boolean;
  /** Returns the objects that refer to the object after the run. */
  readonly referrers: (target: ResourceId) => readonly ResourceId[];
  /** Our kinds that could not be listed. Their objects may refer to any object. */
  readonly unknownReferrers: readonly string[];
  /** Namespaces with objects to be kept, and kinds of objects to be kept, each as `Kind.group`. */
  readonly inhabited: { readonly namespaces: ReadonlySet<string>; readonly kinds: ReadonlySet<string> };
  /** Returns why the object waits for approval; undefined if it does not wait. */
  readonly waits: (object: KubeObject) => string | undefined;
}

export function mayDelete(object: KubeObject, facts: DeletionFacts): DeletionDecision {
  const reason = protection(object, facts) ?? bar(object, facts) ?? problem(object, facts) ?? remains(object, facts);
  if (reason !== undefined) return { decision: 'stay', reason };
  const reference = referenceReason(object, facts);
  if (reference !== undefined) return { decision: 'stay', reason: reference, referredTo: true };
  if (facts.abandoned(object))
    return { decision: 'stay', reason: 'its owner was deleted, and the garbage collector deletes it', leaving: true };
  if (object.metadata.deletionTimestamp !== undefined)
    return { decision: 'stay', reason: leavingReason(object), leaving: true };
  const waits = facts.waits(object);
  return waits === undefined ? { decision: 'go' } : { decision: 'wait', reason: waits };
}

/** Returns the value of the source label; empty without the label. */
export function sourceOf(object: KubeObject): string {
  return labelOf(object, SOURCE) ?? '';
}

/** Returns the owners by the owner label and by the controller reference. A person may have removed the label. */
export function ownersOf(object: KubeObject): string[] {
  const label = labelOf(object, OWNER);
  const controllers = (object.metadata.ownerReferences ?? []).filter(({ controller }) => controller === true);
  return [...(label === undefined ? [] : [label]), ...controllers.map(({ kind, name }) => ownerLabel(kind, name))];
}

/** Returns the custom resource that is the controller of a child; undefined for other objects. */
export function ownerOf(live: KubeObject | undefined): ResourceId | undefined {
  if (live === undefined || labelOf(live, OWNER) === undefined) return undefined;
  const controller = live.metadata.ownerReferences?.find((each) => each.controller === true);
  if (controller === undefined) return undefined;
  const { apiVersion, kind, name } = controller;
  const { namespace } = idOf(live);
  return { apiVersion, kind, name, namespace };
}

/** Returns a reason if a person has marked the object to be kept. */
function protection(object: KubeObject, { leftAlone, protectedOwners }: DeletionFacts): string | undefined {
  const resource = idOf(object);
  const asked = leftAlone.get(keyOf(resource));
  if (asked !== undefined) return asked.reason;
  const own = protectionOf(object);
  return own === undefined ? protectedOwners.get(heldOwner(resource)) : `it has ${own}`;
}

/** Returns a reason if this instance, or the object's source, is not allowed to delete the object. */
function bar(object: KubeObject, facts: DeletionFacts): string | undefined {
  const { namespace, uid } = object.metadata;
  if (!facts.prune) return 'apply.prune is false';
  if (uid === undefined) return 'it has no uid, without which nothing is deleted';
  if (namespace !== undefined && !facts.allows(namespace))
    return `namespace ${namespace} is not one that this instance may touch (namespaces of skep.yaml)`;
  if (!facts.withinLimits(object))
    return `source ${sourceOf(object)} may not declare such an object (sources[].allow of skep.yaml)`;
  // A copy of one of our objects has our labels, but no managed fields of this instance.
  if (!facts.applied(object)) return 'it has the labels of this instance, which never applied it: it may be a copy';
  return undefined;
}

/**
 * Returns a reason if the object may only seem undeclared because of a problem. A problem must never cause a deletion.
 */
function problem(object: KubeObject, facts: DeletionFacts): string | undefined {
  const { namespace = '' } = object.metadata;
  const owners = ownersOf(object);
  if (facts.heldKeys.has(keyOfObject(object))) return 'its manifest, or one that it depends on, is invalid';
  const held = owners.find((owner) => facts.heldOwners.has(`${namespace}/${owner}`));
  if (held !== undefined) return `the children of ${held} are not changed in this run`;
  const unknown = owners.find((owner) => facts.unknownOwnerKinds.has(owner.split('.')[0] ?? ''));
  if (unknown !== undefined) return `its owner ${unknown} could not be read`;
  return suspension(facts, object) ?? facts.awaiting.get(sourceOf(object)) ?? movedAway(facts, object);
}

/**
 * Returns a reason if a source that could not be read may declare the object. The source may have been renamed, or the
 * object may have moved to that source.
 */
function suspension({ sources, suspended, couldDeclare }: DeletionFacts, object: KubeObject): string | undefined {
  const source = sourceOf(object);
  const own = suspended.get(source);
  if (own !== undefined) return `source ${source}: ${own}`;
  const other = [...suspended].find(([label]) => couldDeclare(label, object));
  if (other === undefined) return undefined;
  const [label, reason] = other;
  const why = sources.has(source) ? 'it may have moved to' : 'its source is not known, and it may belong to';
  return `${why} source ${label}: ${reason}`;
}

/**
 * Returns a reason if the object moved to a rolled-back source, whose applied commit does not declare it yet. The
 * former source no longer declares the object.
 */
function movedAway({ outOfUse, couldDeclare }: DeletionFacts, object: KubeObject): string | undefined {
  const key = keyOfObject(object);
  const found = [...outOfUse].find(
    ([label, keys]) => label !== sourceOf(object) && (keys === 'unknown' ? couldDeclare(label, object) : keys.has(key)),
  );
  if (found === undefined) return undefined;
  const [label, keys] = found;
  const what = keys === 'unknown' ? 'may declare' : 'declares';
  return `source ${label} ${what} it in the commit that a rollback took out of use`;
}

/**
 * Returns a reason if objects inside the object must be kept. The deletion of a namespace deletes all objects in the
 * namespace. The deletion of a definition deletes all objects of its kind.
 */
function remains(object: KubeObject, { inhabited }: DeletionFacts): string | undefined {
  if (isNamespace(object) && inhabited.namespaces.has(object.metadata.name)) return 'something in it is kept';
  const defined = definedKind(object);
  return defined !== undefined && inhabited.kinds.has(defined) ? 'an object of that kind is kept' : undefined;
}

export function isNamespace({ apiVersion, kind }: Pick<KubeObject, 'apiVersion' | 'kind'>): boolean {
  return apiVersion === 'v1' && kind === 'Namespace';
}

/** Returns the kind that a CustomResourceDefinition defines, as `Kind.group`; undefined for other objects. */
export function definedKind({ apiVersion, kind, spec }: KubeObject): string | undefined {
  if (kind !== 'CustomResourceDefinition' || !apiVersion.startsWith('apiextensions.k8s.io/')) return undefined;
  const { names, group } = (spec ?? {}) as { names?: { kind?: unknown }; group?: unknown };
  return `${String(names?.kind)}.${String(group)}`;
}

/**
 * Returns a reason if a kept object refers to the object. Returns none for a child, which is deleted with its owner.
 */
function referenceReason(object: KubeObject, { referrers, unknownReferrers }: DeletionFacts): string | undefined {
  if (labelOf(object, OWNER) !== undefined) return undefined;
  const resource = idOf(object);
  const [staying, ...more] = referrers(resource);
  if (staying !== undefined) {
    const others = more.length === 0 ? '' : `, and ${more.length} more`;
    return `${formatId(staying)} still refers to it${others}`;
  }
  const [unknown] = unknownReferrers;
  // A reference contains only a name, and names an object in the namespace of the referring object.
  return unknown === undefined || resource.namespace === undefined
    ? undefined
    : `${unknown} could not be listed, and one may refer to it`;
}

/** Returns why an object that is being deleted still exists. A second request would change nothing. */
function leavingReason({ metadata: { finalizers = [] } }: KubeObject): string {
  const waits = finalizers.length === 0 ? '' : `, and waits for ${finalizers.join(', ')}`;
  return `it is being deleted${waits}`;
}
