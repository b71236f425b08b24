// Computes the status of an EmbeddingServer from its StatefulSet and from the reasons why its children are kept
// unchanged.

import { isObject } from '#std/json.ts';
import type { Static } from '#std/schema.ts';
import { type ConditionResult, conditionsOf, observedGeneration } from '../conditions.ts';
import type { Observed } from '../kind.ts';
import { imageCondition } from '../pods/image-condition.ts';
import { podTemplateConditions } from '../pods/pod-template-conditions.ts';
import { type PhaseProgress as Reached, setback } from '../pods/progress.ts';
import { readyReplicas, workloadState } from '../pods/workload.ts';
import { cacheOf } from './cache.ts';
import { type Embedding, serverUrl } from './facts.ts';
import type { EmbeddingServerStatus } from './schema.ts';

type Status = Static<typeof EmbeddingServerStatus>;
type EmbeddingServerProgress = Reached<NonNullable<Status['phase']>>;

export function status(self: Embedding, observed: Observed): Status {
  const { phase, message, ready, reason } =
    setback('Embedding server', self.resource, observed) ?? workloadProgress(self.name, observed.view);
  const results: ConditionResult[] = [
    ...podTemplateConditions(self.spec.podTemplateSpec, observed.refusals),
    imageCondition(observed),
    ...cacheCondition(self, observed),
    { type: 'Ready', status: ready ? 'True' : 'False', reason, message },
  ];
  return {
    ...observedGeneration(self.resource),
    phase,
    message,
    url: serverUrl(self),
    readyReplicas: readyReplicas(workloadState(observed.view, 'StatefulSet', self.name)),
    conditions: conditionsOf(self.resource, results, observed),
  };
}

function workloadProgress(name: string, view: Observed['view']): EmbeddingServerProgress {
  const state = workloadState(view, 'StatefulSet', name);
  if (readyReplicas(state) > 0) {
    const ready = state.state === 'complete';
    const reason = ready ? 'StatefulSetReady' : 'RolloutInProgress';
    return { phase: 'Running', message: 'Embedding server is running', ready, reason };
  }
  if (state.state === 'failed') return { phase: 'Failed', message: state.message, ready: false, reason: 'PodsFailed' };
  if (!hasPods(name, view)) {
    return { phase: 'Pending', message: 'Waiting for statefulset', ready: false, reason: 'StatefulSetPending' };
  }
  const message = 'Downloading embedding model';
  return { phase: 'Downloading', message, ready: false, reason: 'StatefulSetNotReady' };
}

function hasPods(name: string, view: Observed['view']): boolean {
  const status = view.find('StatefulSet', name)?.status;
  return isObject(status) && typeof status.replicas === 'number' && status.replicas > 0;
}

/**
 * Reports a cache that cannot be changed. The resource stays ready, because the server runs with the existing cache.
 */
function cacheCondition(self: Embedding, { view }: Observed): readonly ConditionResult[] {
  const { deviation } = cacheOf(self, view);
  const type = 'ModelCacheApplied';
  if (deviation !== undefined) {
    const way = `kubectl delete statefulset ${self.name} --namespace ${self.namespace}`;
    const message = `${deviation}; Kubernetes cannot change claim templates of an existing StatefulSet, so the cache stays: delete the StatefulSet so that it is created again (${way}; the claims stay and keep their size)`;
    return [{ type, status: 'False', reason: 'ClaimTemplateImmutable', message }];
  }
  if (self.spec.modelCache?.enabled !== true) return [];
  return [{ type, status: 'True', reason: 'ModelCacheAsWanted', message: 'the cache is as declared' }];
}
