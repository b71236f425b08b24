// Tests pods of the embedded cluster as processes of this machine: their start, their environment, their end.

import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { FindProgram } from '#kubernetes/devcluster/node/ports.ts';
import { eventually, startTestCluster, type TestAnswer, type TestCluster } from '../../harness/cluster.ts';

const PROGRAM = fileURLToPath(new URL('node-program.mjs', import.meta.url));
const PODS = '/api/v1/namespaces/default/pods';
const DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments';
const STATEFUL_SETS = '/apis/apps/v1/namespaces/default/statefulsets';
const IMAGE = 'images.example.com/program:1';

const find: FindProgram = ({ image }) =>
  image === IMAGE ? { command: [process.execPath, PROGRAM] } : { absent: `${image} stands for nothing` };

let cluster: TestCluster;

beforeAll(async () => {
  cluster = await startTestCluster({ workloadsReadyAfterMs: 0, node: { find, path: process.env.PATH ?? '' } });
});

afterAll(() => cluster.stop());

interface Template {
  readonly args?: readonly string[];
  readonly env?: readonly object[];
  readonly image?: string;
  readonly mounts?: readonly object[];
  readonly volumes?: readonly object[];
  readonly more?: object;
}

const SERVES = {
  ports: [{ name: 'http', containerPort: 80 }],
  readinessProbe: { httpGet: { path: '/ready', port: 'http' }, periodSeconds: 1 },
};

function container({ args = ['serve'], env = [], image = IMAGE, mounts = [], more = SERVES }: Template): object {
  return { name: 'main', image, args, env: [{ name: 'PORT', value: '80' }, ...env], volumeMounts: mounts, ...more };
}

async function startPod(name: string, template: Template = {}): Promise<void> {
  const { volumes = [] } = template;
  const spec = { terminationGracePeriodSeconds: 2, containers: [container(template)], volumes };
  const metadata = { name, labels: { app: name } };
  const body = { apiVersion: 'v1', kind: 'Pod', metadata, spec };
  expect((await cluster.send('POST', PODS, { body })).status).toBe(201);
  const ports = [{ port: 8080, targetPort: 'http' }];
  const service = { apiVersion: 'v1', kind: 'Service', metadata: { name }, spec: { selector: { app: name }, ports } };
  await cluster.send('POST', '/api/v1/namespaces/default/services', { body: service });
}

async function urlOf(service: string, path: string): Promise<string> {
  return `http://127.0.0.1:${await cluster.cluster.node?.services.port('default', service, 8080)}${path}`;
}

/** Resolves when it responds. */
async function ask(service: string, path: string): Promise<string> {
  const url = await urlOf(service, path);
  const answer = await eventually(
    () => fetch(url).catch(() => undefined),
    (response) => response?.status === 200,
  );
  return (await answer?.text()) ?? '';
}

interface Started {
  readonly env: Record<string, string>;
  readonly args: readonly string[];
  readonly pid: number;
}

async function startedWith(service: string): Promise<Started> {
  return JSON.parse(await ask(service, '/environment'));
}

function statusOf({ body }: TestAnswer) {
  return body.status?.containerStatuses?.[0];
}

function podUntil(name: string, pleases: (answer: TestAnswer) => boolean): Promise<TestAnswer> {
  return eventually(() => cluster.send('GET', `${PODS}/${name}`), pleases);
}

async function eventsOf(name: string): Promise<readonly string[]> {
  const { body } = await cluster.send('GET', `/api/v1/namespaces/default/events`);
  return body.items
    .filter((event: { involvedObject: { name: string } }) => event.involvedObject.name === name)
    .map(({ reason, message }: { reason: string; message: string }) => `${reason}: ${message}`);
}

test('a process gets the environment that its pod declares, a PATH, a home and ports of its own, and nothing else', async () => {
  const secret = { metadata: { name: 'credentials' }, stringData: { token: 'a-secret-value' } };
  await cluster.send('POST', '/api/v1/namespaces/default/secrets', {
    body: { apiVersion: 'v1', kind: 'Secret', ...secret },
  });
  await startPod('environment', {
    args: ['serve', '--port=80', '--name', '$(NAME)', '--host', '0.0.0.0'],
    env: [
      { name: 'TOKEN', valueFrom: { secretKeyRef: { name: 'credentials', key: 'token' } } },
      { name: 'NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
      { name: 'MCP_HOST', value: '0.0.0.0' },
      { name: 'GREETING', value: 'hello $(NAME)' },
    ],
  });
  const { env, args } = await startedWith('environment');
  expect(Object.keys(env).sort()).toEqual(['GREETING', 'HOME', 'MCP_HOST', 'NAME', 'PATH', 'PORT', 'TOKEN']);
  expect(env).toMatchObject({ TOKEN: 'a-secret-value', MCP_HOST: '127.0.0.1', GREETING: 'hello environment' });
  expect(Number(env.PORT)).toBeGreaterThan(1024);
  expect(args).toEqual([`--port=${env.PORT}`, '--name', 'environment', '--host', '127.0.0.1']);
});

test('mounted ConfigMaps and Secrets are files that change with them', async () => {
  const path = '/api/v1/namespaces/default/configmaps';
  const settings = (text: string) => ({
    ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'settings' } },
    data: { 'settings.txt': text },
  });
  await cluster.send('POST', path, { body: settings('the first') });
  await startPod('mounted', {
    env: [{ name: 'FILE', value: '/etc/settings/settings.txt' }],
    mounts: [{ name: 'settings', mountPath: '/etc/settings' }],
    volumes: [{ name: 'settings', configMap: { name: 'settings' } }],
  });
  const { env } = await startedWith('mounted');
  const file = `/file?path=${encodeURIComponent(env.FILE ?? '')}`;
  expect(await ask('mounted', file)).toBe('the first');
  await cluster.send('PUT', `${path}/settings`, { body: settings('the second') });
  const text = await eventually(
    () => ask('mounted', file),
    (each) => each !== 'the first',
  );
  expect(text).toBe('the second');
});

test('a pod waits for the objects that it mounts, and its status says so', async () => {
  await startPod('waits', {
    mounts: [{ name: 'late', mountPath: '/etc/late' }],
    volumes: [{ name: 'late', configMap: { name: 'late' } }],
  });
  const waiting = await podUntil('waits', (answer) => statusOf(answer)?.state.waiting?.message !== undefined);
  expect(statusOf(waiting).state.waiting).toMatchObject({
    reason: 'CreateContainerConfigError',
    message: 'configmaps/late does not exist in default',
  });
  const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'late' } };
  await cluster.send('POST', '/api/v1/namespaces/default/configmaps', { body });
  await podUntil('waits', (answer) => statusOf(answer)?.ready === true);
});

test('a killed process is started again, and its status says how the previous one ended', async () => {
  await startPod('killed');
  const { pid } = await startedWith('killed');
  process.kill(pid, 'SIGKILL');
  const back = await podUntil('killed', (answer) => statusOf(answer)?.restartCount === 1 && statusOf(answer).ready);
  expect(statusOf(back).lastState.terminated).toMatchObject({ exitCode: 137, reason: 'Error' });
  expect((await startedWith('killed')).pid).not.toBe(pid);
});

test('a container that ends again and again is started later each time', async () => {
  await startPod('crashes', { args: ['exit', '3'], more: {} });
  const waiting = await podUntil('crashes', (answer) => statusOf(answer)?.state.waiting?.reason === 'CrashLoopBackOff');
  expect(statusOf(waiting)).toMatchObject({
    ready: false,
    restartCount: 1,
    lastState: { terminated: { exitCode: 3 } },
  });
  expect(await eventsOf('crashes')).toContain('BackOff: Back-off restarting failed container main in pod crashes');
});

test('a workload whose image has no program here is ready without pods, and an Event says why', async () => {
  const spec = { containers: [container({ image: 'images.example.com/other:1', more: {} })] };
  const workload = {
    selector: { matchLabels: { app: 'other' } },
    template: { metadata: { labels: { app: 'other' } }, spec },
  };
  const body = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'other' }, spec: workload };
  await cluster.send('POST', DEPLOYMENTS, { body });
  await eventually(
    () => cluster.send('GET', `${DEPLOYMENTS}/other`),
    (answer) => answer.body.status.readyReplicas === 1,
  );
  expect(await eventsOf('other')).toEqual(['NotRunHere: images.example.com/other:1 stands for nothing']);
  const { body: pods } = await cluster.send('GET', `${PODS}?labelSelector=app%3Dother`);
  expect(pods.items).toEqual([]);
});

test('a workload whose program becomes known while it settles without pods never counts as ready before its pods are', async () => {
  const known = new Set<string>();
  const findKnown: FindProgram = (spec) =>
    known.has(spec.image) ? { command: [process.execPath, PROGRAM] } : { absent: '' };
  const parts = { workloadsReadyAfterMs: 500, node: { find: findKnown, path: process.env.PATH ?? '' } };
  const late = await startTestCluster(parts);
  const make = (name: string) => {
    const readinessProbe = { httpGet: { path: '/environment', port: 'never' } };
    const spec = { containers: [container({ image: `images.example.com/${name}:1`, more: { readinessProbe } })] };
    const template = { metadata: { labels: { app: name } }, spec };
    const workload = { selector: { matchLabels: { app: name } }, template };
    const body = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name }, spec: workload };
    return late.send('POST', DEPLOYMENTS, { body });
  };
  try {
    const { body } = await make('late');
    await eventually(
      () => late.send('GET', `${DEPLOYMENTS}/late`),
      (answer) => answer.body.status.observedGeneration === 1,
    );
    known.add('images.example.com/late:1');
    late.cluster.programsChanged();
    // This workload begins later. When it counts as ready, the time of the first one is over.
    await make('unknown');
    const since = `watch=true&resourceVersion=${body.metadata.resourceVersion}`;
    const isReady = ({ object }: { object: TestAnswer['body'] }) => object.status.readyReplicas === 1;
    const seen = await late.watch(`${DEPLOYMENTS}?${since}`, (events) => events.some(isReady));
    expect(seen.filter(isReady).map(({ object }) => object.metadata.name)).toEqual(['unknown']);
  } finally {
    await late.stop();
  }
});

test.each([
  { kind: 'Deployment', path: DEPLOYMENTS, more: {} },
  { kind: 'StatefulSet', path: STATEFUL_SETS, more: { serviceName: 'rolled' } },
])('a $kind is ready when its pods are, and another template replaces them', async ({ kind, path, more }) => {
  const name = `rolled-${kind.toLowerCase()}`;
  const labels = { app: name };
  const template = (value: string) => ({
    metadata: { labels },
    spec: { containers: [container({ env: [{ name: 'VALUE', value }] })], terminationGracePeriodSeconds: 1 },
  });
  const workload = (value: string) => ({
    ...{ apiVersion: 'apps/v1', kind, metadata: { name } },
    spec: { replicas: 2, selector: { matchLabels: labels }, template: template(value), ...more },
  });
  const values = async () => {
    const { body } = await cluster.send('GET', `${PODS}?labelSelector=app%3D${name}`);
    return body.items.map((pod: { spec: { containers: { env: { value: string }[] }[] } }) => {
      return pod.spec.containers[0]?.env[1]?.value;
    });
  };
  await cluster.apply(`${path}/${name}`, workload('old'));
  const ready = (answer: TestAnswer) =>
    answer.body.status.readyReplicas === 2 && answer.body.status.observedGeneration === answer.body.metadata.generation;
  await eventually(() => cluster.send('GET', `${path}/${name}`), ready);
  expect(await values()).toEqual(['old', 'old']);
  await cluster.apply(`${path}/${name}`, workload('new'));
  await eventually(values, (all) => all.length === 2 && all.every((value: string) => value === 'new'));
  await eventually(() => cluster.send('GET', `${path}/${name}`), ready);
  await cluster.send('DELETE', `${path}/${name}`);
  await eventually(values, (all) => all.length === 0);
});

test('a Service keeps its port over a restart of the cluster, and its pods are back', async () => {
  await startPod('stays');
  const url = await urlOf('stays', '/environment');
  const { pid } = await startedWith('stays');
  await cluster.restart();
  expect(await urlOf('stays', '/environment')).toBe(url);
  expect((await startedWith('stays')).pid).not.toBe(pid);
  const pod = await podUntil('stays', (answer) => statusOf(answer)?.ready === true);
  expect(statusOf(pod).restartCount).toBe(1);
});

test('the node starts no pod before it may begin, and each pod afterwards', async () => {
  const { promise: begin, resolve } = Promise.withResolvers<void>();
  const waiting = await startTestCluster({ node: { find, begin, path: process.env.PATH ?? '' } });
  try {
    const body = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'early' }, spec: { containers: [container({})] } };
    expect((await waiting.send('POST', PODS, { body })).status).toBe(201);
    const phase = async () => {
      const { body: pod } = await waiting.send('GET', `${PODS}/early`);
      return pod.status?.phase as string | undefined;
    };
    // A finished deletion shows that the node has looked.
    const gone = { ...body, metadata: { name: 'gone' } };
    expect((await waiting.send('POST', PODS, { body: gone })).status).toBe(201);
    await waiting.send('DELETE', `${PODS}/gone`);
    await eventually(
      async () => (await waiting.send('GET', `${PODS}/gone`)).status,
      (status) => status === 404,
    );
    expect(await phase()).not.toBe('Running');
    expect(waiting.cluster.node?.container({ namespace: 'default', pod: 'early', container: 'main' })).toBeUndefined();
    resolve();
    await eventually(phase, (text) => text === 'Running');
  } finally {
    await waiting.stop();
  }
});
