// The pods of workloads of ours that lack some: what their containers wait for is why a resource is not ready. No other pods
// are asked for.

import { groupOf, type KubeObject } from '#kubernetes/rules/object.ts';
import { Failure } from '#std/failure.ts';
import { isObject } from '#std/json.ts';
import { labelOf, PART_OF } from '../labels.ts';
import type { Snapshot } from '../observe/snapshot.ts';
import type { Cluster } from '../ports.ts';

export async function listTroubledPods(
  cluster: Pick<Cluster, 'list'>,
  snapshot: Pick<Snapshot, 'objects' | 'served'>,
  applySet: string,
): Promise<readonly KubeObject[]> {
  const troubled = snapshot.objects().filter((object) => labelOf(object, PART_OF) === applySet && lacksPods(object));
  const pod = snapshot.served({ group: '', kind: 'Pod' });
  if (troubled.length === 0 || pod === undefined) return [];
  const namespaces = new Set(troubled.map(({ metadata }) => metadata.namespace));
  const lists = [...namespaces].map((namespace) => cluster.list(pod, namespace).catch(nothing));
  return (await Promise.all(lists)).flat();
}

/** Pods that may not be read leave a status without their reason; it is true all the same. */
function nothing(error: unknown): readonly KubeObject[] {
  if (error instanceof Failure) return [];
  throw error;
}

function lacksPods({ apiVersion, kind, status }: KubeObject): boolean {
  if (groupOf(apiVersion) !== 'apps' || (kind !== 'Deployment' && kind !== 'StatefulSet')) return false;
  const { replicas, readyReplicas } = isObject(status) ? status : {};
  return Number(replicas ?? 0) > Number(readyReplicas ?? 0);
}
