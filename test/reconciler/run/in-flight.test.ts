// A run is frozen past its lease with a write under way that reaches the server late, after another run has taken over
// and written newer state: the late write changes nothing, and no other is begun.

import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type ConnectedCluster, connectCluster } from '#adapters/cluster/connect.ts';
import { systemClock } from '#hosts/clock.ts';
import { crd } from '#reconciler/kinds/crd.ts';
import { KINDS } from '#reconciler/kinds/index.ts';
import { onlyCurrent } from '#reconciler/run/apply/current.ts';
import type { Clock } from '#reconciler/run/ports.ts';
import { exitCodeOf, type RunResult } from '#reconciler/run/result.ts';
import { eventually, startTestCluster, type TestCluster } from '../../harness/cluster.ts';
import { type Passing, startProxy } from '../../harness/proxy.ts';
import { API_GROUP } from '../../harness/world.ts';
import { GROUP, members, NAMESPACE, server, versionsOf } from './fleet.ts';
import { hurriedClock, newProcess, type Process } from './process.ts';

let cluster: TestCluster;
let client: ConnectedCluster;

beforeAll(async () => {
  // No controller moves anything meanwhile.
  cluster = await startTestCluster({ workloadsReadyAfterMs: 3_600_000 });
  const options = { fieldManager: 'skep-test', concurrency: 16, version: 'test', clock: systemClock };
  client = await connectCluster({ kubeconfig: cluster.kubeconfigPath, ...options });
  for (const kind of KINDS) await client.apply(crd(kind, API_GROUP), { force: true });
  client.refresh();
});

afterAll(async () => {
  await client.close();
  await cluster.stop();
});

/** `others`: further documents. */
function open(servers: Readonly<Record<string, string>>, others: string[], kubeconfig: string, clock: Clock) {
  const documents = Object.entries(servers).map(([name, version]) => server(name, version));
  const manifests = [NAMESPACE, GROUP, ...documents, ...others].join('---\n');
  return newProcess({ kubeconfig, manifests, concurrency: 1, clock });
}

/** Of kinds that come with them: then the parent says more. */
const ROLE = 'apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: seldom}\nrules: []\n';
const BUDGET = `apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: seldom, namespace: tools}
spec: {maxUnavailable: 1, selector: {matchLabels: {a: b}}}
`;

async function runAndClose(process: Process): Promise<RunResult> {
  return process.run().finally(() => process.close());
}

beforeEach(async () => {
  await runAndClose(await open({ alpha: '1.0.0', beta: '1.0.0' }, [], cluster.kubeconfigPath, hurriedClock()));
});

/** A clock that can be put forward, as time passes for a process that is stopped. */
function jumpingClock(): Clock & { jump(): void } {
  let jumped = 0;
  return {
    now: () => Date.now() + jumped,
    monotonic: () => performance.now() + jumped,
    sleep: (ms, signal) => systemClock.sleep(Math.min(ms, 5_000), signal),
    jump: () => {
      jumped += 60_000;
    },
  };
}

/** Whether it failed at once or in parts. */
function reported(result: RunResult | Error): string {
  if (result instanceof Error) return result.message;
  return [
    ...result.failures.map(({ message }) => message),
    ...result.outcomes.map(({ error }) => error?.message),
  ].join();
}

const ROWS: readonly { readonly held: (passing: Passing) => boolean; readonly reason: string }[] = [
  { held: at('PATCH', 'mcpservers/beta'), reason: 'a change of what the other changed too' },
  { held: at('PATCH', 'mcpservers/gamma'), reason: 'the making of what the other has made' },
  { held: at('PATCH', 'configmaps/beta-runconfig'), reason: 'a change of a child' },
  { held: at('DELETE', 'mcpservers/alpha'), reason: 'the deletion of what the other has kept and changed' },
  { held: at('PATCH', 'configmaps/skep-test'), reason: 'the declaration of which kinds there are' },
  { held: at('PATCH', 'mcpservers/gamma/status'), reason: 'a status' },
];

function at(method: string, path: string): (passing: Passing) => boolean {
  return (passing) =>
    passing.isWrite &&
    passing.method === method &&
    new URL(passing.url, 'https://server').pathname.endsWith(`/${path}`);
}

test.each(ROWS)('$reason', async ({ held }) => {
  const clock = jumpingClock();
  const arrives = Promise.withResolvers<void>();
  let [caught, thawed] = [false, false];
  const proxy = await startProxy(cluster, (passing) => {
    if (thawed) return 'pass';
    // What a stopped process does not send.
    if (caught) return { hold: arrives.promise };
    caught = held(passing);
    return caught ? { hold: arrives.promise } : 'pass';
  });
  const frozen = await open({ beta: '2.0.0', gamma: '2.0.0' }, [BUDGET], proxy.kubeconfigPath, clock);
  const running = runAndClose(frozen).catch((error: Error) => error);
  await eventually(
    async () => caught,
    (yes) => yes,
  );

  const servers = { alpha: '3.0.0', beta: '3.0.0', gamma: '3.0.0', delta: '3.0.0' };
  const successor = await open(servers, [ROLE], cluster.kubeconfigPath, hurriedClock());
  expect(exitCodeOf(await runAndClose(successor))).toBe(0);
  const versions = versionsOf(await members(client, 'test'));
  const parent = await cluster.send('GET', '/api/v1/namespaces/default/configmaps/skep-test');
  const before = proxy.seen.length;

  clock.jump();
  thawed = true;
  arrives.resolve();
  const result = await running;
  await proxy.close();
  expect(versionsOf(await members(client, 'test'))).toEqual(versions);
  expect((await cluster.send('GET', '/api/v1/namespaces/default/configmaps/skep-test')).body).toEqual(parent.body);
  expect(proxy.seen.slice(before).filter(({ isWrite }) => isWrite)).toEqual([]);
  expect(reported(result)).toContain('the lease expired before the run was done');
});

test.each([
  { changed: 'data', change: { data: { a: 'b' } }, goes: true },
  { changed: 'a protection', change: { metadata: { annotations: { 'skep.dev/prune': 'disabled' } } }, goes: false },
  { changed: 'whose it is', change: { metadata: { labels: { 'skep.dev/source': 'other' } } }, goes: false },
])('an object of which somebody changes $changed before it is deleted goes: $goes', async ({ change, goes }) => {
  const id = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'default', name: 'doomed' };
  const labels = { 'skep.dev/source': 'fleet' };
  const { apiVersion, kind, namespace, name } = id;
  const seen = await client.apply({ apiVersion, kind, metadata: { namespace, name, labels } }, { force: true });
  const path = '/api/v1/namespaces/default/configmaps/doomed';
  await cluster.send('PATCH', path, { body: change, contentType: 'application/merge-patch+json' });
  const current = onlyCurrent(
    client,
    () => seen,
    () => undefined,
  );
  const removed = current.remove(id, seen.metadata.uid ?? '');
  if (goes) await removed;
  else await expect(removed).rejects.toMatchObject({ code: 'overtaken' });
  expect((await client.get(id)) === undefined).toBe(goes);
  await cluster.send('DELETE', path);
});

test.each([
  { changed: 'data', change: { data: { a: 'b' } }, goes: true },
  { changed: 'a protection', change: { metadata: { annotations: { 'skep.dev/reconcile': 'disabled' } } }, goes: false },
])(
  'an object of which somebody changes $changed before a part of it is taken is patched: $goes',
  async ({ change, goes }) => {
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'default', name: 'shared' } };
    const seen = await client.apply(object, { force: true });
    const path = '/api/v1/namespaces/default/configmaps/shared';
    const { body } = await cluster.send('PATCH', path, { body: change, contentType: 'application/merge-patch+json' });
    const current = onlyCurrent(
      client,
      () => seen,
      () => undefined,
    );
    const patched = current.patch(body, [{ op: 'add', path: '/data', value: { c: 'd' } }], {});
    if (goes) await patched;
    else await expect(patched).rejects.toMatchObject({ code: 'overtaken' });
    expect((await cluster.send('GET', path)).body.data).toEqual(goes ? { c: 'd' } : undefined);
    await cluster.send('DELETE', path);
  },
);

test.each([
  { made: 'without any marks', labels: {}, goes: true },
  { made: 'by this instance', labels: { 'skep.dev/source': 'fleet' }, goes: true },
  { made: 'by another instance', labels: { 'applyset.kubernetes.io/part-of': 'of-another' }, goes: false },
])('an object that is made $made before it is written is written: $goes', async ({ labels, goes }) => {
  const id = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'default', name: 'raced' };
  const [path, collection] = ['/api/v1/namespaces/default/configmaps/raced', '/api/v1/namespaces/default/configmaps'];
  await cluster.send('POST', collection, { body: { metadata: { name: id.name, labels }, data: { by: 'another' } } });
  const current = onlyCurrent(
    client,
    () => undefined,
    () => undefined,
  );
  const { apiVersion, kind, namespace, name } = id;
  const desired = { apiVersion, kind, metadata: { namespace, name, labels: { 'skep.dev/source': 'fleet' } } };
  const written = current.apply({ ...desired, data: { by: 'us' } }, { force: true });
  if (goes) await written;
  else await expect(written).rejects.toMatchObject({ code: 'overtaken' });
  expect((await client.get(id))?.data).toEqual({ by: goes ? 'us' : 'another' });
  await cluster.send('DELETE', path);
});
