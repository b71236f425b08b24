// Tests which pods explain why a workload does not start, and with which message.

import { expect, test } from 'vitest';
import type { KubeObject } from '#kubernetes/rules/object.ts';
import type { JsonObject } from '#std/json.ts';
import { workloadState } from './workload.ts';

const LABELS = { app: 'search' };

function pod(name: string, labels: Record<string, string>, container: JsonObject): KubeObject {
  const status = { containerStatuses: [{ name: 'mcp', image: 'search:1', ...container }] };
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name, labels: { ...LABELS, ...labels } }, status };
}

function waiting(reason: string, message = '', rest: JsonObject = {}): JsonObject {
  return { state: { waiting: { reason, message } }, ...rest };
}

function stateWith(kind: 'Deployment' | 'StatefulSet', status: JsonObject, pods: readonly KubeObject[]) {
  const spec = { replicas: 1, selector: { matchLabels: LABELS } };
  const metadata = { name: 'search', namespace: 'docs', generation: 1 };
  const object: KubeObject = {
    apiVersion: 'apps/v1',
    kind,
    metadata,
    spec,
    status: { observedGeneration: 1, replicas: 1, ...status },
  };
  const view = {
    find: (asked: string) => (asked === kind ? object : undefined),
    all: () => [],
    pods: () => pods,
  };
  return workloadState(view, kind, 'search');
}

const CRASHED = waiting('CrashLoopBackOff', 'back-off 40s restarting failed container', {
  lastState: { terminated: { exitCode: 1 } },
});

const ROWS: readonly [reason: string, container: JsonObject, message: string | undefined][] = [
  ['seconds of a back-off are left out', CRASHED, 'CrashLoopBackOff, exit code 1'],
  ['tries to pull look the same', waiting('ErrImagePull', 'try 1'), 'ImagePullBackOff: search:1 cannot be pulled'],
  ['between the tries, too', waiting('ImagePullBackOff', 'later'), 'ImagePullBackOff: search:1 cannot be pulled'],
  [
    'a Secret without the key',
    waiting('CreateContainerConfigError', `couldn't find key token in Secret docs/search`),
    `CreateContainerConfigError: couldn't find key token in Secret docs/search`,
  ],
  ['a starting container has not failed', waiting('ContainerCreating'), undefined],
  ['a running container has not failed', { state: { running: {} } }, undefined],
];

test.each(ROWS)('%s', (_reason, container, message) => {
  const state = stateWith('Deployment', { updatedReplicas: 1 }, [pod('search-1', {}, container)]);
  if (message === undefined) expect(state.state).toBe('progressing');
  else
    expect(state).toEqual({
      state: 'failed',
      ready: 0,
      message: `Deployment search: pod search-1: container mcp: ${message}`,
    });
});

test('a failed init container is reported', () => {
  const failing = pod('search-1', {}, {});
  const status = { initContainerStatuses: [{ name: 'setup', ...CRASHED }] };
  const state = stateWith('Deployment', { updatedReplicas: 1 }, [{ ...failing, status }]);
  expect(state).toMatchObject({ message: expect.stringContaining('container setup: CrashLoopBackOff') });
});

test('pods of the previous version are ignored', () => {
  const old = pod('search-0', { 'controller-revision-hash': 'one' }, CRASHED);
  const revisions = { currentRevision: 'one', updateRevision: 'two' };
  expect(stateWith('StatefulSet', revisions, [old]).state).toBe('progressing');
  const renewed = pod('search-0', { 'controller-revision-hash': 'two' }, CRASHED);
  expect(stateWith('StatefulSet', revisions, [renewed]).state).toBe('failed');
  expect(stateWith('Deployment', { updatedReplicas: 0 }, [pod('search-1', {}, CRASHED)]).state).toBe('progressing');
});

test('pods of other workloads are ignored', () => {
  const other = pod('other-1', { app: 'other' }, CRASHED);
  expect(stateWith('Deployment', { updatedReplicas: 1 }, [other]).state).toBe('progressing');
});

test('if Kubernetes gives up, the message names the command that shows the reason', () => {
  const gaveUp = {
    type: 'Progressing',
    status: 'False',
    reason: 'ProgressDeadlineExceeded',
    message: 'ReplicaSet "search-1" has timed out progressing.',
  };
  expect(stateWith('Deployment', { conditions: [gaveUp] }, [])).toMatchObject({
    state: 'failed',
    message:
      'Deployment search: ReplicaSet "search-1" has timed out progressing. ' +
      'The events of its pods have the reason: kubectl -n docs describe pods -l app=search',
  });
});
