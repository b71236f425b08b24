// Reads the pods of workloads without enough ready pods. The states of the containers show why a resource is not ready.

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

/** Maximum number of label values in a URL. For more than ten times this number, one LIST of all pods is faster. */
const NAMED_MAX = 100;

/**
 * Returns label selectors for the pods of the workloads. undefined selects all pods of the namespace. A selector may
 * also select pods of other workloads.
 */
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

/**
 * Returns the pod without managed fields. No status needs the managed fields, which are about half of the JSON of a
 * pod.
 */
function withoutManagers(pod: KubeObject): KubeObject {
  const { managedFields: _managers, ...metadata } = pod.metadata;
  return { ...pod, metadata };
}

/** Ignores a failed LIST: without the pods, a status lacks a reason but is correct. */
function nothing(error: unknown): readonly KubeObject[] {
  if (error instanceof Failure) return [];
  throw error;
}

function lacksPods({ apiVersion, kind, status }: KubeObject): boolean {
  if (groupOf(apiVersion) !== 'apps' || (kind !== 'Deployment' && kind !== 'StatefulSet')) return false;
  const { replicas, readyReplicas } = isObject(status) ? status : {};
  return Number(replicas ?? 0) > Number(readyReplicas ?? 0);
}
