// Reads and writes the ApplySet parent: a ConfigMap that names the kinds and namespaces of our members. With the
// ApplySet parent, a run finds objects of an earlier run that was killed. Format: KEP-3659, which kubectl reads.

import type { KubeObject } from '#kubernetes/rules/object.ts';
import { parseJson } from '#std/json.ts';
import type { ResourceId } from '#std/problem.ts';
import { fieldManager } from '../labels.ts';
import { formatGroupKind, type GroupKind, groupKindOf, parseGroupKind } from './snapshot.ts';

const ID = 'applyset.kubernetes.io/id';
const TOOLING = 'applyset.kubernetes.io/tooling';
const GROUP_KINDS = 'applyset.kubernetes.io/contains-group-kinds';
const NAMESPACES = 'applyset.kubernetes.io/additional-namespaces';
/**
 * Annotation that is set once an inventory exists. If the annotation is set and the inventory is missing, the inventory
 * was lost.
 */
const INVENTORY = 'skep.dev/inventory';
/** Annotation with the origins of the sources: the places from which the sources are read. */
const ORIGINS = 'skep.dev/sources';

export interface Extent {
  /** Kinds with members, each as `Kind.group`. */
  readonly groupKinds: ReadonlySet<string>;
  readonly namespaces: ReadonlySet<string>;
}

export function parentId(instance: string, homeNamespace: string): ResourceId {
  return { apiVersion: 'v1', kind: 'ConfigMap', namespace: homeNamespace, name: fieldManager(instance) };
}

export function extentOf(parent: KubeObject | undefined): Extent {
  const annotations = parent?.metadata.annotations ?? {};
  return { groupKinds: splitList(annotations[GROUP_KINDS]), namespaces: splitList(annotations[NAMESPACES]) };
}

/** Returns the kinds and namespaces of the members. `homeNamespace` is left out: the parent is in that namespace. */
export function extentOfMembers(members: Iterable<ResourceId>, homeNamespace: string): Extent {
  const groupKinds = new Set<string>();
  const namespaces = new Set<string>();
  for (const member of members) {
    groupKinds.add(formatGroupKind(groupKindOf(member)));
    const { namespace } = member;
    if (namespace !== undefined && namespace !== homeNamespace) namespaces.add(namespace);
  }
  return { groupKinds, namespaces };
}

export function union(a: Extent, b: Extent): Extent {
  return {
    groupKinds: new Set([...a.groupKinds, ...b.groupKinds]),
    namespaces: new Set([...a.namespaces, ...b.namespaces]),
  };
}

export function sameExtent(a: Extent, b: Extent): boolean {
  return joinList(a.groupKinds) === joinList(b.groupKinds) && joinList(a.namespaces) === joinList(b.namespaces);
}

export function kindsOf(extent: Extent): GroupKind[] {
  return [...extent.groupKinds].map(parseGroupKind);
}

/** Returns the origins that the instance wrote last; empty if the parent has no origins. */
export function originsOf(parent: KubeObject | undefined): readonly string[] {
  const value = parseJson(parent?.metadata.annotations?.[ORIGINS] ?? '[]');
  return Array.isArray(value) ? value.map(String) : [];
}

/** Returns true if the parent has the annotation about an inventory. */
export function hasInventory(parent: KubeObject | undefined): boolean {
  return parent?.metadata.annotations?.[INVENTORY] !== undefined;
}

/** Returns the parent with annotations that record an existing inventory and the origins of the sources. */
export function withInventory(parent: KubeObject, origins: readonly string[]): KubeObject {
  const { metadata } = parent;
  const annotations: Record<string, string> = { ...metadata.annotations, [INVENTORY]: 'begun' };
  if (origins.length > 0) annotations[ORIGINS] = JSON.stringify(origins);
  return { ...parent, metadata: { ...metadata, annotations } };
}

/** Returns the parent to apply. `tooling` is `name/version`: a tool does not change the ApplySet of another tool. */
export function parentObject(id: ResourceId, applySet: string, extent: Extent, tooling: string): KubeObject {
  const annotations = {
    [TOOLING]: tooling,
    [GROUP_KINDS]: joinList(extent.groupKinds),
    [NAMESPACES]: joinList(extent.namespaces),
  };
  const metadata = { name: id.name, namespace: id.namespace };
  return {
    apiVersion: id.apiVersion,
    kind: id.kind,
    metadata: { ...metadata, labels: { [ID]: applySet }, annotations },
  };
}

function splitList(text: string | undefined): Set<string> {
  return new Set((text ?? '').split(',').filter((item) => item !== ''));
}

function joinList(items: ReadonlySet<string>): string {
  return [...items].sort().join(',');
}
