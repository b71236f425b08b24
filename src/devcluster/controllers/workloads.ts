// Makes Deployments and StatefulSets ready after a while, without any pods: their status says what a cluster's would say.
// An annotation makes one fail. Knows nothing about what the workloads are for.

import type { KubeObject } from '../../kube/object.ts';
import { isObject, type JsonObject } from '../../std/json.ts';
import { type ApiContext, timestamp } from '../api/context.ts';
import { type ObjectKey, placeOf } from '../storage/change.ts';
import { deploymentStatus, REVISION_ANNOTATION } from './deployment-status.ts';
import type { WorkQueue } from './queue.ts';
import { statefulSetStatus } from './stateful-set-status.ts';
import { writeChange } from './writer.ts';

const MANAGER = 'kube-controller-manager';
const DEPLOYMENTS = 'apps/deployments';
const STATEFUL_SETS = 'apps/statefulsets';

/** On a workload or its pod template: it never becomes ready, and its status says the annotation's text as the reason. */
export const FAIL_ANNOTATION = 'devcluster.skep.dev/fail';

/** Answers the function that ends it. */
export function controlWorkloads(context: ApiContext, queue: WorkQueue, readyAfterMs: number): () => void {
  const look = (key: ObjectKey): void => queue.add(`workload/${workloadKey(key)}`, () => begin(key));
  const begin = (key: ObjectKey): void => {
    const object = context.store.get(key);
    if (object === undefined) return;
    const settled = withStatus(object, 'settled', timestamp(context));
    const isGoing = object.metadata.deletionTimestamp !== undefined;
    const isQuick = readyAfterMs === 0 || isGoing || settled === object || isMinorChange(object, settled);
    if (isQuick) {
      writePhase(context, key, 'settled');
      return;
    }
    writePhase(context, key, 'progressing');
    queue.add(`workload-ready/${workloadKey(key)}`, () => writePhase(context, key, 'settled'), readyAfterMs);
  };
  for (const collection of [DEPLOYMENTS, STATEFUL_SETS]) {
    for (const { metadata } of context.store.list(collection)) {
      look({ collection, namespace: metadata.namespace ?? '', name: metadata.name });
    }
  }
  return context.store.subscribe(({ key, type }) => {
    const isWorkload = key.collection === DEPLOYMENTS || key.collection === STATEFUL_SETS;
    if (isWorkload && type !== 'DELETED') look(key);
  });
}

function workloadKey(key: ObjectKey): string {
  return `${key.collection}/${placeOf(key)}`;
}

/** Nothing has to start: no replicas, or only the generation is new. */
function isMinorChange(object: KubeObject, settled: KubeObject): boolean {
  const before = isObject(object.status) ? object.status : {};
  const after = isObject(settled.status) ? settled.status : {};
  const replicas = isObject(object.spec) ? object.spec.replicas : 0;
  if (replicas === 0) return true;
  return (
    before.readyReplicas === after.readyReplicas &&
    before.updateRevision === after.updateRevision &&
    object.metadata.annotations?.[REVISION_ANNOTATION] === settled.metadata.annotations?.[REVISION_ANNOTATION]
  );
}

type Phase = 'progressing' | 'settled';

function writePhase(context: ApiContext, key: ObjectKey, phase: Phase): void {
  writeChange(context, key.collection, MANAGER, key, (old) => withStatus(old, phase, timestamp(context)), 'status');
}

function withStatus(object: KubeObject, phase: Phase, time: string): KubeObject {
  const failure = failureOf(object);
  return object.kind === 'Deployment'
    ? deploymentStatus({ object, phase, failure, time })
    : statefulSetStatus({ object, phase, failure, time });
}

function failureOf(object: KubeObject): string | undefined {
  const spec: JsonObject = isObject(object.spec) ? object.spec : {};
  const template = isObject(spec.template) ? spec.template : {};
  const metadata = isObject(template.metadata) ? template.metadata : {};
  const inner = isObject(metadata.annotations) ? metadata.annotations[FAIL_ANNOTATION] : undefined;
  return object.metadata.annotations?.[FAIL_ANNOTATION] ?? (typeof inner === 'string' ? inner : undefined);
}
