// A run is made, and not left out, if something has changed that no watch reports, or if time itself has passed: keys in a file,
// records that are still open, lists that no watch keeps current.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { noteReads } from '#adapters/cluster/kept/noted-reads.ts';
import { systemClock } from '#hosts/clock.ts';
import type { Config } from '#hosts/config/config.ts';
import { readConfig } from '#hosts/config/read-config.ts';
import { type Instance, openInstance } from '#hosts/reconciler/instance/instance.ts';
import { openPublisher } from '#hosts/reconciler/instance/snapshots.ts';
import type { KubeObject } from '#kubernetes/rules/object.ts';
import { eventually } from '../../harness/cluster.ts';
import { temporaryFolder } from '../../harness/git-server.ts';
import { sealed, type TestKey, testKey } from '../../harness/sops.ts';
import { startWorld, type World } from '../../harness/world.ts';
import { fleetFiles } from './fleet.ts';

const folder = temporaryFolder();
const keyFile = join(folder.path, 'keys.txt');
let world: World;
let key: TestKey;
let otherKey: TestKey;
let config: Config;
let staying: Instance;

beforeAll(async () => {
  // No workload becomes ready.
  [world, key, otherKey] = await Promise.all([startWorld({ workloadsReadyAfterMs: 3_600_000 }), testKey(), testKey()]);
  const metadata = { name: 'api', namespace: 'tools' };
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata, stringData: { token: 'one' } };
  world.fleet.commit({ ...fleetFiles({ clock: '1.0.0' }), 'cluster/api.json': await sealed(secret, key) });
  writeKeys(key);
  config = configuration();
  const ignore = (): void => undefined;
  const fail = (error: unknown): void => {
    throw error;
  };
  const keepsLists = { changed: ignore, lost: ignore, missed: ignore, say: ignore, fail };
  staying = await openInstance(config, ignore, {}, undefined, { keepsLists });
  await settle();
});

afterAll(async () => {
  await staying.close();
  await world.close();
  folder.remove();
});

function configuration(): Config {
  const repository = `${world.git.url}/fleet.git`;
  const decryption = { ageKeyFile: keyFile };
  const settings = {
    name: 'test',
    sources: [{ name: 'fleet', repository, branch: 'main', path: 'cluster', decryption }],
    cluster: { kubeconfig: world.cluster.kubeconfigPath },
    apply: { waitSeconds: 1 },
    images: { proxy: 'proxy:1', vmcp: 'vmcp:1', registry: 'registry:1' },
    outbound: { allowPrivate: ['127.0.0.0/8'] },
    snapshot: { file: join(folder.path, 'snapshot.json') },
    stateDir: join(folder.path, 'state'),
  };
  return readConfig({ text: JSON.stringify(settings), file: 'skep.yaml', environment: {} });
}

function writeKeys(...keys: readonly TestKey[]): void {
  writeFileSync(keyFile, `${keys.map(({ identity }) => identity).join('\n')}\n`, { mode: 0o600 });
}

/** Runs until the process says that a run would do nothing. */
async function settle(): Promise<void> {
  await eventually(
    async () => {
      if ((await staying.repeat('probe')) !== undefined) return 'quiet';
      await staying.run({ waitSeconds: 0 });
      return 'ran';
    },
    (state) => state === 'quiet',
  );
}

async function isLeftOut(): Promise<boolean> {
  return (await staying.repeat('probe')) !== undefined;
}

test('a run that is left out completes the record of an earlier one whose resources are not ready in time', async () => {
  const last = async () => {
    expect(await isLeftOut()).toBe(true);
    return (await staying.history.latest(1))[0]?.state;
  };
  expect(await eventually(last, (state) => state !== 'progressing')).toBe('not-ready');
});

test('a run is made after the keys of a source were replaced, and each time while one of its documents is not readable', async () => {
  await settle();
  writeKeys(otherKey);
  expect(await isLeftOut()).toBe(false);
  const { problems } = await staying.run({ waitSeconds: 0 });
  expect(problems.map(({ code }) => code)).toContain('sops-key-wrong');
  expect(await isLeftOut()).toBe(false);
  writeKeys(key);
  expect(await isLeftOut()).toBe(false);
  await settle();
});

test('a run is made if lists are to be read from the server again', async () => {
  await settle();
  staying.deps.cluster.listAgain();
  expect(await isLeftOut()).toBe(false);
  await settle();
});

test('a published state is due again after five minutes', async () => {
  const publisher = openPublisher(config);
  let passedMs = 0;
  const clock = { ...systemClock, monotonic: () => passedMs };
  expect(publisher.isDue(clock)).toBe(true);
  const deps = { ...staying.deps, clock };
  const options = staying.options({ waitSeconds: 0 });
  expect(await publisher.publish(deps, options, await staying.run({ waitSeconds: 0 }))).toEqual([]);
  expect(publisher.isDue(clock)).toBe(false);
  passedMs = 5 * 60_000;
  expect(publisher.isDue(clock)).toBe(true);
});

test('objects without a version count as the same only if their contents are', async () => {
  const object = (value: string): KubeObject => ({
    apiVersion: 'metrics.example.com/v1',
    kind: 'Load',
    metadata: { name: 'all' },
    value,
  });
  let value = 'a';
  const reads = noteReads({ ...world.client, get: async () => object(value), list: async () => [object(value)] });
  const kind = { apiVersion: 'metrics.example.com/v1', kind: 'Load', plural: 'loads', namespaced: false, verbs: [] };
  const asking = [
    () => reads.cluster.get({ apiVersion: kind.apiVersion, kind: kind.kind, name: 'all' }),
    () => reads.cluster.list(kind),
  ];
  for (const ask of asking) {
    value = 'a';
    reads.begin();
    await ask();
    expect(await reads.isSame()).toBe(true);
    value = 'b';
    expect(await reads.isSame()).toBe(false);
  }
});
