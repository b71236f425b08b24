// Tests Deployments and StatefulSets over HTTPS: they become ready after a while, or report why not.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually, startTestCluster, type TestAnswer, type TestCluster } from '../../harness/cluster.ts';

let cluster: TestCluster;
const DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments';
const STATEFUL_SETS = '/apis/apps/v1/namespaces/default/statefulsets';

beforeAll(async () => {
  cluster = await startTestCluster({ workloadsReadyAfterMs: 100 });
});

afterAll(() => cluster.stop());

interface Extra {
  readonly replicas?: number;
  readonly image?: string;
  readonly annotations?: Record<string, string>;
}

function workload(kind: string, name: string, { replicas = 2, image = 'a:1', annotations }: Extra = {}): object {
  const labels = { app: name };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'a', image }] } };
  const serviceName = kind === 'StatefulSet' ? { serviceName: name } : {};
  const spec = { replicas, selector: { matchLabels: labels }, template, ...serviceName };
  return {
    apiVersion: 'apps/v1',
    kind,
    metadata: { name, ...(annotations === undefined ? {} : { annotations }) },
    spec,
  };
}

function conditions({ body }: TestAnswer): string[] {
  const all: { type: string; status: string; reason: string }[] = body.status.conditions ?? [];
  return all.map(({ type, status, reason }) => `${type}=${status} ${reason}`);
}

function settled({ body }: TestAnswer): boolean {
  return (
    body.status.observedGeneration === body.metadata.generation && body.status.readyReplicas === body.spec.replicas
  );
}

test('a Deployment progresses, then is available, and its status is the one of its generation', async () => {
  const path = `${DEPLOYMENTS}/web`;
  const made = await cluster.apply(path, workload('Deployment', 'web'));
  expect(made.body.status).toEqual({});
  const from = `watch=true&fieldSelector=metadata.name=web&resourceVersion=${made.body.metadata.resourceVersion}`;
  const seen = await cluster.watch(`${DEPLOYMENTS}?${from}`, (events) =>
    events.some(({ object }) => settled({ body: object } as TestAnswer)),
  );
  const progressing = seen.find(({ object }) => object.status.observedGeneration === 1);
  expect(conditions({ body: progressing.object } as TestAnswer)[0]).toBe('Available=False MinimumReplicasUnavailable');
  const ready = await eventually(() => cluster.send('GET', path), settled);
  expect(conditions(ready)).toEqual([
    'Available=True MinimumReplicasAvailable',
    'Progressing=True NewReplicaSetAvailable',
  ]);
  expect(ready.body.status).toMatchObject({ replicas: 2, updatedReplicas: 2, availableReplicas: 2 });
  expect(ready.body.metadata.annotations['deployment.kubernetes.io/revision']).toBe('1');
});

test('another image makes another revision, a label does not', async () => {
  const path = `${DEPLOYMENTS}/rolled`;
  const revision = (answer: TestAnswer) => answer.body.metadata.annotations?.['deployment.kubernetes.io/revision'];
  await cluster.apply(path, workload('Deployment', 'rolled'));
  await eventually(() => cluster.send('GET', path), settled);
  await cluster.apply(path, workload('Deployment', 'rolled', { replicas: 3 }));
  await eventually(() => cluster.send('GET', path), settled);
  expect(revision(await cluster.send('GET', path))).toBe('1');
  await cluster.apply(path, workload('Deployment', 'rolled', { replicas: 3, image: 'a:2' }));
  await eventually(
    () => cluster.send('GET', path),
    (answer) => revision(answer) === '2' && settled(answer),
  );
});

test('the status belongs to the controller manager, and fields of others stay', async () => {
  const path = `${DEPLOYMENTS}/owned`;
  const object = workload('Deployment', 'owned');
  await cluster.apply(path, object, 'fieldManager=git');
  const ready = await eventually(() => cluster.send('GET', path), settled);
  const managers = ready.body.metadata.managedFields.map(
    (entry: { manager: string; operation: string; subresource?: string }) => [
      entry.manager,
      entry.operation,
      entry.subresource,
    ],
  );
  expect(managers).toEqual([
    ['git', 'Apply', undefined],
    ['kube-controller-manager', 'Update', 'status'],
  ]);
  const again = await cluster.apply(path, object, 'fieldManager=git');
  expect(again.body.metadata.resourceVersion).toBe(ready.body.metadata.resourceVersion);
});

test('a StatefulSet becomes ready and names its revisions', async () => {
  const path = `${STATEFUL_SETS}/db`;
  await cluster.apply(path, workload('StatefulSet', 'db'));
  const { body } = await eventually(() => cluster.send('GET', path), settled);
  expect(body.status).toMatchObject({ replicas: 2, currentReplicas: 2, updatedReplicas: 2, availableReplicas: 2 });
  expect(body.status.currentRevision).toBe(body.status.updateRevision);
});

const FAILING: readonly { kind: string; path: string }[] = [
  { kind: 'Deployment', path: DEPLOYMENTS },
  { kind: 'StatefulSet', path: STATEFUL_SETS },
];

test.each(FAILING)(
  'an annotation makes a $kind fail and say why, without it the $kind recovers',
  async ({ kind, path }) => {
    const at = `${path}/failing`;
    const annotations = { 'devcluster.skep.dev/fail': 'no such image' };
    await cluster.apply(at, workload(kind, 'failing', { annotations }));
    const failed = await eventually(
      () => cluster.send('GET', at),
      (answer) => conditions(answer).some((text) => text.startsWith('ReplicaFailure=True')),
    );
    const failure = failed.body.status.conditions.find(({ type }: { type: string }) => type === 'ReplicaFailure');
    expect([failure.message, failed.body.status.readyReplicas]).toEqual(['no such image', undefined]);
    await cluster.apply(at, workload(kind, 'failing'));
    const ready = await eventually(() => cluster.send('GET', at), settled);
    expect(conditions(ready).some((text) => text.startsWith('ReplicaFailure'))).toBe(false);
  },
);

test('scaling through the subresource is followed', async () => {
  const path = `${DEPLOYMENTS}/scaled`;
  await cluster.apply(path, workload('Deployment', 'scaled', { replicas: 1 }));
  await eventually(() => cluster.send('GET', path), settled);
  const { body: scale } = await cluster.send('GET', `${path}/scale`);
  expect(scale).toMatchObject({ kind: 'Scale', spec: { replicas: 1 }, status: { selector: 'app=scaled' } });
  const put = await cluster.send('PUT', `${path}/scale`, { body: { ...scale, spec: { replicas: 5 } } });
  expect(put.status).toBe(200);
  const ready = await eventually(
    () => cluster.send('GET', path),
    (answer) => answer.body.spec.replicas === 5 && settled(answer),
  );
  expect(ready.body.status.availableReplicas).toBe(5);
});

test('workloads that were not ready when the server stopped become ready after its next start', async () => {
  const path = `${DEPLOYMENTS}/late`;
  await cluster.apply(path, workload('Deployment', 'late'));
  await cluster.restart();
  await eventually(() => cluster.send('GET', path), settled);
});
