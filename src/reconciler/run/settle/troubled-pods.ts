// Reads the pods of our workloads that lack some: the state of their containers shows why a resource is not ready. No
// other pods are requested.

import { groupOf, type KubeObject } from '#kubernetes/rules/object.ts';
import { Failure } from '#std/failure.ts';
import { isObject } from '#std/json.ts';
import { labelOf, PART_OF } from '../labels.ts';
import type { Snapshot } from '../observe/snapshot.ts';
import { podLabelsOf } from '../observe/view.ts';
import type { Cluster } from '../ports.ts';

export async function listTroubledPods(
  cluster: Pick<Cluster, 'list'>,
  snapshot: Pick<Snapshot, 'objects' | 'served'>,
  applySet: string,
): Promise<readonly KubeObject[]> {
  const troubled = snapshot.objects().filter((object) => labelOf(object, PART_OF) === applySet && lacksPods(object));
  const pod = snapshot.served({ group: '', kind: 'Pod' });
  if (troubled.length === 0 || pod === undefined) return [];
  const lists = [...Map.groupBy(troubled, ({ metadata }) => metadata.namespace)].flatMap(([namespace, workloads]) =>
    selectorsFor(workloads).map((selector) =>
      cluster.list(pod, namespace, { ...(selector && { selector }), hold: withoutManagers }).catch(nothing),
    ),
  );
  return (await Promise.all(lists)).flat();
}

/** Number of names that fit into a URL. Pods of more than ten times as many workloads are quicker to list together. */
const NAMED_MAX = 100;

/** Returns undefined to list all pods of the namespace. Pods of other workloads may be among them. */
function selectorsFor(workloads: readonly KubeObject[]): readonly (string | undefined)[] {
  const labels = workloads.map((workload) => new Map(podLabelsOf(workload)));
  const [first, ...others] = labels;
  const common = [...(first?.keys() ?? [])].filter((key) => others.every((each) => each.has(key)));
  const values = common.map((key) => ({ key, distinct: [...new Set(labels.map((each) => String(each.get(key))))] }));
  const finest = values.toSorted((a, b) => b.distinct.length - a.distinct.length)[0];
  if (finest === undefined || finest.distinct.length > 10 * NAMED_MAX) return [undefined];
  const { key, distinct } = finest;
  const chunks = Array.from({ length: Math.ceil(distinct.length / NAMED_MAX) }, (_, index) =>
    distinct.slice(index * NAMED_MAX, (index + 1) * NAMED_MAX),
  );
  return chunks.map((chunk) => `${key} in (${chunk.join()})`);
}

/** Returns the pod without its managers, which no status names: they are about half of its JSON. */
function withoutManagers(pod: KubeObject): KubeObject {
  const { managedFields: _managers, ...metadata } = pod.metadata;
  return { ...pod, metadata };
}

/** A status without the pods, which may be unreadable, lacks its reason; it is true all the same. */
function nothing(error: unknown): readonly KubeObject[] {
  if (error instanceof Failure) return [];
  throw error;
}

function lacksPods({ apiVersion, kind, status }: KubeObject): boolean {
  if (groupOf(apiVersion) !== 'apps' || (kind !== 'Deployment' && kind !== 'StatefulSet')) return false;
  const { replicas, readyReplicas } = isObject(status) ? status : {};
  return Number(replicas ?? 0) > Number(readyReplicas ?? 0);
}
