// A process that stays keeps its lists current by watches: drift is repaired without LISTs, and the final state is right when watches
// are cut, expire, come late or lose events, and when the API server restarts.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ConnectedCluster, connectCluster } from '#adapters/cluster/connect.ts';
import { systemClock } from '#hosts/clock.ts';
import { readConfig } from '#hosts/config/read-config.ts';
import { keepRunning } from '#hosts/reconciler/loop/keep.ts';
import { tellPeople } from '#hosts/reconciler/loop/teller.ts';
import { idOf, type KubeObject } from '#kubernetes/rules/object.ts';
import { crd } from '#reconciler/kinds/crd.ts';
import { KINDS } from '#reconciler/kinds/index.ts';
import { INSTALLED } from '#std/words/command-of.ts';
import { eventually, startTestCluster, type TestCluster } from '../../harness/cluster.ts';
import { startWatchProxy, type WatchProxy } from '../../harness/watch-proxy.ts';

const GROUP = 'toolhive.stacklok.dev';
const NAMESPACE = 'docs';
const folder = mkdtempSync(join(tmpdir(), 'skep-watched-'));
let server: TestCluster;
let proxy: WatchProxy;
let others: ConnectedCluster;
let said = '';
let isEnough = (): void => undefined;
let running: Promise<boolean> | undefined;

beforeAll(async () => {
  server = await startTestCluster({ workloadsReadyAfterMs: 1 });
  proxy = await startWatchProxy(server);
  others = await connectCluster({
    kubeconfig: server.kubeconfigPath,
    fieldManager: 'kubectl',
    concurrency: 16,
    version: 'test',
    clock: systemClock,
  });
  for (const kind of KINDS) await others.apply(crd(kind, GROUP), { force: true });
  others.refresh();
  for (const name of [NAMESPACE, 'elsewhere'])
    await others.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } }, { force: true });
  const settings = {
    apiGroup: GROUP,
    sources: [],
    scope: 'cluster',
    // It has no part in this: all runs but the first are woken by watches.
    schedule: '0 0 0 1 1 *',
    cluster: { kubeconfig: proxy.kubeconfigPath },
    stateDir: join(folder, 'state'),
    images: { proxy: 'proxy:1', vmcp: 'vmcp:1', registry: 'registry:1' },
  };
  const config = readConfig({ text: JSON.stringify(settings), file: 'skep.yaml', environment: {} });
  const enough = new Promise<void>((resolve) => {
    isEnough = resolve;
  });
  const note = (text: string): void => {
    said += text;
  };
  const teller = tellPeople({ out: note, err: note }, INSTALLED);
  running = keepRunning(config, { enough, teller, logger: pino({ level: 'silent' }) });
  await others.apply(mcpServer(0), { force: true });
  await others.apply(groupOfServers(), { force: true });
  await others.apply(virtualServer(), { force: true });
  await untilImage(0);
  await eventually(children, (found) => found.length > 10);
  await untilQuiet();
});

afterAll(async () => {
  isEnough();
  await running;
  await Promise.all([others.close(), proxy.close()]);
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

function mcpServer(version: number): KubeObject {
  const metadata = { name: 'clock', namespace: NAMESPACE };
  const spec = {
    image: `images.example.com/clock:${version}`,
    transport: 'streamable-http',
    mcpPort: 8080,
    groupRef: { name: 'team' },
  };
  return { apiVersion: `${GROUP}/v1beta1`, kind: 'MCPServer', metadata, spec };
}

function groupOfServers(): KubeObject {
  return {
    apiVersion: `${GROUP}/v1beta1`,
    kind: 'MCPGroup',
    metadata: { name: 'team', namespace: NAMESPACE },
    spec: {},
  };
}

function virtualServer(): KubeObject {
  const metadata = { name: 'all', namespace: NAMESPACE };
  const spec = { groupRef: { name: 'team' }, incomingAuth: { type: 'anonymous' } };
  return { apiVersion: `${GROUP}/v1beta1`, kind: 'VirtualMCPServer', metadata, spec };
}

const WORKLOAD = { apiVersion: 'apps/v1', kind: 'StatefulSet', namespace: NAMESPACE, name: 'clock' };

async function untilImage(version: number): Promise<void> {
  const image = JSON.stringify(`images.example.com/clock:${version}`);
  await eventually(
    () => others.get(WORKLOAD),
    (found) => JSON.stringify(found?.spec ?? '').includes(image),
  );
}

const CHILD_KINDS = new Set(
  'StatefulSet Deployment Service ConfigMap Secret ServiceAccount Role RoleBinding NetworkPolicy'.split(' '),
);

/** Objects in the namespace that the instance keeps. */
async function children(): Promise<KubeObject[]> {
  const kinds = (await others.resources()).filter(({ kind }) => CHILD_KINDS.has(kind));
  const selector = 'applyset.kubernetes.io/part-of';
  const found = await Promise.all(kinds.map((kind) => others.list(kind, NAMESPACE, { selector })));
  return found.flat();
}

/** All lists are watched, and no run is under way that would send another request. */
async function untilQuiet(): Promise<void> {
  let before = -1;
  await eventually(
    async () => {
      const sent = proxy.seen.length;
      await new Promise((done) => setTimeout(done, 300));
      const isQuiet = sent === before && proxy.seen.length === sent && proxy.open().length > 10;
      before = proxy.seen.length;
      return isQuiet;
    },
    (isQuiet) => isQuiet,
  );
}

/** What another field manager does to an object, of each kind what its spec is. */
function drifted(object: KubeObject): KubeObject {
  const { apiVersion, kind, metadata } = object;
  const named = { name: metadata.name, namespace: NAMESPACE };
  const labels = Object.fromEntries(Object.keys(metadata.labels ?? {}).map((name) => [name, 'drifted']));
  return { apiVersion, kind, metadata: { ...named, labels } };
}

async function untilAsBefore(object: KubeObject): Promise<void> {
  await eventually(
    () => others.get(idOf(object)),
    (found) =>
      found !== undefined &&
      found.metadata.deletionTimestamp === undefined &&
      JSON.stringify(found.metadata.labels) === JSON.stringify(object.metadata.labels),
  );
}

function requestsSince(from: number, verb: string): string[] {
  return proxy.seen.slice(from).filter((label) => label.startsWith(`${verb} `));
}

test('drift of each kind is repaired, without a LIST', async () => {
  const kept = await children();
  expect(new Set(kept.map(({ kind }) => kind)).size).toBeGreaterThan(5);
  const from = proxy.seen.length;
  for (const object of kept) {
    await others.apply(drifted(object), { force: true });
    await untilAsBefore(object);
  }
  await untilQuiet();
  expect(requestsSince(from, 'LIST')).toEqual([]);
});

test('children that are deleted are created again', async () => {
  for (const object of await children()) {
    await others.remove(idOf(object), object.metadata.uid ?? '');
    await eventually(
      () => others.get(idOf(object)),
      (found) => found !== undefined && found.metadata.uid !== object.metadata.uid,
    );
  }
  await untilQuiet();
});

test('own writes and statuses of others wake no run, and neither do objects that are not of the instance', async () => {
  await untilQuiet();
  const from = proxy.seen.length;
  const other = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'own', namespace: 'elsewhere' } };
  await others.apply({ ...other, data: { a: '1' } }, { force: true });
  await others.apply(
    {
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      metadata: { name: WORKLOAD.name, namespace: NAMESPACE },
      status: { replicas: 0 },
    },
    { force: true, subresource: 'status' },
  );
  await untilQuiet();
  expect(proxy.seen.slice(from)).toEqual([]);
});

let version = 0;

async function changeAndDrift(): Promise<void> {
  version += 1;
  const [config] = (await children()).filter(({ kind }) => kind === 'ConfigMap');
  if (config === undefined) throw new Error('no ConfigMap');
  await others.apply(drifted(config), { force: true });
  await others.apply(mcpServer(version), { force: true });
  expected = config;
}

let expected: KubeObject;

async function untilRight(): Promise<void> {
  await untilImage(version);
  await untilAsBefore(expected);
  await untilQuiet();
  const found = await children();
  expect(found.filter(({ metadata }) => metadata.labels?.['skep.dev/owner'] === 'drifted')).toEqual([]);
}

test('watches that are cut go on without a LIST of what they had', async () => {
  for (let round = 0; round < 3; round += 1) {
    proxy.cut();
    await changeAndDrift();
    await untilRight();
  }
  expect(proxy.open().length).toBeGreaterThan(10);
});

test('expired versions lead to new LISTs, and what changed meanwhile is found', async () => {
  for (let round = 0; round < 2; round += 1) {
    const from = proxy.seen.length;
    proxy.expire();
    await changeAndDrift();
    await untilRight();
    expect(requestsSince(from, 'LIST')).toContain('LIST configmaps');
  }
});

test('a server that sends no bookmarks is watched all the same', async () => {
  proxy.loseBookmarks();
  proxy.cut();
  await changeAndDrift();
  await untilRight();
});

test('after the server was away, and restarted, all is as it should be', async () => {
  const restore = proxy.down();
  await changeAndDrift();
  await server.restart();
  restore();
  await untilRight();
  await changeAndDrift();
  await untilRight();
});

test('a run that is told of one change and not yet of another does no harm', async () => {
  const release = proxy.hold('statefulsets');
  const workload = await others.get(WORKLOAD);
  if (workload === undefined) throw new Error('no StatefulSet');
  await others.apply(drifted(workload), { force: true });
  version += 1;
  await others.apply(mcpServer(version), { force: true });
  await untilImage(version);
  release();
  await untilAsBefore(workload);
  await untilRight();
});

test('late events of own writes do not undo what is known', async () => {
  const release = proxy.hold();
  const from = proxy.seen.length;
  release();
  await changeAndDrift();
  await untilRight();
  const late = proxy.hold();
  version += 1;
  await others.apply(mcpServer(version), { force: true });
  const removed = await others.get(WORKLOAD);
  await others.remove(WORKLOAD, removed?.metadata.uid ?? '');
  late();
  await untilRight();
  expect(requestsSince(from, 'PATCH').length).toBeGreaterThan(0);
  expect(said).not.toMatch(/no watch, reported|forbidden/);
});
