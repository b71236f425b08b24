// Writes the status of Deployments and StatefulSets. If a node runs the pods, the pods determine the status. Otherwise
// the workload becomes ready after a delay, without pods. An annotation makes a workload fail.

import { isObject, type JsonObject } from '#std/json.ts';
import { NOT_RUN_HERE } from '../../rules/not-run-here.ts';
import type { KubeObject } from '../../rules/object.ts';
import { type ApiContext, timestamp } from '../api/context.ts';
import { type ObjectKey, placeOf } from '../storage/change.ts';
import { deploymentStatus, REVISION_ANNOTATION, type StatusInput } from './deployment-status.ts';
import { recordEvent } from './events.ts';
import { removePods, settlePods } from './pods.ts';
import type { WorkQueue } from './queue.ts';
import { statefulSetStatus } from './stateful-set-status.ts';
import { writeChange } from './writer.ts';

const MANAGER = 'kube-controller-manager';
const DEPLOYMENTS = 'apps/deployments';
const STATEFUL_SETS = 'apps/statefulsets';
const PODS = '/pods';

/**
 * Annotation of a workload or its pod template. The workload then never becomes ready. The annotation's value is the
 * message in its status.
 */
const FAIL_ANNOTATION = 'devcluster.skep.dev/fail';

export interface WorkloadOptions {
  /** Delay in milliseconds after which a workload without pods becomes ready. */
  readonly readyAfterMs: number;
  /** Returns the reason why no node runs the workload's pods, which may be empty. undefined if a node runs them. */
  readonly whyAbsent: (workload: KubeObject) => string | undefined;
}

export interface WorkloadControl {
  /** Checks all workloads again, because a node may now run other images. */
  lookAgain(): void;
  end(): void;
}

export function controlWorkloads(context: ApiContext, queue: WorkQueue, options: WorkloadOptions): WorkloadControl {
  const { readyAfterMs } = options;
  const settleByPods = podController(context, options);
  const look = (key: ObjectKey): void => queue.add(`workload/${workloadKey(key)}`, () => begin(key));
  const begin = (key: ObjectKey): void => {
    const object = context.store.get(key);
    const absent = object === undefined ? undefined : settleByPods(key, object);
    if (object === undefined || absent === undefined) return;
    const settled = withStatus(object, { phase: 'settled', absent }, timestamp(context));
    const isGoing = object.metadata.deletionTimestamp !== undefined;
    const isQuick = readyAfterMs === 0 || isGoing || settled === object || isMinorChange(object, settled);
    if (isQuick) {
      writePhase(context, key, { phase: 'settled', absent });
      return;
    }
    writePhase(context, key, { phase: 'progressing', absent });
    queue.add(`workload-ready/${workloadKey(key)}`, () => settle(key), readyAfterMs);
  };
  /**
   * Completes a workload without pods after the delay. If a node runs its pods by now, the pods determine its status.
   */
  const settle = (key: ObjectKey): void => {
    const object = context.store.get(key);
    const absent = object === undefined ? undefined : settleByPods(key, object);
    if (absent !== undefined) writePhase(context, key, { phase: 'settled', absent });
  };
  const lookAgain = (): void => {
    for (const collection of [DEPLOYMENTS, STATEFUL_SETS]) {
      for (const { metadata } of context.store.list(collection)) {
        look({ collection, namespace: metadata.namespace ?? '', name: metadata.name });
      }
    }
  };
  lookAgain();
  const end = context.store.subscribe(({ key, type, object }) => {
    const isWorkload = key.collection === DEPLOYMENTS || key.collection === STATEFUL_SETS;
    if (isWorkload && type !== 'DELETED') look(key);
    // Deployments with the same controller may depend on this StatefulSet.
    if (key.collection === STATEFUL_SETS) for (const each of siblingsOf(context, object)) look(each);
    const owner = key.collection === PODS ? ownerOf(object) : undefined;
    if (owner !== undefined) look(owner);
  });
  return { lookAgain, end };
}

function ownerOf({ metadata }: KubeObject): ObjectKey | undefined {
  const owner = metadata.ownerReferences?.find(({ controller }) => controller === true);
  const collection = owner?.kind === 'Deployment' ? DEPLOYMENTS : STATEFUL_SETS;
  const isWorkload = owner !== undefined && (owner.kind === 'Deployment' || owner.kind === 'StatefulSet');
  return isWorkload ? { collection, namespace: metadata.namespace ?? '', name: owner.name } : undefined;
}

/** Returns the keys of Deployments with the same controller. */
function siblingsOf({ store }: ApiContext, { metadata }: KubeObject): readonly ObjectKey[] {
  const { namespace = '' } = metadata;
  const uid = controllerUid({ metadata });
  if (uid === undefined) return [];
  return store
    .list(DEPLOYMENTS, namespace)
    .filter((each) => controllerUid(each) === uid)
    .map((each) => ({ collection: DEPLOYMENTS, namespace, name: each.metadata.name }));
}

/**
 * Returns a function that creates the workload's pods and writes its status. If no node runs the pods, the function
 * returns the reason, which may be empty, and records it once as an Event.
 */
function podController(context: ApiContext, { whyAbsent }: WorkloadOptions) {
  const reported = new Map<string, string>();
  return (key: ObjectKey, object: KubeObject): string | undefined => {
    if (object.metadata.deletionTimestamp !== undefined) return '';
    const ownReason = whyAbsent(object);
    const absent = ownReason ?? whySiblingAbsent(context, whyAbsent, object);
    if (absent === undefined && failureOf(object) === undefined) {
      const pods = settlePods(context, object);
      const { ready, existing } = pods;
      writePhase(context, key, { phase: pods.isDone ? 'settled' : 'progressing', ready, existing });
      return undefined;
    }
    removePods(context, object);
    const { apiVersion, kind, metadata } = object;
    const { name, namespace = '', uid = '' } = metadata;
    if (ownReason !== undefined && ownReason !== '' && reported.get(uid) !== ownReason) {
      reported.set(uid, ownReason);
      const event = { type: 'Normal', reason: NOT_RUN_HERE, message: ownReason } as const;
      recordEvent(context, { apiVersion, kind, name, namespace, uid }, event, 'skep-dev');
    }
    return absent ?? '';
  };
}

/**
 * Returns the reason why no node runs a StatefulSet with the same controller. The Deployment is an MCP proxy for this
 * StatefulSet and never becomes ready without it. No node then runs the Deployment either.
 */
function whySiblingAbsent(
  { store }: ApiContext,
  whyAbsent: WorkloadOptions['whyAbsent'],
  { kind, metadata }: KubeObject,
): string | undefined {
  const uid = controllerUid({ metadata });
  if (kind !== 'Deployment' || uid === undefined) return undefined;
  const siblings = store.list(STATEFUL_SETS, metadata.namespace).filter((each) => controllerUid(each) === uid);
  return siblings.map(whyAbsent).find((absent) => absent !== undefined);
}

function controllerUid({ metadata }: Pick<KubeObject, 'metadata'>): string | undefined {
  return metadata.ownerReferences?.find(({ controller }) => controller === true)?.uid;
}

function workloadKey(key: ObjectKey): string {
  return `${key.collection}/${placeOf(key)}`;
}

/** True if the workload needs no delay: it has no replicas, or no pod would be replaced. */
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

type Stand = Pick<StatusInput, 'ready' | 'existing' | 'absent'> & { readonly phase: Phase };

function writePhase(context: ApiContext, key: ObjectKey, stand: Stand): void {
  const change = (old: KubeObject) => withStatus(old, stand, timestamp(context));
  writeChange(context, key.collection, MANAGER, key, change, 'status');
}

function withStatus(object: KubeObject, stand: Stand, time: string): KubeObject {
  const input = { object, failure: failureOf(object), time, ...stand };
  return object.kind === 'Deployment' ? deploymentStatus(input) : statefulSetStatus(input);
}

function failureOf(object: KubeObject): string | undefined {
  const spec: JsonObject = isObject(object.spec) ? object.spec : {};
  const template = isObject(spec.template) ? spec.template : {};
  const metadata = isObject(template.metadata) ? template.metadata : {};
  const inner = isObject(metadata.annotations) ? metadata.annotations[FAIL_ANNOTATION] : undefined;
  return object.metadata.annotations?.[FAIL_ANNOTATION] ?? (typeof inner === 'string' ? inner : undefined);
}
