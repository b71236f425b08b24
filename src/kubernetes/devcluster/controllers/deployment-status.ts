// Computes the status of a Deployment, while it progresses and when it is complete.

import { isObject, type JsonObject, jsonEquals } from '#std/json.ts';
import type { KubeObject } from '../../rules/object.ts';
import { keepConditionTimes, notRunHere, type StatusCondition } from './conditions.ts';
import { templateHash } from './template-hash.ts';

export const REVISION_ANNOTATION = 'deployment.kubernetes.io/revision';

export interface StatusInput {
  readonly object: KubeObject;
  readonly phase: 'progressing' | 'settled';
  /** The reason why the Deployment never becomes ready. undefined if it can become ready. */
  readonly failure: string | undefined;
  /** Number of ready pods. Absent if no node runs the pods. */
  readonly ready?: number;
  /** Number of existing pods, including pods that are ending. Absent if no node runs the pods. */
  readonly existing?: number;
  /** The reason why no node runs the pods, if known. */
  readonly absent?: string | undefined;
  /** RFC 3339. */
  readonly time: string;
}

/** Returns the object with its new status and revision. Returns the same object if nothing changed. */
export function deploymentStatus({ object, phase, failure, time, ready: counted, absent }: StatusInput): KubeObject {
  const spec: JsonObject = isObject(object.spec) ? object.spec : {};
  const old: JsonObject = isObject(object.status) ? object.status : {};
  const replicas = typeof spec.replicas === 'number' ? spec.replicas : 1;
  const replicaSet = `${object.metadata.name}-${templateHash(spec.template)}`;
  const ready = counted ?? assumedReady();
  function assumedReady(): number {
    if (failure !== undefined) return 0;
    return phase === 'settled' ? replicas : Math.min(replicas, readyNow(old));
  }
  const newConditions = [...conditionsFor(replicaSet, { ready, replicas, phase, failure }), ...notRunHere(absent)];
  const status: JsonObject = {
    ...positive({ observedGeneration: object.metadata.generation ?? 0, replicas, updatedReplicas: replicas }),
    ...positive({ readyReplicas: ready, availableReplicas: ready, unavailableReplicas: replicas - ready }),
    terminatingReplicas: 0,
    conditions: keepConditionTimes(old.conditions, newConditions, time, true),
  };
  const annotations = { ...object.metadata.annotations, [REVISION_ANNOTATION]: revisionOf(object, old, replicaSet) };
  if (jsonEquals(status, old) && jsonEquals(annotations, object.metadata.annotations)) return object;
  return { ...object, metadata: { ...object.metadata, annotations }, status };
}

function readyNow(status: JsonObject): number {
  return typeof status.readyReplicas === 'number' ? status.readyReplicas : 0;
}

function positive(counts: Readonly<Record<string, number>>): JsonObject {
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0));
}

interface DeploymentProgress {
  readonly ready: number;
  readonly replicas: number;
  readonly phase: 'progressing' | 'settled';
  readonly failure: string | undefined;
}

function conditionsFor(replicaSet: string, { ready, replicas, phase, failure }: DeploymentProgress): StatusCondition[] {
  const name = JSON.stringify(replicaSet);
  const isAvailable = ready >= replicas;
  const available: StatusCondition = isAvailable
    ? condition('Available', 'True', 'MinimumReplicasAvailable', 'Deployment has minimum availability.')
    : condition('Available', 'False', 'MinimumReplicasUnavailable', 'Deployment does not have minimum availability.');
  if (failure !== undefined && phase === 'settled') {
    const late = `ReplicaSet ${name} has timed out progressing.`;
    return [
      available,
      condition('Progressing', 'False', 'ProgressDeadlineExceeded', late),
      condition('ReplicaFailure', 'True', 'FailedCreate', failure),
    ];
  }
  if (phase === 'settled') {
    const done = `ReplicaSet ${name} has successfully progressed.`;
    return [available, condition('Progressing', 'True', 'NewReplicaSetAvailable', done)];
  }
  return [available, condition('Progressing', 'True', 'ReplicaSetUpdated', `ReplicaSet ${name} is progressing.`)];
}

function condition(type: string, status: StatusCondition['status'], reason: string, message: string): StatusCondition {
  return { type, status, reason, message };
}

/**
 * Returns the revision, incremented if the template has changed. The name of the ReplicaSet depends on the template:
 * after a change, the old conditions do not contain the new name.
 */
function revisionOf(object: KubeObject, status: JsonObject, replicaSet: string): string {
  const revision = Number(object.metadata.annotations?.[REVISION_ANNOTATION] ?? '0');
  const known = JSON.stringify(status.conditions ?? []).includes(`\\"${replicaSet}\\"`);
  return String(known ? revision : revision + 1);
}
