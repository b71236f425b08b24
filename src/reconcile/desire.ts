// Turns the healthy resources into everything that should live: themselves and their children, each marked as ours.
// Knows nothing about what lives, but for the uids that owner references need.

import type { Settings, View } from '../kinds/kind.ts';
import { idOf, type KubeObject, keyOf, type OwnerReference } from '../kube/object.ts';
import { formatId, type Problem, type ResourceId } from '../std/problem.ts';
import { labelValue, OWNER, ownerLabel, PART_OF, SOURCE, withLabels } from './labels.ts';
import { problemOf, type Standing } from './resolve.ts';

export interface Desired {
  /** As it is to be applied. A child whose owner does not live yet has no owner reference: apply adds it. */
  readonly object: KubeObject;
  readonly id: ResourceId;
  readonly key: string;
  /** The owning custom resource; absent for what Git itself declares. */
  readonly owner?: ResourceId;
  /** Keys of a Secret whose values are still to be made: see generated.ts. */
  readonly random?: Readonly<Record<string, number>>;
}

export interface DesireInput {
  readonly standings: readonly Standing[];
  readonly views: (namespace: string) => View;
  readonly settings: Settings;
  /** Id of the instance's ApplySet. */
  readonly applySet: string;
  readonly living: (id: ResourceId) => KubeObject | undefined;
}

export interface Desires {
  readonly objects: readonly Desired[];
  /** Owners whose children must stay as they live: `namespace/owner label`. */
  readonly heldOwners: ReadonlySet<string>;
  readonly problems: readonly Problem[];
}

export function desire(input: DesireInput): Desires {
  const applied = input.standings.filter((standing) => standing.verdict !== 'held');
  const own = applied.map((standing) => ownObject(input, standing));
  const families = applied
    .filter((standing) => standing.verdict === 'healthy')
    .map((standing) => ({ standing, children: childrenOf(input, standing) }));

  const claimed = new Map(own.map((desired) => [desired.key, desired.id]));
  const children: Desired[] = [];
  const problems: Problem[] = [];
  const collided = new Set<Standing>();
  for (const family of families) {
    const clash = family.children.find((child) => claimed.has(child.key));
    if (clash !== undefined) {
      problems.push(collision(family.standing, clash.id, claimed.get(clash.key)));
      collided.add(family.standing);
      continue;
    }
    for (const child of family.children) claimed.set(child.key, family.standing.loaded.id);
    children.push(...family.children);
  }
  const held = input.standings.filter((standing) => standing.verdict !== 'healthy' || collided.has(standing));
  return {
    objects: [...own, ...children],
    heldOwners: new Set(held.map(({ loaded }) => heldOwner(loaded.id))),
    problems,
  };
}

/** How a living child is recognised as one of a held owner: by namespace and owner label. */
export function heldOwner(id: ResourceId): string {
  return `${id.namespace ?? ''}/${ownerLabel(id.kind, id.name)}`;
}

function ownObject(input: DesireInput, { loaded }: Standing): Desired {
  const object = withLabels(loaded.object, { [PART_OF]: input.applySet, [SOURCE]: labelValue(loaded.source) });
  return { object, id: loaded.id, key: keyOf(loaded.id) };
}

function childrenOf(input: DesireInput, { loaded }: Standing): Desired[] {
  const { kind, defaulted } = loaded;
  if (kind === undefined || defaulted === undefined) return [];
  const living = input.living(loaded.id);
  const references = living?.metadata.uid === undefined ? [] : [ownerReference(loaded.id, living.metadata.uid)];
  const labels = {
    [PART_OF]: input.applySet,
    [SOURCE]: labelValue(loaded.source),
    [OWNER]: ownerLabel(loaded.id.kind, loaded.id.name),
  };
  const desired = (child: KubeObject): Desired => {
    const marked = withLabels(child, labels);
    const metadata = references.length === 0 ? marked.metadata : { ...marked.metadata, ownerReferences: references };
    const object = { ...marked, metadata };
    const id = idOf(object);
    return { object, id, key: keyOf(id), owner: loaded.id };
  };
  const view = input.views(loaded.id.namespace ?? '');
  return [
    ...kind.children(defaulted, view, input.settings).map(desired),
    ...kind.generated(defaulted, input.settings).map(({ object, random }) => ({ ...desired(object), random })),
  ];
}

/** The controller reference that makes the garbage collector delete a child with its owner. */
export function ownerReference(owner: ResourceId, uid: string): OwnerReference {
  const { apiVersion, kind, name } = owner;
  return { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true };
}

function collision(standing: Standing, child: ResourceId, other: ResourceId | undefined): Problem {
  const whose = other === undefined ? 'another resource' : formatId(other);
  const message = `would make ${formatId(child)}, which ${whose} already makes: rename one of the two`;
  return problemOf(standing.loaded, { code: 'child-collision', severity: 'error', pointer: '/metadata/name', message });
}
