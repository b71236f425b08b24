// An instance that is suspended while a run writes, or before its fleet is adopted.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ConnectedCluster, connectCluster } from '#adapters/cluster/connect.ts';
import { systemClock } from '#hosts/clock.ts';
import { crd } from '#reconciler/kinds/crd.ts';
import { KINDS } from '#reconciler/kinds/index.ts';
import { resume, suspend } from '#reconciler/run/records/suspension.ts';
import { exitCodeOf } from '#reconciler/run/result.ts';
import { eventually, startTestCluster, type TestCluster } from '../../harness/cluster.ts';
import { startProxy } from '../../harness/proxy.ts';
import { API_GROUP } from '../../harness/world.ts';
import { GROUP, NAMESPACE, server } from './fleet.ts';
import { HOME, newProcess } from './process.ts';

let cluster: TestCluster;
let client: ConnectedCluster;

beforeAll(async () => {
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

const MANIFESTS = [NAMESPACE, GROUP, server('alpha', '1.0.0'), server('beta', '1.0.0')].join('---\n');

test('a run that is under way begins no further write once the instance is suspended', async () => {
  const deps = { cluster: client, clock: systemClock };
  const goOn = Promise.withResolvers<void>();
  let isCaught = false;
  const proxy = await startProxy(cluster, ({ isWrite, url }) => {
    if (isCaught || !isWrite || !url.includes('/mcpservers/alpha')) return 'pass';
    isCaught = true;
    return { hold: goOn.promise };
  });
  const process = await newProcess({ kubeconfig: proxy.kubeconfigPath, manifests: MANIFESTS, concurrency: 1 });
  const running = process.run();
  await eventually(
    async () => isCaught,
    (yes) => yes,
  );
  await suspend(deps, HOME, { who: 'ada', reason: 'moving the database' });
  const looks = () =>
    proxy.seen.filter(({ method, url, status }) => method === 'GET' && url.includes('-suspension') && status === 200);
  await eventually(
    async () => looks().length,
    (count) => count > 0,
  );
  const before = proxy.seen.length;
  goOn.resolve();
  const result = await running;
  const begun = proxy.seen.slice(before).filter(({ isWrite, label }) => isWrite && !label.endsWith(' leases'));
  expect(begun.map(({ label }) => label)).toEqual([]);
  expect(result.paused).toMatchObject({ by: 'suspension', who: 'ada' });
  expect([exitCodeOf(result), result.failures]).toEqual([2, []]);
  const held = result.outcomes.filter(({ action }) => action === 'held');
  expect(held.map(({ resource }) => resource.name)).toContain('beta');
  expect(held[0]?.error).toMatchObject({ code: 'suspended', message: expect.stringContaining('moving the database') });

  await resume({ cluster: client }, HOME);
  expect(exitCodeOf(await process.run())).toBe(0);
  // What it had created before is known as its own, though it could not record that.
  const manifests = MANIFESTS.replace(server('alpha', '1.0.0'), server('gamma', '1.0.0'));
  const later = await newProcess({ kubeconfig: cluster.kubeconfigPath, manifests, concurrency: 1 });
  const { outcomes, plan } = await later.run();
  const gone = outcomes.filter(({ action }) => action === 'deleted').map(({ resource }) => resource);
  expect([plan.waiting, gone]).toEqual([
    [],
    expect.arrayContaining([expect.objectContaining({ kind: 'MCPServer', name: 'alpha' })]),
  ]);
  await later.close();
  await process.close();
  await proxy.close();
});

test('what a run has changed is reported, also where the instance is suspended after its last change', async () => {
  const limits = 'apiVersion: v1\nkind: LimitRange\nmetadata: {name: usual, namespace: tools}\nspec: {limits: []}\n';
  const first = await newProcess({
    kubeconfig: cluster.kubeconfigPath,
    manifests: `${MANIFESTS}---\n${limits}`,
    concurrency: 1,
  });
  await first.run();
  const goOn = Promise.withResolvers<void>();
  let isCaught = false;
  const proxy = await startProxy(cluster, ({ method, url }) => {
    if (isCaught || method !== 'DELETE' || !url.includes('/limitranges/usual')) return 'pass';
    isCaught = true;
    return { hold: goOn.promise };
  });
  const process = await newProcess({ kubeconfig: proxy.kubeconfigPath, manifests: MANIFESTS, concurrency: 1 });
  const running = process.run();
  await eventually(
    async () => isCaught,
    (yes) => yes,
  );
  await suspend({ cluster: client, clock: systemClock }, HOME, { who: 'ada', reason: '' });
  const from = proxy.seen.length;
  await eventually(
    async () => proxy.seen.slice(from).filter(({ url, status }) => url.includes('-suspension') && status === 200),
    (looks) => looks.length > 0,
  );
  goOn.resolve();
  const { outcomes, paused } = await running;
  expect(outcomes.map(({ action, resource }) => `${action} ${resource.name}`)).toEqual(['deleted usual']);
  expect(paused).toMatchObject({ by: 'suspension', who: 'ada' });
  await resume({ cluster: client }, HOME);
  expect(exitCodeOf(await process.run())).toBe(0);
  await Promise.all([first.close(), process.close()]);
  await proxy.close();
});

test('a run that is suspended, or outside its windows, plans also where the lease cannot be read', async () => {
  const proxy = await startProxy(cluster, ({ label }) => (label === 'GET leases' ? { status: 403 } : 'pass'));
  const process = await newProcess({ kubeconfig: proxy.kubeconfigPath, manifests: MANIFESTS, concurrency: 16 });
  await expect(process.run()).rejects.toThrow('leases');
  const leases = () => proxy.seen.filter(({ label }) => label === 'GET leases').length;
  const before = leases();
  const outside = await process.run({ paused: { by: 'window', window: 'deny' } });
  expect([outside.paused?.by, outside.failures, leases()]).toEqual(['window', [], before]);
  const deps = { cluster: client, clock: systemClock };
  await suspend(deps, HOME, { who: 'ada', reason: 'moving the database' });
  const suspended = await process.run();
  expect([suspended.paused?.by, suspended.failures]).toEqual(['suspension', []]);
  await resume({ cluster: client }, HOME);
  await process.close();
  await proxy.close();
});
