// Reads the state of a Deployment or StatefulSet from its status.

import { NOT_RUN_HERE } from '#kubernetes/rules/not-run-here.ts';
import type { KubeObject } from '#kubernetes/rules/object.ts';
import { isObject, type Json, type JsonObject } from '#std/json.ts';
import type { View } from '../kind.ts';
import { podFailure } from './pod-failure.ts';

export type WorkloadState =
  | { readonly state: 'missing' }
  /** The workload declares no pods. */
  | { readonly state: 'stopped' }
  /** The pods fail to start, or Kubernetes cannot create them. */
  | { readonly state: 'failed'; readonly ready: number; readonly message: string }
  /**
   * Some declared pods are not ready, or not of the current version. `ready`: number of ready pods of all versions.
   * `rolled`: true if every pod is of the current version.
   */
  | { readonly state: 'progressing'; readonly ready: number; readonly desired: number; readonly rolled: boolean }
  /** `elsewhere`: reason why `skep dev` reports the workload as ready although its pods do not run on this machine. */
  | { readonly state: 'complete'; readonly ready: number; readonly elsewhere?: string };

export function workloadState(view: View, kind: 'Deployment' | 'StatefulSet', name: string): WorkloadState {
  const live = view.find(kind, name);
  if (live === undefined) return { state: 'missing' };
  const spec = objectOf(live.spec);
  const status = objectOf(live.status);
  const desired = numberOf(spec.replicas) ?? 1;
  const ready = numberOf(status.readyReplicas) ?? 0;
  if (desired === 0) return { state: 'stopped' };
  const observed = numberOf(status.observedGeneration) ?? 0;
  const current = observed >= (live.metadata.generation ?? 0);
  const failure = current ? (failureOf(live) ?? podFailure(view, live)) : undefined;
  if (failure !== undefined) return { state: 'failed', ready, message: `${kind} ${name}: ${failure}` };
  const updated = numberOf(status.updatedReplicas) ?? 0;
  const total = numberOf(status.replicas) ?? 0;
  // Only StatefulSets have revisions. Both revisions are equal after the last pod was replaced.
  const rolled = status.currentRevision === status.updateRevision;
  const complete = current && rolled && ready >= desired && updated >= desired && total <= desired;
  const absent = conditionOf(status, NOT_RUN_HERE);
  if (complete && absent !== undefined) return { state: 'complete', ready, elsewhere: String(absent.message) };
  return complete ? { state: 'complete', ready } : { state: 'progressing', ready, desired, rolled: current && rolled };
}

/** Returns the reason why the pods of a workload do not run on this machine; undefined if they run. */
export function whyElsewhere(state: WorkloadState): string | undefined {
  return state.state === 'complete' ? state.elsewhere : undefined;
}

/** Returns the number of ready pods of all versions. */
export function readyReplicas(state: WorkloadState): number {
  return 'ready' in state ? state.ready : 0;
}

/** Returns advice for a proxy whose pods run but are not ready: the proxy logs the reason. */
export function adviceOnLog(namespace: string, deployment: string): string {
  return `If this lasts, its log has the reason: kubectl -n ${namespace} logs deployment/${deployment}`;
}

/** Returns advice for a server whose pods run but are not ready: the kubelet writes the reason to the pods' events. */
export function adviceOnEvents(namespace: string, statefulSet: string): string {
  return `If this lasts, its events have the reason: kubectl -n ${namespace} describe pod ${statefulSet}-0`;
}

function conditionOf({ conditions }: JsonObject, desired: string): JsonObject | undefined {
  const list = Array.isArray(conditions) ? conditions.filter(isObject) : [];
  return list.find(({ type, status }) => type === desired && status === 'True');
}

/**
 * Returns the message of a condition with which Kubernetes reports a failure. If pods took too long to start, the
 * message names the command that shows their events.
 */
function failureOf({ metadata, spec, status }: KubeObject): string | undefined {
  const { conditions } = objectOf(status);
  if (!Array.isArray(conditions)) return undefined;
  const failed = conditions.filter(isObject).find(({ type, status, reason }) => {
    if (type === 'ReplicaFailure') return status === 'True';
    return type === 'Progressing' && status === 'False' && reason === 'ProgressDeadlineExceeded';
  });
  if (failed === undefined) return undefined;
  const message = typeof failed.message === 'string' ? failed.message : String(failed.reason);
  if (failed.type === 'ReplicaFailure' || metadata.namespace === undefined) return message;
  const labels = Object.entries(objectOf(objectOf(objectOf(spec).selector).matchLabels)).map(
    ([name, value]) => `${name}=${value}`,
  );
  return `${message.replace(/\.$/, '')}. The events of its pods have the reason: kubectl -n ${metadata.namespace} describe pods -l ${labels.join()}`;
}

function objectOf(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

function numberOf(value: Json | undefined): number | undefined {
  return typeof value === 'number' ? value : undefined;
}
