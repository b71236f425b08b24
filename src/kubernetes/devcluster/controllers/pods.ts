// Creates and deletes the pods of Deployments and StatefulSets that a node runs, until their number and template match
// the workload.

import { isObject, type JsonObject, objectsIn } from '#std/json.ts';
import type { KubeObject } from '../../rules/object.ts';
import type { ApiContext } from '../api/context.ts';
import { templateHash } from './template-hash.ts';
import { writeNew, writeRemoval } from './writer.ts';

const PODS = '/pods';
const MANAGER = 'kube-controller-manager';
const HASH_LABEL = 'pod-template-hash';

export interface PodCount {
  /** Number of ready pods of any template, at most the declared number. */
  readonly ready: number;
  /** True if all pods have the current template and the declared number of pods is ready. */
  readonly isDone: boolean;
  /** Number of pods, including pods that are still ending. */
  readonly existing: number;
}

export function settlePods(context: ApiContext, workload: KubeObject): PodCount {
  const pods = podsOf(context, workload);
  const { hash, replicas } = desiredPods(workload);
  const current = pods.filter(({ metadata }) => metadata.labels?.[HASH_LABEL] === hash);
  const stale = pods.filter((pod) => !current.includes(pod));
  if (workload.kind === 'StatefulSet') settleOrdinals(context, workload, current, stale);
  else settleAny(context, workload, current, stale);
  const isDone = stale.length === 0 && current.filter(isReady).length >= replicas;
  return { ready: Math.min(replicas, pods.filter(isReady).length), isDone, existing: podsOf(context, workload).length };
}

function podsOf({ store }: ApiContext, { metadata }: KubeObject): readonly KubeObject[] {
  return store
    .list(PODS, metadata.namespace)
    .filter((pod) => pod.metadata.ownerReferences?.some(({ uid }) => uid === metadata.uid) === true);
}

export function removePods(context: ApiContext, workload: KubeObject): void {
  for (const pod of podsOf(context, workload)) remove(context, pod);
}

/**
 * Creates the missing pods. Deletes pods of the previous template once enough new pods are ready. With the strategy
 * Recreate, deletes pods of the previous template at once.
 */
function settleAny(
  context: ApiContext,
  workload: KubeObject,
  current: readonly KubeObject[],
  stale: readonly KubeObject[],
): void {
  const { replicas, recreates } = desiredPods(workload);
  const isEnough = current.filter(isReady).length >= replicas;
  if (isEnough || recreates) for (const pod of stale) remove(context, pod);
  for (const pod of current.toSorted(readyFirst).slice(replicas)) remove(context, pod);
  for (let count = current.length; count < replicas; count += 1) {
    makePod(context, workload, `${workload.metadata.name}-${desiredPods(workload).hash}-${context.newSuffix()}`);
  }
}

/**
 * Creates and deletes pods with fixed names. A pod can be created only after the previous pod of this name is deleted.
 */
function settleOrdinals(
  context: ApiContext,
  workload: KubeObject,
  current: readonly KubeObject[],
  stale: readonly KubeObject[],
): void {
  const { replicas } = desiredPods(workload);
  const names = Array.from({ length: replicas }, (_, index) => `${workload.metadata.name}-${index}`);
  const superfluous = current.filter(({ metadata }) => !names.includes(metadata.name));
  for (const pod of [...stale, ...superfluous]) remove(context, pod);
  for (const name of names) if (!current.some((pod) => pod.metadata.name === name)) makePod(context, workload, name);
}

function desiredPods({ spec }: KubeObject): { hash: string; replicas: number; recreates: boolean } {
  const { replicas, template, strategy }: JsonObject = isObject(spec) ? spec : {};
  return {
    hash: templateHash(template),
    replicas: typeof replicas === 'number' ? replicas : 1,
    recreates: isObject(strategy) && strategy.type === 'Recreate',
  };
}

function makePod(context: ApiContext, workload: KubeObject, name: string): void {
  const { apiVersion, kind, metadata: owner } = workload;
  const { namespace = '' } = owner;
  // A pod of this name exists or is still being deleted.
  if (context.store.get({ collection: PODS, namespace, name }) !== undefined) return;
  const spec = isObject(workload.spec) ? workload.spec : {};
  const template = isObject(spec.template) ? spec.template : {};
  const given = isObject(template.metadata) ? template.metadata : {};
  const identity: Record<string, string> = kind === 'StatefulSet' ? { 'statefulset.kubernetes.io/pod-name': name } : {};
  const labels = { ...textsOf(given.labels), [HASH_LABEL]: templateHash(template), ...identity };
  const controller = { controller: true, blockOwnerDeletion: true };
  writeNew(context, PODS, MANAGER, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      ...{ name, namespace, labels, annotations: textsOf(given.annotations) },
      ownerReferences: [{ apiVersion, kind, name: owner.name, uid: owner.uid ?? '', ...controller }],
    },
    spec: isObject(template.spec) ? template.spec : {},
  });
}

function textsOf(value: unknown): Record<string, string> {
  const entries = isObject(value) ? Object.entries(value) : [];
  return Object.fromEntries(entries.flatMap(([key, text]) => (typeof text === 'string' ? [[key, text]] : [])));
}

function remove(context: ApiContext, pod: KubeObject): void {
  if (pod.metadata.deletionTimestamp === undefined) writeRemoval(context, PODS, pod, { propagation: 'Background' });
}

function readyFirst(a: KubeObject, b: KubeObject): number {
  return Number(isReady(b)) - Number(isReady(a));
}

function isReady({ status }: KubeObject): boolean {
  const conditions = objectsIn(isObject(status) ? status.conditions : undefined);
  return conditions.some(({ type, status: holds }) => type === 'Ready' && holds === 'True');
}
