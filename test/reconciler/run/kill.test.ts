// `kill -9` of `skep sync` at eight random moments of a first sync and of later ones that create, change and delete:
// one clean run, which waits the dead holder's lease out, then leaves exactly what an undisturbed run leaves.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { idOf, type KubeObject } from '#kubernetes/rules/object.ts';
import { extentOf, extentOfMembers } from '#reconciler/run/observe/applyset.ts';
import { formatId } from '#std/problem.ts';
import { createTestDatabase, type TestDatabase } from '../../harness/database.ts';
import { type InstanceFolder, instanceFolder } from '../../harness/instance.ts';
import type { Finished } from '../../harness/skep.ts';
import { startWorld, type World } from '../../harness/world.ts';
import { members, publish } from './fleet.ts';

const KILLS = 8;
/** A run makes about so many requests before it waits for readiness. */
const REQUESTS_MAX = 82;
const SEED = 20_261_121;
const LEASE = '/apis/coordination.k8s.io/v1/namespaces/default/leases/skep-test';
const PARENT = '/api/v1/namespaces/default/configmaps/skep-test';

interface Site {
  readonly world: World;
  readonly database: TestDatabase;
  readonly instance: InstanceFolder;
}

let disturbed: Site;
let undisturbed: Site;

beforeAll(async () => {
  [disturbed, undisturbed] = await Promise.all([openSite(), openSite()]);
});

afterAll(() => Promise.all([closeSite(disturbed), closeSite(undisturbed)]));

async function openSite(): Promise<Site> {
  const [world, database] = await Promise.all([startWorld(), createTestDatabase()]);
  world.fleet.commit({ 'cluster/registry/catalogue.yaml': REGISTRY });
  return { world, database, instance: instanceFolder(world, database) };
}

async function closeSite({ world, database, instance }: Site): Promise<void> {
  await world.close();
  await database.drop();
  instance.remove();
}

const REGISTRY = `apiVersion: v1
kind: ConfigMap
metadata: {name: servers, namespace: tools}
data:
  servers.json: '{"version": "1.0.0", "last_updated": "2026-01-01T00:00:00Z", "servers": {"clock": {"description": "Tells the time", "tier": "Community", "status": "Active", "transport": "stdio", "image": "images.example.com/clock:1.0.0", "tools": ["now"]}}}'
---
apiVersion: toolhive.stacklok.dev/v1alpha1
kind: MCPRegistry
metadata: {name: catalogue, namespace: tools}
spec:
  registries:
    - name: all
      format: toolhive
      configMapRef: {name: servers, key: servers.json}
`;

/** Numbers between 0 and 1 that are the same in every run of the test (mulberry32). */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    const mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    const again = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((again ^ (again >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The fleet of each commit: from one to the next a server comes, one changes and one leaves. */
function fleetOf(commit: number): Record<string, string> {
  const names = [0, 1, 2].map((place) => `server-${commit + place}`);
  return Object.fromEntries(names.map((name, place) => [name, place === 1 ? `2.${commit}.0` : '1.0.0']));
}

/** Undefined where it was killed: as soon as the API server has been asked so many requests. */
async function killAfter({ world, instance }: Site, requests: number): Promise<Finished | undefined> {
  const { cluster } = world.cluster;
  cluster.resetCounters();
  const run = instance.start('sync');
  const watch = setInterval(() => {
    const { total, others } = cluster.counters();
    if (total + others >= requests) run.kill('SIGKILL');
  }, 1);
  const finished = await run.finished.finally(() => clearInterval(watch));
  return finished.code === null ? undefined : finished;
}

async function holder({ world }: Site): Promise<string> {
  const { body } = await world.cluster.send('GET', LEASE);
  return body?.spec?.holderIdentity ?? '';
}

/** What 15 s of waiting do; the last run waits them out. */
async function freeLease({ world }: Site): Promise<void> {
  const { status, body } = await world.cluster.send('GET', LEASE);
  if (status !== 200) return;
  const freed = { ...body, spec: { ...body.spec, holderIdentity: '' } };
  expect((await world.cluster.send('PUT', LEASE, { body: freed })).status).toBe(200);
}

/** Whatever lives of the set must be findable by what the parent says, at any moment. */
async function expectParentToCover({ world }: Site): Promise<void> {
  const living = [...(await members(world.client, 'test')).values()].map(idOf);
  const { body } = await world.cluster.send('GET', PARENT);
  const declared = extentOf(body.kind === 'ConfigMap' ? body : undefined);
  const needed = extentOfMembers(living, 'default');
  expect([...needed.groupKinds].filter((kind) => !declared.groupKinds.has(kind))).toEqual([]);
  expect([...needed.namespaces].filter((namespace) => !declared.namespaces.has(namespace))).toEqual([]);
}

async function everything({ world }: Site): Promise<string[]> {
  const resources = (await world.client.resources()).filter(({ verbs }) => verbs.includes('list'));
  const lists = await Promise.all(resources.map((each) => world.client.list(each)));
  return lists
    .flat()
    .map((object) => formatId(idOf(object)))
    .sort();
}

/** Each site has a Git server of its own. */
async function parentOf({ world }: Site): Promise<Pick<KubeObject['metadata'], 'labels' | 'annotations'>> {
  const { body } = await world.cluster.send('GET', PARENT);
  const { labels, annotations } = body.metadata;
  const sources = annotations['skep.dev/sources'].replaceAll(new URL(world.git.url).host, 'git.example.com');
  expect(sources).toBe('["git.example.com/fleet#cluster"]');
  return { labels, annotations: { ...annotations, 'skep.dev/sources': sources } };
}

function catalogueOf({ database }: Site): Promise<object[]> {
  return database.sql('select * from catalogue_entry');
}

test('a run that is killed anywhere is finished by the next one: no orphan, nothing missing', async () => {
  const random = randomNumbers(SEED);
  let commit = 0;
  let kills = 0;
  publish(disturbed.world.fleet, fleetOf(commit));
  while (kills < KILLS || (await holder(disturbed)) === '') {
    await freeLease(disturbed);
    const requests = Math.ceil(random() * REQUESTS_MAX);
    const finished = await killAfter(disturbed, requests);
    if (finished === undefined) kills += 1;
    else expect(finished.code).toBe(0);
    await expectParentToCover(disturbed);
    if (finished !== undefined || random() < 0.3) {
      commit += 1;
      publish(disturbed.world.fleet, fleetOf(commit));
    }
  }

  const clean = await disturbed.instance.run('sync', '-o', 'json');
  expect(clean.code).toBe(0);
  const { startedAt, finishedAt } = JSON.parse(clean.stdout).run;
  expect(Date.parse(finishedAt) - Date.parse(startedAt)).toBeGreaterThan(15_000);

  publish(undisturbed.world.fleet, fleetOf(commit));
  expect((await undisturbed.instance.run('sync')).code).toBe(0);
  expect(await everything(disturbed)).toEqual(await everything(undisturbed));
  expect(await parentOf(disturbed)).toEqual(await parentOf(undisturbed));
  expect(await catalogueOf(disturbed)).toHaveLength(1);
  const plan = await disturbed.instance.run('plan', '--detailed-exitcode');
  expect([plan.code, plan.stdout]).toEqual([0, expect.stringMatching(/^0 to create, 0 to update, 0 to delete/)]);
});
