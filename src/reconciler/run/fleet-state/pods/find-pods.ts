// Finds the pods of a resource's workloads.

import type { KubeObject } from '#kubernetes/rules/object.ts';
import { isObject, type JsonObject, objectsIn } from '#std/json.ts';
import { podLabelsOf } from '../../observe/view.ts';
import type { Cluster } from '../../ports.ts';

type Lists = Pick<Cluster, 'list' | 'resources'>;

/** Lists the pods of a workload; undefined if the object has no pods of its own. Throws Failure as `Cluster` does. */
export async function listPods(cluster: Lists, workload: KubeObject): Promise<readonly KubeObject[] | undefined> {
  const { namespace } = workload.metadata;
  const labels = podLabelsOf(workload);
  if (!hasPods(workload) || labels.length === 0) return undefined;
  const pod = (await cluster.resources()).find((each) => each.kind === 'Pod' && each.apiVersion === 'v1');
  if (pod === undefined) return undefined;
  const selector = labels.map(([label, value]) => `${label}=${String(value)}`).join(',');
  return cluster.list(pod, namespace, { selector });
}

function hasPods({ kind }: KubeObject): boolean {
  return kind === 'Deployment' || kind === 'StatefulSet';
}

/** Lists the pods of several workloads. */
export async function listAllPods(cluster: Lists, objects: readonly KubeObject[]): Promise<readonly KubeObject[]> {
  return (await Promise.all(objects.filter(hasPods).map((each) => listPods(cluster, each)))).flatMap(
    (list) => list ?? [],
  );
}

export interface PodContainer {
  readonly name: string;
  readonly restarts: number;
  /** Reason why it waits; undefined if it runs or has ended. */
  readonly waiting?: string;
  readonly isInit: boolean;
  readonly spec: JsonObject;
}

/** Returns the containers of a pod, init containers first. */
export function containersOf(pod: KubeObject): readonly PodContainer[] {
  const [spec, status] = [asObject(pod.spec), asObject(pod.status)];
  const statuses = [...objectsIn(status.initContainerStatuses), ...objectsIn(status.containerStatuses)];
  const read = (each: JsonObject, isInit: boolean): PodContainer => {
    const name = String(each.name);
    const { restartCount, state } = statuses.find((one) => one.name === name) ?? {};
    const { waiting } = asObject(state);
    const { reason } = asObject(waiting);
    return {
      name,
      restarts: Number(restartCount ?? 0),
      ...(isObject(waiting) && { waiting: typeof reason === 'string' ? reason : 'waiting' }),
      isInit,
      spec: each,
    };
  };
  return [
    ...objectsIn(spec.initContainers).map((each) => read(each, true)),
    ...objectsIn(spec.containers).map((each) => read(each, false)),
  ];
}

export function asObject(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}
