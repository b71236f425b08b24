// Writes the status of a ready pod to the pods of chosen namespaces, because API servers of tests have no kubelets.

import type { ConnectedCluster } from '#adapters/cluster/connect.ts';
import type { KubeObject } from '#kubernetes/rules/object.ts';
import type { ApiResource } from '#reconciler/run/ports.ts';
import { Failure } from '#std/failure.ts';
import { isObject } from '#std/json.ts';

/** Writes the status to all pods that exist now. Callers repeat the call until no new pods are created. */
export async function runPods(client: ConnectedCluster, namespaces: readonly string[]): Promise<void> {
  const lists = await Promise.all(namespaces.map((namespace) => client.list(POD, namespace)));
  const waiting = lists.flat().filter((pod) => pod.metadata.deletionTimestamp === undefined && !runs(pod));
  await Promise.all(waiting.map((pod) => client.apply(running(pod), WRITE).catch(unlessGone)));
}

const POD: ApiResource = { apiVersion: 'v1', kind: 'Pod', plural: 'pods', namespaced: true, verbs: ['list'] };
const WRITE = { subresource: 'status', force: true } as const;

function runs({ status }: KubeObject): boolean {
  return isObject(status) && status.phase === 'Running';
}

function running({ metadata, spec }: KubeObject): KubeObject {
  const { name, namespace = 'default', uid } = metadata;
  const containers = isObject(spec) && Array.isArray(spec.containers) ? spec.containers.filter(isObject) : [];
  const since = metadata.creationTimestamp ?? '1970-01-01T00:00:00Z';
  const conditions = ['PodScheduled', 'Initialized', 'ContainersReady', 'Ready'].map((type) => {
    return { type, status: 'True', lastTransitionTime: since };
  });
  const containerStatuses = containers.map(({ name: container, image }) => ({
    ...{ name: container, image, imageID: '', ready: true, restartCount: 0 },
    state: { running: { startedAt: since } },
  }));
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace, ...(uid === undefined ? {} : { uid }) },
    status: { phase: 'Running', startTime: since, conditions, containerStatuses },
  } as KubeObject;
}

/** Ignores errors about deleted or changed pods, which occur during a rollout. */
function unlessGone(error: unknown): void {
  if (error instanceof Failure && (error.code === 'cluster-not-found' || error.code === 'cluster-conflict')) return;
  throw error;
}
