// Tests the phases of an EmbeddingServer for existing objects and for reasons why its children are kept unchanged.

import { expect, test } from 'vitest';
import type { KubeObject } from '#kubernetes/rules/object.ts';
import { isObject, type JsonObject } from '#std/json.ts';
import { viewOf } from '../../../../test/reconciler/kinds/fixture.ts';
import type { Finding, Observed, Resource } from '../kind.ts';
import { EmbeddingServer } from './index.ts';

const SPEC = { image: 'tei:1', model: 'm', port: 8080, replicas: 2, imagePullPolicy: 'IfNotPresent' };

function server(metadata: object = {}, spec: object = {}): Resource {
  return {
    apiVersion: 'toolhive.stacklok.dev/v1alpha1',
    kind: 'EmbeddingServer',
    metadata: { name: 'embeddings', namespace: 'agents', generation: 2, ...metadata },
    spec: { ...SPEC, ...spec },
  };
}

function statefulSet(status: JsonObject): KubeObject {
  const metadata = { name: 'embeddings', namespace: 'agents', generation: 3 };
  return { apiVersion: 'apps/v1', kind: 'StatefulSet', metadata, spec: { replicas: 2 }, status };
}

function reported(resource: Resource, living: readonly KubeObject[], more: Partial<Observed> = {}): readonly unknown[] {
  const view = viewOf(living);
  const now = '2026-11-21T12:00:00Z';
  const status = EmbeddingServer.status(resource, { view, refusals: [], failures: [], now, ...more });
  const conditions = Array.isArray(status.conditions) ? status.conditions.filter(isObject) : [];
  const ready = conditions.find(({ type }) => type === 'Ready');
  return [status.phase, status.message, status.readyReplicas, `${ready?.status} ${ready?.reason}`];
}

const SEEN = { observedGeneration: 3 };
const NOBODY: Finding = { code: 'image-not-enforced', severity: 'error', pointer: '/spec/image', message: 'not so' };

test.each<[reason: string, actual: readonly unknown[], expected: readonly unknown[]]>([
  ['nothing lives', reported(server(), []), ['Pending', 'Waiting for statefulset', 0, 'False StatefulSetPending']],
  [
    'no pod yet',
    reported(server(), [statefulSet({ ...SEEN, replicas: 0 })]),
    ['Pending', 'Waiting for statefulset', 0, 'False StatefulSetPending'],
  ],
  [
    'pods that are not ready have their model to download',
    reported(server(), [statefulSet({ ...SEEN, replicas: 2, updatedReplicas: 2 })]),
    ['Downloading', 'Downloading embedding model', 0, 'False StatefulSetNotReady'],
  ],
  [
    'one of two answers',
    reported(server(), [statefulSet({ ...SEEN, replicas: 2, updatedReplicas: 2, readyReplicas: 1 })]),
    ['Running', 'Embedding server is running', 1, 'False RolloutInProgress'],
  ],
  [
    'all answer',
    reported(server(), [statefulSet({ ...SEEN, replicas: 2, updatedReplicas: 2, readyReplicas: 2 })]),
    ['Running', 'Embedding server is running', 2, 'True StatefulSetReady'],
  ],
  [
    'a rollout is under way',
    reported(server(), [
      statefulSet({
        ...{ ...SEEN, replicas: 2, updatedReplicas: 2, readyReplicas: 2 },
        ...{ currentRevision: 'a', updateRevision: 'b' },
      }),
    ]),
    ['Running', 'Embedding server is running', 2, 'False RolloutInProgress'],
  ],
  [
    'its image is in no enforcing registry, whatever lives',
    reported(server(), [statefulSet({ ...SEEN, replicas: 2, readyReplicas: 2 })], { refusals: [NOBODY] }),
    ['Failed', 'not so', 2, 'False ImageNotEnforced'],
  ],
  [
    'its pod template is none',
    reported(server(), [], { refusals: [{ ...NOBODY, code: 'invalid-pod-template' }] }),
    ['Failed', 'Invalid PodTemplateSpec: not so', 0, 'False InvalidPodTemplateSpec'],
  ],
  [
    'a child was not taken',
    reported(server(), [], { failures: ['Service embeddings: forbidden'] }),
    ['Failed', 'Service embeddings: forbidden', 0, 'False ChildrenFailed'],
  ],
  [
    'it is being deleted, which goes before everything else',
    reported(server({ deletionTimestamp: '2026-11-21T11:00:00Z' }), [], { refusals: [NOBODY] }),
    ['Terminating', 'Embedding server is being terminated', 0, 'False Terminating'],
  ],
])('%s', (_reason, actual, expected) => {
  expect(actual).toEqual(expected);
});

test('its URL follows its port', () => {
  const status = EmbeddingServer.status(server({}, { port: 9090 }), {
    ...{ view: viewOf([]), refusals: [], failures: [], now: '2026-11-21T12:00:00Z' },
  });
  expect(status.url).toBe('http://embeddings.agents.svc.cluster.local:9090');
});
