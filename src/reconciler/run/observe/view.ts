// What a kind may look at: the objects of one namespace, as Git declares them or else as they exist.

import { TOOL_LOCK } from '#contracts/tool-lock/schema.ts';
import { groupOf, type KubeObject } from '#kubernetes/rules/object.ts';
import type { View } from '../../kinds/kind.ts';

export interface ViewInput {
  readonly apiGroup: string;
  /** Later objects win over earlier ones of the same identity: pass the living first, the desired last. */
  readonly layers: readonly (readonly KubeObject[])[];
  /** Locks of tools that sources declare. An object of that kind in the cluster does not count. */
  readonly locks?: readonly KubeObject[];
}

/** One view per namespace, over an index that is built once. */
export function openViews(input: ViewInput): (namespace: string) => View {
  const index = new Map<string, Map<string, KubeObject>>();
  function add(object: KubeObject): void {
    const bucket = `${object.metadata.namespace ?? ''}/${object.kind}`;
    const objects = index.get(bucket) ?? new Map<string, KubeObject>();
    index.set(bucket, objects.set(object.metadata.name, object));
  }
  for (const object of input.layers.flat()) {
    const group = groupOf(object.apiVersion);
    if (object.kind !== TOOL_LOCK.kind && (group === input.apiGroup || isBuiltIn(group))) add(object);
  }
  for (const lock of input.locks ?? []) add(lock);
  const lists = new Map<string, readonly KubeObject[]>();
  function listOf(bucket: string): readonly KubeObject[] {
    const list = lists.get(bucket) ?? sortByName([...(index.get(bucket)?.values() ?? [])]);
    lists.set(bucket, list);
    return list;
  }
  return (namespace) => ({
    find: (kind, name) => index.get(`${namespace}/${kind}`)?.get(name),
    all: (kind) => listOf(`${namespace}/${kind}`),
  });
}

/** Kubernetes' own groups have no dot, or end in `.k8s.io`. */
function isBuiltIn(group: string): boolean {
  return !group.includes('.') || group.endsWith('.k8s.io');
}

function sortByName(objects: KubeObject[]): KubeObject[] {
  return objects.sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
}
