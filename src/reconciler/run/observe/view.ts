// Opens views. A view contains the objects of one namespace: declared objects as in Git, other objects as in the
// cluster.

import { TOOL_LOCK } from '#contracts/tool-lock/schema.ts';
import { groupOf, type KubeObject } from '#kubernetes/rules/object.ts';
import { isObject, type Json } from '#std/json.ts';
import type { View } from '../../kinds/kind.ts';

export interface ViewInput {
  readonly apiGroup: string;
  /**
   * Lists of objects, live objects first and desired objects last. An object replaces an object with the same identity
   * in an earlier list.
   */
  readonly layers: readonly (readonly KubeObject[])[];
  /** If absent, views contain no pods. */
  readonly pods?: readonly KubeObject[];
  /** Tool locks from sources. Locks in the cluster are ignored. */
  readonly locks?: readonly KubeObject[];
}

/** Returns a function from a namespace to its view. All views share one index. */
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
  const podsWith = indexByLabels(input.pods ?? []);
  return (namespace) => ({
    find: (kind, name) => index.get(`${namespace}/${kind}`)?.get(name),
    pods(kind, name) {
      const labels = podLabelsOf(index.get(`${namespace}/${kind}`)?.get(name));
      return podsWith(namespace, labels).filter(({ metadata }) =>
        labels.every(([label, value]) => metadata.labels?.[label] === value),
      );
    },
    all: (kind) => listOf(`${namespace}/${kind}`),
  });
}

/** Returns true for API groups of Kubernetes: they have no dot, or end in `.k8s.io`. */
function isBuiltIn(group: string): boolean {
  return !group.includes('.') || group.endsWith('.k8s.io');
}

function sortByName(objects: KubeObject[]): KubeObject[] {
  return objects.sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
}

type Label = readonly [key: string, value: Json | undefined];

/** Returns the labels that the selector of a workload requires of its pods. */
export function podLabelsOf(workload: KubeObject | undefined): readonly Label[] {
  const { selector } = isObject(workload?.spec) ? workload.spec : {};
  const { matchLabels } = isObject(selector) ? selector : {};
  return isObject(matchLabels) ? Object.entries(matchLabels) : [];
}

/**
 * Returns a function that returns the pods with the rarest of the given labels. Some labels are common to all pods of a
 * namespace and would select too many pods.
 */
function indexByLabels(
  pods: readonly KubeObject[],
): (namespace: string, labels: readonly Label[]) => readonly KubeObject[] {
  const found = new Map<string, KubeObject[]>();
  for (const pod of pods) {
    const { namespace = '', labels = {} } = pod.metadata;
    for (const [key, value] of Object.entries(labels)) {
      const bucket = `${namespace} ${key} ${value}`;
      const others = found.get(bucket);
      if (others === undefined) found.set(bucket, [pod]);
      else others.push(pod);
    }
  }
  return (namespace, labels) => {
    const [first = [], ...others] = labels.map(([key, value]) => found.get(`${namespace} ${key} ${value}`) ?? []);
    return others.reduce((fewest, each) => (each.length < fewest.length ? each : fewest), first);
  };
}
