// Tests when an object of a kind that is not ours is ready.

import { expect, test } from 'vitest';
import type { JsonObject } from '#std/json.ts';
import { liveStateOf } from './live-state.ts';

function condition(type: string, status: string, message = ''): JsonObject {
  return { conditions: [{ type, status, message }] };
}

function conditionOfGeneration(type: string, observedGeneration: number): JsonObject {
  return { conditions: [{ type, status: 'True', observedGeneration }] };
}

const ON_DELETE = { type: 'OnDelete' };

function partition(count: number): JsonObject {
  return { type: 'RollingUpdate', rollingUpdate: { partition: count } };
}

const PODS = { replicas: 2, updatedReplicas: 2, readyReplicas: 2, availableReplicas: 2 };

test.each<[string, string, JsonObject, JsonObject | undefined, string]>([
  ['apps/v1', 'Deployment', { replicas: 2 }, PODS, 'ready'],
  ['apps/v1', 'Deployment', {}, undefined, '0 of 1 pods have its current template'],
  ['apps/v1', 'Deployment', { replicas: 2 }, { ...PODS, availableReplicas: 1 }, '1 of 2 pods are ready'],
  ['apps/v1', 'Deployment', { replicas: 0 }, undefined, 'ready'],
  ['apps/v1', 'Deployment', { replicas: 2, paused: true }, { ...PODS, updatedReplicas: 0 }, 'ready'],
  ['apps/v1', 'Deployment', { replicas: 2, paused: true }, { availableReplicas: 1 }, '1 of 2 pods are ready'],
  ['apps/v1', 'StatefulSet', { replicas: 3 }, PODS, '2 of 3 pods have its current template'],
  ['apps/v1', 'StatefulSet', { replicas: 2, updateStrategy: ON_DELETE }, { readyReplicas: 2 }, 'ready'],
  ['apps/v1', 'StatefulSet', { replicas: 2, updateStrategy: ON_DELETE }, undefined, '0 of 2 pods are ready'],
  ['apps/v1', 'StatefulSet', { replicas: 3, updateStrategy: partition(1) }, { ...PODS, readyReplicas: 3 }, 'ready'],
  [
    'apps/v1',
    'StatefulSet',
    { replicas: 4, updateStrategy: partition(1) },
    PODS,
    '2 of 3 pods have its current template',
  ],
  ['apps/v1', 'StatefulSet', { replicas: 2, updateStrategy: partition(5) }, { readyReplicas: 2 }, 'ready'],
  [
    'apps/v1',
    'DaemonSet',
    { updateStrategy: ON_DELETE },
    { desiredNumberScheduled: 2, updatedNumberScheduled: 0, numberAvailable: 2 },
    'ready',
  ],
  ['apps/v1', 'DaemonSet', {}, undefined, 'it has no status yet'],
  ['apps/v1', 'DaemonSet', {}, { desiredNumberScheduled: 0 }, 'ready'],
  [
    'apps/v1',
    'DaemonSet',
    {},
    { desiredNumberScheduled: 2, updatedNumberScheduled: 2, numberAvailable: 1 },
    '1 of 2 pods are ready',
  ],
  ['batch/v1', 'Job', {}, {}, 'its condition Complete is not True'],
  ['batch/v1', 'Job', {}, condition('Complete', 'True'), 'ready'],
  ['batch/v1', 'Job', {}, condition('Failed', 'True', 'too often'), 'too often'],
  ['v1', 'Pod', {}, { phase: 'Succeeded' }, 'ready'],
  ['v1', 'Pod', {}, { phase: 'Pending' }, 'its condition Ready is not True'],
  ['v1', 'PersistentVolumeClaim', {}, undefined, 'its phase is Pending'],
  ['v1', 'PersistentVolumeClaim', {}, { phase: 'Bound' }, 'ready'],
  ['v1', 'ConfigMap', {}, undefined, 'ready'],
  ['v1', 'Namespace', {}, { phase: 'Active' }, 'ready'],
  ['apiextensions.k8s.io/v1', 'CustomResourceDefinition', {}, undefined, 'its condition Established is not True'],
  ['cert-manager.io/v1', 'Certificate', {}, undefined, 'ready'],
  ['cert-manager.io/v1', 'Certificate', {}, condition('Ready', 'False', 'issuing'), 'issuing'],
  ['cert-manager.io/v1', 'Certificate', {}, condition('Ready', 'Unknown'), 'its condition Ready is not True'],
  [
    'cert-manager.io/v1',
    'Certificate',
    {},
    conditionOfGeneration('Ready', 1),
    'its condition Ready is of an earlier generation',
  ],
  ['cert-manager.io/v1', 'Certificate', {}, conditionOfGeneration('Ready', 2), 'ready'],
  ['v1', 'Pod', {}, conditionOfGeneration('Ready', 1), 'its condition Ready is of an earlier generation'],
  ['helm.toolkit.fluxcd.io/v2', 'HelmRelease', {}, condition('Reconciling', 'True', 'upgrading'), 'upgrading'],
  ['helm.toolkit.fluxcd.io/v2', 'HelmRelease', {}, condition('Stalled', 'True', 'no chart'), 'no chart'],
  ['example.com/v1', 'Deployment', { replicas: 2 }, undefined, 'ready'],
  ['v1', 'ConfigMap', {}, { observedGeneration: 1 }, 'its status is of an earlier generation'],
])('%s %s with %j and %j: %s', (apiVersion, kind, spec, status, expected) => {
  const metadata = { name: 'x', generation: 2 };
  const { ready, why } = liveStateOf({ apiVersion, kind, metadata, spec, ...(status === undefined ? {} : { status }) });
  expect(ready ? 'ready' : why).toBe(expected);
});

test('an object that is being deleted is not ready', () => {
  const metadata = { name: 'x', deletionTimestamp: '2026-01-01T00:00:00Z' };
  expect(liveStateOf({ apiVersion: 'v1', kind: 'ConfigMap', metadata })).toMatchObject({ ready: false });
});
