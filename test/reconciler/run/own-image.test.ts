// Workloads run the image of the reconciler by its digest, wherever their children are rendered: a process in a pod of the cluster
// learns it, and every other one of the instance reads what it has left.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { type InstanceFolder, instanceFolder } from '../../harness/instance.ts';
import { skep } from '../../harness/skep.ts';
import { startWorld, type World } from '../../harness/world.ts';
import { fleetFiles } from './fleet.ts';

const PODS = '/api/v1/namespaces/default/pods';
const IN_POD = { POD_NAME: 'skep-0', POD_NAMESPACE: 'default' };

let world: World;
let folder: InstanceFolder;

beforeAll(async () => {
  world = await startWorld();
  folder = instanceFolder(world);
  folder.configure({ images: {} });
  world.fleet.commit(fleetFiles({ clock: '1.0.0' }));
});
afterAll(async () => {
  await world.close();
  folder.remove();
});

const digest = (letter: string) => `sha256:${letter.repeat(64)}`;

/** The pod of the reconciler, as its kubelet reports it. */
async function reportPod(image: string, imageID: string): Promise<void> {
  const spec = { containers: [{ name: 'skep', image }] };
  const metadata = { name: IN_POD.POD_NAME, namespace: 'default' };
  await world.cluster.send('DELETE', `${PODS}/skep-0`);
  await world.cluster.send('POST', PODS, { body: { apiVersion: 'v1', kind: 'Pod', metadata, spec } });
  const containerStatuses = [{ name: 'skep', image, imageID, ready: true, restartCount: 0 }];
  const patched = await world.cluster.send('PATCH', `${PODS}/skep-0/status`, {
    body: { status: { containerStatuses } },
    contentType: 'application/merge-patch+json',
  });
  expect(patched.status).toBe(200);
}

function run(env: Readonly<Record<string, string>>, ...args: readonly string[]) {
  return skep([...args, '-o', 'json'], { cwd: folder.dir, env });
}

async function imagesOfProxies(): Promise<readonly string[]> {
  const { body } = await world.cluster.send('GET', '/apis/apps/v1/deployments');
  const containers = body.items.flatMap((each: { spec: { template: { spec: { containers: object[] } } } }) => {
    return each.spec.template.spec.containers;
  });
  return [...new Set<string>(containers.map(({ image }: { image: string }) => image))];
}

test('before a process in the cluster has left it, the image is that of the release', async () => {
  expect((await run({}, 'sync')).code).toBe(0);
  expect(await imagesOfProxies()).toEqual([expect.stringMatching(/^ghcr\.io\/skep-dev\/skep:\d/)]);
});

test('the process in the cluster uses its own, and a plan from elsewhere knows no difference', async () => {
  await reportPod('mirror.example.com/skep:1', `mirror.example.com/skep@${digest('a')}`);
  const first = await run(IN_POD, 'sync');
  expect([first.code, JSON.parse(first.stdout).warnings ?? []]).toEqual([0, []]);
  expect(await imagesOfProxies()).toEqual([`mirror.example.com/skep@${digest('a')}`]);
  const { code, stdout } = await run({}, 'plan', '--detailed-exitcode');
  expect([code, JSON.parse(stdout).batches]).toEqual([0, []]);
  const again = await run({}, 'sync');
  expect(JSON.parse(again.stdout).summary).toMatchObject({ created: 0, configured: 0 });
});

test('another image of the reconciler is rolled out once', async () => {
  await reportPod('mirror.example.com/skep:2', `mirror.example.com/skep@${digest('b')}`);
  const upgraded = await run(IN_POD, 'sync');
  expect(JSON.parse(upgraded.stdout).summary.configured).toBeGreaterThan(0);
  expect(await imagesOfProxies()).toEqual([`mirror.example.com/skep@${digest('b')}`]);
  for (const env of [IN_POD, {}]) {
    const { stdout } = await run(env, 'sync');
    expect(JSON.parse(stdout).summary).toMatchObject({ created: 0, configured: 0 });
  }
});

test('a process whose pod cannot be seen uses what was left last', async () => {
  const unseen = await run({ ...IN_POD, POD_NAME: 'not-there' }, 'sync');
  expect(JSON.parse(unseen.stdout).summary).toMatchObject({ created: 0, configured: 0 });
  expect(await imagesOfProxies()).toEqual([`mirror.example.com/skep@${digest('b')}`]);
});

test('what skep.yaml names comes first', async () => {
  folder.configure({ images: { proxy: 'proxy:1', vmcp: 'vmcp:1', registry: 'registry:1' } });
  await run(IN_POD, 'sync');
  expect(await imagesOfProxies()).toEqual(['proxy:1']);
});

test('a run that cannot read what was left last changes nothing', async () => {
  const path = '/api/v1/namespaces/default/configmaps/skep-test-image';
  const body = { metadata: { annotations: { 'skep.dev/record-version': '2' } } };
  folder.configure({ images: {} });
  await run({}, 'sync');
  await world.cluster.send('PATCH', path, { body, contentType: 'application/merge-patch+json' });
  const unread = await run({ ...IN_POD, POD_NAME: 'not-there' }, 'sync');
  expect([unread.code, unread.stderr + unread.stdout]).toEqual([1, expect.stringContaining('record-of-newer-release')]);
  expect(await imagesOfProxies()).toEqual([`mirror.example.com/skep@${digest('b')}`]);
});

test('where another operator makes the workloads, no image is looked for', async () => {
  folder.configure({ images: {}, children: false });
  // What was left last is still what this release cannot read.
  const { code, stderr } = await run(IN_POD, 'sync');
  expect([code, stderr]).toEqual([0, '']);
});
