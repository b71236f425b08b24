// Explains why the pods of a workload do not start, in a message that stays equal while the cause is the same. Runs
// list only pods of workloads that have fewer ready pods than declared.

import type { KubeObject } from '#kubernetes/rules/object.ts';
import { isObject, type Json, type JsonObject } from '#std/json.ts';
import type { View } from '../kind.ts';

/**
 * Returns undefined if no container in a pod of the current version has a failure that `containerFailure` recognises.
 * Older pods do not explain why new pods do not start.
 */
export function podFailure(view: View, workload: KubeObject): string | undefined {
  for (const pod of view.pods?.(workload.kind, workload.metadata.name) ?? []) {
    if (!isCurrent(pod, workload)) continue;
    const failure = containersOf(pod).map(containerFailure).find(isKnown);
    if (failure !== undefined) return `pod ${pod.metadata.name}: ${failure}`;
  }
  return undefined;
}

function isCurrent({ metadata }: KubeObject, { spec, status }: KubeObject): boolean {
  const selectorLabels = labelsOf(spec);
  const labels = metadata.labels ?? {};
  if (selectorLabels.length === 0 || selectorLabels.some(([key, value]) => labels[key] !== value)) return false;
  const { updateRevision, replicas, updatedReplicas } = isObject(status) ? status : {};
  // Pods of a StatefulSet have their version in a label. Pods of a Deployment have no such label, but all of them are
  // current if all were updated.
  return updateRevision === undefined
    ? replicas === updatedReplicas
    : labels['controller-revision-hash'] === updateRevision;
}

function labelsOf(spec: Json | undefined): readonly [string, Json | undefined][] {
  const selector = isObject(spec) && isObject(spec.selector) ? spec.selector.matchLabels : undefined;
  return isObject(selector) ? Object.entries(selector) : [];
}

function containersOf({ status }: KubeObject): readonly JsonObject[] {
  const { initContainerStatuses, containerStatuses } = isObject(status) ? status : {};
  return [initContainerStatuses, containerStatuses]
    .flatMap((list) => (Array.isArray(list) ? list : []))
    .filter(isObject);
}

/**
 * Returns the reason why the container does not start. Adds the kubelet's message only if it is the same at each
 * attempt.
 */
function containerFailure({ name, image, state, lastState }: JsonObject): string | undefined {
  const waiting = isObject(state) && isObject(state.waiting) ? state.waiting : {};
  const subject = `container ${name}`;
  switch (waiting.reason) {
    case 'CrashLoopBackOff': {
      const last = isObject(lastState) && isObject(lastState.terminated) ? lastState.terminated : {};
      const code = last.exitCode === undefined ? '' : `, exit code ${last.exitCode}`;
      return `${subject}: CrashLoopBackOff${code}`;
    }
    // With every attempt, the kubelet alternates between these two reasons.
    case 'ErrImagePull':
    case 'ImagePullBackOff':
      return `${subject}: ImagePullBackOff: ${image} cannot be pulled`;
    case 'InvalidImageName':
    case 'ErrImageNeverPull':
    case 'CreateContainerConfigError':
    case 'CreateContainerError':
      return `${subject}: ${waiting.reason}: ${waiting.message ?? ''}`;
    default:
      return undefined;
  }
}

function isKnown(failure: string | undefined): failure is string {
  return failure !== undefined;
}
