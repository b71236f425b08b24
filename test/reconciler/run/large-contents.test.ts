// Secrets and ConfigMaps of others: their contents are not read, unless something of ours is declared under their name, or
// names them; then they are read, and all that is decided by them is as if they had been listed whole.

import { randomBytes } from 'node:crypto';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { KubeObject } from '#kubernetes/rules/object.ts';
import { applySetId, PART_OF } from '#reconciler/run/labels.ts';
import { openSnapshot } from '#reconciler/run/observe/snapshot.ts';
import { exitCodeOf, type RunResult } from '#reconciler/run/result.ts';
import { isObject } from '#std/json.ts';
import { formatId } from '#std/problem.ts';
import { optionsOf, startWorld, type World } from '../../harness/world.ts';
import { GROUP, NAMESPACE } from './fleet.ts';

const OPTIONS = { waitSeconds: 0 };
const MARK = 'bm90IG91cnM=';
const OTHER = 'b3RoZXI=';
const CHECKSUM = 'toolhive.stacklok.dev/secrets-checksum';
const MOUNTS = 'toolhive.stacklok.dev/mounts-checksum';

let world: World;
/** What lists and single reads of the cluster have brought. */
let read: { readonly by: 'list' | 'get'; readonly object: KubeObject }[] = [];

beforeAll(async () => {
  world = await startWorld({ workloadsReadyAfterMs: 3_600_000 });
  const { client } = world;
  const { list, get } = client;
  client.list = async (...asked) => {
    const objects = await list(...asked);
    read.push(...objects.map((object) => ({ by: 'list' as const, object })));
    return objects;
  };
  client.get = async (...asked) => {
    const object = await get(...asked);
    if (object !== undefined) read.push({ by: 'get', object });
    return object;
  };
  await client.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'tools' } }, { force: true });
});
beforeEach(() => {
  read = [];
});
afterEach(async () => {
  world.fleet.commit({ 'cluster/all.yaml': NAMESPACE });
  await world.run(OPTIONS);
});
afterAll(() => world.close());

/** As another program does it. */
async function createForeign(kind: 'Secret' | 'ConfigMap', name: string, data: Record<string, string>): Promise<void> {
  const metadata = { name, namespace: 'tools' };
  const path = `/api/v1/namespaces/tools/${kind.toLowerCase()}s?fieldManager=other`;
  const { status } = await world.cluster.send('POST', path, { body: { apiVersion: 'v1', kind, metadata, data } });
  expect(status).toBe(201);
}

function publish(...documents: readonly string[]): void {
  world.fleet.commit({ 'cluster/all.yaml': [NAMESPACE, ...documents].join('---\n') });
}

function server(name: string, secret: string): string {
  return `apiVersion: toolhive.stacklok.dev/v1alpha1
kind: MCPServer
metadata: {name: ${name}, namespace: tools}
spec:
  image: images.example.com/${name}:1.0.0
  secrets:
    - {name: ${secret}, key: token, targetEnvName: TOKEN}
`;
}

/** How the contents of such objects were read, by name. */
function contentsRead(prefix: string): string[] {
  const found = read.filter(({ object }) => object.metadata.name.startsWith(prefix) && object.data !== undefined);
  return found.map(({ by, object }) => `${by} ${object.metadata.name}`).sort();
}

function did({ outcomes }: RunResult): string[] {
  return outcomes.map(({ action, resource }) => `${formatId(resource)} ${action}`);
}

async function checksum(name: string, of = CHECKSUM, workloads = 'statefulsets'): Promise<unknown> {
  const { body } = await world.cluster.send('GET', `/apis/apps/v1/namespaces/tools/${workloads}/${name}`);
  const metadata = body.spec?.template?.metadata;
  return isObject(metadata?.annotations) ? metadata.annotations[of] : undefined;
}

async function change(plural: 'secrets' | 'configmaps', name: string, data: Record<string, string>): Promise<void> {
  await world.cluster.send('PATCH', `/api/v1/namespaces/tools/${plural}/${name}`, {
    body: { data },
    contentType: 'application/merge-patch+json',
  });
}

test('contents that nothing of ours is concerned with are not read', async () => {
  await createForeign('Secret', 'foreign-secret', { token: MARK });
  await createForeign('ConfigMap', 'foreign-settings', { text: MARK });
  publish(server('plain', 'absent'));
  expect(exitCodeOf(await world.run(OPTIONS))).toBe(0);
  expect(contentsRead('foreign-')).toEqual([]);
  expect(JSON.stringify(read)).not.toContain(MARK);
});

test('a Secret of others that a server names is read by itself, and its pods follow it', async () => {
  await createForeign('Secret', 'api', { token: MARK });
  publish(server('clock', 'api'));
  await world.run(OPTIONS);
  const before = await checksum('clock');
  expect(before).toBeTypeOf('string');
  expect(contentsRead('api')).toEqual(['get api']);
  read = [];
  expect(did(await world.run(OPTIONS))).toEqual([]);
  expect(contentsRead('api')).toEqual(['get api']);
  await change('secrets', 'api', { token: OTHER });
  await world.run(OPTIONS);
  expect(await checksum('clock')).not.toBe(before);
});

test('where many are named, those of a namespace are read page by page', async () => {
  const names = Array.from({ length: 60 }, (_, index) => `many-${index}`);
  await Promise.all(names.map((name) => createForeign('Secret', name, { token: MARK })));
  publish(...names.map((name) => server(name, name)));
  const { problems } = await world.plan(OPTIONS);
  expect(problems).toEqual([]);
  expect(contentsRead('many-')).toEqual(names.map((name) => `list ${name}`).sort());
});

test('what is declared and was made by another is compared with its content, and taken over', async () => {
  await createForeign('ConfigMap', 'theirs', { kept: 'by them', text: 'theirs' });
  publish(`apiVersion: v1
kind: ConfigMap
metadata: {name: theirs, namespace: tools}
data: {text: ours}
`);
  const planned = await world.plan(OPTIONS);
  const diff = planned.plan.batches
    .flatMap(({ changes }) => changes)
    .find(({ resource }) => resource.kind === 'ConfigMap')?.diff;
  expect(diff).toContainEqual({ path: '/data/text', before: 'theirs', after: 'ours' });
  await world.run(OPTIONS);
  const { body } = await world.cluster.send('GET', '/api/v1/namespaces/tools/configmaps/theirs');
  expect(body.data).toEqual({ kept: 'by them', text: 'ours' });
  read = [];
  expect(did(await world.run(OPTIONS))).toEqual([]);
  expect(contentsRead('theirs')).toEqual(['list theirs']);
});

test('pods follow the Secret and the ConfigMap that only the configuration of the instance names', async () => {
  await createForeign('Secret', 'login', { pgpass: MARK });
  await createForeign('ConfigMap', 'authority', { 'ca.crt': 'first' });
  publish(`apiVersion: toolhive.stacklok.dev/v1alpha1
kind: MCPRegistry
metadata: {name: catalogue, namespace: tools}
spec:
  registries:
    - {name: all, format: toolhive, configMapRef: {name: servers, key: servers.json, optional: true}}
`);
  const services = {
    passFileSecret: { name: 'login', key: 'pgpass' },
    caConfigMap: { name: 'authority', key: 'ca.crt' },
  };
  const { settings } = optionsOf({});
  const options = { ...OPTIONS, settings: { ...settings, catalogueDatabase: { services } } };
  const sums = () => Promise.all([CHECKSUM, MOUNTS].map((of) => checksum('catalogue-api', of, 'deployments')));
  await world.run(options);
  const [secrets, mounts] = await sums();
  await change('secrets', 'login', { pgpass: OTHER });
  await world.run(options);
  const [rotated, kept] = await sums();
  expect(rotated).toBeTypeOf('string');
  expect(rotated).not.toBe(secrets);
  expect(kept).toBe(mounts);
  await change('configmaps', 'authority', { 'ca.crt': 'second' });
  await world.run(options);
  expect((await sums())[1]).not.toBe(mounts);
});

test('an error in Git in what a discovered server refers to starts no new pods of who discovers it', async () => {
  await createForeign('Secret', 'backend', { token: MARK });
  const discovered = `${server('member', 'absent')}  groupRef: team
  externalAuthConfigRef: {name: access}
`;
  const access = (typo: string) => `apiVersion: toolhive.stacklok.dev/v1alpha1
kind: MCPExternalAuthConfig
metadata: {name: access, namespace: tools}
spec:
  type: headerInjection
  headerInjection: {headerName: X-Key, valueSecretRef: {name: backend, key: token}${typo}}
`;
  const all = `apiVersion: toolhive.stacklok.dev/v1alpha1
kind: VirtualMCPServer
metadata: {name: all, namespace: tools}
spec:
  config: {groupRef: team}
  incomingAuth: {type: anonymous}
`;
  publish(GROUP, discovered, access(''), all);
  await world.run(OPTIONS);
  await world.run(OPTIONS);
  const before = await checksum('all', CHECKSUM, 'deployments');
  expect(before).toBeTypeOf('string');
  publish(GROUP, discovered, access(', heeder: X'), all);
  expect(exitCodeOf(await world.run(OPTIONS))).not.toBe(0);
  expect(await checksum('all', CHECKSUM, 'deployments')).toBe(before);
});

test('contents that may not be read suspend what depends on them', async () => {
  await createForeign('Secret', 'closed', { token: MARK });
  publish(server('closed', 'closed'));
  world.cluster.cluster.faults.add({ match: { verb: 'get', name: 'closed' }, action: { status: 403 } });
  const { failures, problems } = await world.run(OPTIONS);
  world.cluster.cluster.faults.clear();
  expect(failures.map(({ code }) => code)).toEqual(['cluster-forbidden']);
  expect(problems.map(({ code }) => code)).toEqual(['reference-unknown']);
});

test('a snapshot of the state says which keys others have, without their values', async () => {
  await createForeign('Secret', 'listed', { first: MARK, second: MARK });
  publish(server('plain', 'absent'));
  await world.run(OPTIONS);
  const { objects } = await world.snapshot(OPTIONS);
  expect(objects.find(({ resource }) => resource.name === 'listed')?.keys).toEqual(['first', 'second']);
  expect(contentsRead('listed')).toEqual([]);
});

test('contents that live as they are declared are in memory once, and others as they live', async () => {
  const [own, count, length] = [applySetId('test', 'default'), 40, 400_000];
  const declared = Array.from({ length: count }, (_, n): KubeObject => {
    const metadata = { name: `held-${n}`, namespace: 'tools', labels: { [PART_OF]: own } };
    return {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata,
      data: { text: randomBytes(length / 2).toString('hex'), k: 'v' },
    };
  });
  for (const object of declared) await world.client.apply(object, { force: true });
  await change('configmaps', 'held-0', { k: 'other', more: 'here' });
  const kind = { group: '', kind: 'ConfigMap' };
  async function listed(known: readonly KubeObject[]) {
    read = [];
    const snapshot = await openSnapshot(world.client, { namespaces: ['tools'], applySet: own });
    snapshot.declare(known);
    const before = heapBytes();
    await snapshot.ensure([kind]);
    read = [];
    return { snapshot, bytes: heapBytes() - before };
  }
  const [once, twice] = [await listed(declared), await listed([])];
  expect(once.bytes).toBeLessThan((count * length) / 2);
  expect(twice.bytes).toBeGreaterThan((count * length) / 2);
  const found = declared.map(({ metadata: { name } }) =>
    once.snapshot.find({ apiVersion: 'v1', kind: 'ConfigMap', namespace: 'tools', name }),
  );
  const [first, ...others] = declared.map(({ data }) => data);
  expect(found.map((object) => object?.data)).toEqual([{ ...(first as object), k: 'other', more: 'here' }, ...others]);
  for (const { metadata } of declared)
    await world.client.remove({ ...kind, apiVersion: 'v1', ...metadata }, uidOf(metadata.name));

  function uidOf(name: string): string {
    return found.find((object) => object?.metadata.name === name)?.metadata.uid ?? '';
  }
});

/** Of what is still in use. */
function heapBytes(): number {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  if (typeof collect === 'function') collect();
  return process.memoryUsage().heapUsed;
}
