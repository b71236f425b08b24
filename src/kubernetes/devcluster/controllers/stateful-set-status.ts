// Computes the status of a StatefulSet, while it progresses and when it is complete.

import { isObject, type JsonObject, jsonEquals } from '#std/json.ts';
import type { KubeObject } from '../../rules/object.ts';
import { keepConditionTimes, notRunHere, type StatusCondition } from './conditions.ts';
import type { StatusInput } from './deployment-status.ts';
import { templateHash } from './template-hash.ts';

/** Returns the object with its new status. Returns the same object if nothing changed. */
export function statefulSetStatus({
  object,
  phase,
  failure,
  time,
  ready: counted,
  existing,
  absent,
}: StatusInput): KubeObject {
  const spec: JsonObject = isObject(object.spec) ? object.spec : {};
  const old: JsonObject = isObject(object.status) ? object.status : {};
  const replicas = typeof spec.replicas === 'number' ? spec.replicas : 1;
  const revision = `${object.metadata.name}-${templateHash(spec.template)}`;
  const settled = phase === 'settled' && failure === undefined;
  const before = typeof old.readyReplicas === 'number' && failure === undefined ? old.readyReplicas : 0;
  const ready = counted ?? (settled ? replicas : Math.min(replicas, before));
  const current = settled || typeof old.currentRevision !== 'string' ? revision : old.currentRevision;
  const failed = failure === undefined || phase !== 'settled' ? [] : [failureCondition(failure)];
  const conditions = keepConditionTimes(old.conditions, [...failed, ...notRunHere(absent)], time, false);
  const status: JsonObject = {
    observedGeneration: object.metadata.generation ?? 0,
    replicas: existing ?? replicas,
    ...positive({ readyReplicas: ready, currentReplicas: current === revision ? replicas : 0 }),
    ...positive({ updatedReplicas: replicas }),
    currentRevision: current,
    updateRevision: revision,
    collisionCount: 0,
    availableReplicas: ready,
    ...(conditions.length === 0 ? {} : { conditions }),
  };
  return jsonEquals(status, old) ? object : { ...object, status };
}

function positive(counts: Readonly<Record<string, number>>): JsonObject {
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0));
}

function failureCondition(message: string): StatusCondition {
  return { type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message };
}
