// Determines from its status whether an object of any kind is ready. Built-in kinds follow the rules of kstatus, other
// kinds their conditions.

import { groupOf, type KubeObject } from '#kubernetes/rules/object.ts';
import { isObject, type Json, type JsonObject } from '#std/json.ts';

export interface LiveState {
  readonly ready: boolean;
  /** Reason why the object is not ready; empty if it is ready. */
  readonly why: string;
}

const READY: LiveState = { ready: true, why: '' };

/**
 * Returns the readiness. A Job is ready when it has completed. An object of a kind without rules is ready as soon as it
 * exists, unless its condition Ready, Stalled or Reconciling says otherwise.
 */
export function liveStateOf(object: KubeObject): LiveState {
  const { deletionTimestamp, generation = 0 } = object.metadata;
  if (deletionTimestamp !== undefined) return notReady('it is being deleted');
  const status = isObject(object.status) ? object.status : {};
  const { observedGeneration } = status;
  if (typeof observedGeneration === 'number' && observedGeneration < generation)
    return notReady('its status is of an earlier generation');
  const rule = RULES[`${object.kind}.${groupOf(object.apiVersion)}`] ?? byConditions;
  return rule(isObject(object.spec) ? object.spec : {}, status, generation);
}

function notReady(why: string): LiveState {
  return { ready: false, why };
}

type ReadinessRule = (spec: JsonObject, status: JsonObject, generation: number) => LiveState;

const RULES: Readonly<Record<string, ReadinessRule>> = {
  'Deployment.apps': deploymentReady,
  'StatefulSet.apps': statefulSetReady,
  'DaemonSet.apps': daemonSetReady,
  'Job.batch': conditionIsTrue('Complete'),
  'Pod.': (_spec, status, generation) => (status.phase === 'Succeeded' ? READY : mustBe('Ready', status, generation)),
  'PersistentVolumeClaim.': (_spec, status) =>
    status.phase === 'Bound' ? READY : notReady(`its phase is ${status.phase ?? 'Pending'}`),
  'CustomResourceDefinition.apiextensions.k8s.io': conditionIsTrue('Established'),
  'APIService.apiregistration.k8s.io': conditionIsTrue('Available'),
};

/** Numbers of pods. `toUpdate` is the number of pods that the controller replaces with pods of the current template. */
interface PodCounts {
  readonly declared: number;
  readonly toUpdate: number;
  readonly updated: number;
  readonly ready: number;
}

function podsReady({ declared, toUpdate, updated, ready }: PodCounts): LiveState {
  if (updated < toUpdate) return notReady(`${updated} of ${toUpdate} pods have its current template`);
  return ready < declared ? notReady(`${ready} of ${declared} pods are ready`) : READY;
}

function deploymentReady({ replicas = 1, paused }: JsonObject, status: JsonObject): LiveState {
  const declared = countOf(replicas);
  const toUpdate = paused === true ? 0 : declared;
  const updated = countOf(status.updatedReplicas);
  return podsReady({ declared, toUpdate, updated, ready: countOf(status.availableReplicas) });
}

function statefulSetReady({ replicas = 1, updateStrategy }: JsonObject, status: JsonObject): LiveState {
  const declared = countOf(replicas);
  const rolling =
    isObject(updateStrategy) && isObject(updateStrategy.rollingUpdate) ? updateStrategy.rollingUpdate : {};
  const toUpdate = isOnDelete(updateStrategy) ? 0 : Math.max(0, declared - countOf(rolling.partition));
  const updated = countOf(status.updatedReplicas);
  return podsReady({ declared, toUpdate, updated, ready: countOf(status.readyReplicas) });
}

function daemonSetReady({ updateStrategy }: JsonObject, status: JsonObject): LiveState {
  if (status.desiredNumberScheduled === undefined) return notReady('it has no status yet');
  const declared = countOf(status.desiredNumberScheduled);
  const toUpdate = isOnDelete(updateStrategy) ? 0 : declared;
  const updated = countOf(status.updatedNumberScheduled);
  return podsReady({ declared, toUpdate, updated, ready: countOf(status.numberAvailable) });
}

/**
 * Returns true if the controller does not replace pods when the template changes. A pod then keeps its template until a
 * person deletes the pod.
 */
function isOnDelete(updateStrategy: Json | undefined): boolean {
  return isObject(updateStrategy) && updateStrategy.type === 'OnDelete';
}

function countOf(value: unknown): number {
  return typeof value === 'number' ? value : 0;
}

function conditionIsTrue(type: string): ReadinessRule {
  return (_spec, status, generation) => mustBe(type, status, generation);
}

function mustBe(type: string, status: JsonObject, generation: number): LiveState {
  const failed = conditionOf(status, 'Failed');
  if (failed?.status === 'True') return notReady(messageIn(failed, 'it has failed'));
  const condition = conditionOf(status, type);
  if (condition?.status !== 'True') return notReady(messageIn(condition, `its condition ${type} is not True`));
  const { observedGeneration } = condition;
  const isEarlier = typeof observedGeneration === 'number' && observedGeneration < generation;
  return isEarlier ? notReady(`its condition ${type} is of an earlier generation`) : READY;
}

function byConditions(_spec: JsonObject, status: JsonObject, generation: number): LiveState {
  for (const type of ['Stalled', 'Reconciling']) {
    const condition = conditionOf(status, type);
    if (condition?.status === 'True') return notReady(messageIn(condition, `its condition ${type} is True`));
  }
  return conditionOf(status, 'Ready') === undefined ? READY : mustBe('Ready', status, generation);
}

function conditionOf({ conditions }: JsonObject, type: string): JsonObject | undefined {
  const list = Array.isArray(conditions) ? conditions.filter(isObject) : [];
  return list.find((each) => each.type === type);
}

function messageIn(condition: JsonObject | undefined, otherwise: string): string {
  return typeof condition?.message === 'string' && condition.message !== '' ? condition.message : otherwise;
}
