// What runs reaches those who read the catalogue: the reconciler leaves it in the database, and the service of the registry
// answers with it, as far as it is for readers. A real API server, a real PostgreSQL, the real executable.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { openPool } from '#adapters/postgres/pool.ts';
import { createStore, type Store } from '#adapters/postgres/store.ts';
import type { RunningServers } from '#contracts/running-servers.ts';
import { crd } from '#reconciler/kinds/crd.ts';
import { KINDS } from '#reconciler/kinds/index.ts';
import { Failure } from '#std/failure.ts';
import { createTestDatabase, type TestDatabase } from '../../harness/database.ts';
import { type InstanceFolder, instanceFolder } from '../../harness/instance.ts';
import { API_GROUP, startWorld, type World } from '../../harness/world.ts';
import { askConfiguredRegistry } from './configured-registry.ts';

let world: World;
let database: TestDatabase;
let folder: InstanceFolder;
let store: Store;

beforeAll(async () => {
  [world, database] = await Promise.all([startWorld(), createTestDatabase()]);
  folder = instanceFolder(world, database);
  store = createStore(openPool(database.app));
});

afterAll(async () => {
  folder.remove();
  await store.close();
  await Promise.all([world.close(), database.drop()]);
});

const IMAGE = 'images.example.com/clock:1.0.0';
const FARAWAY = 'https://faraway.example.com/mcp';

const SERVERS = JSON.stringify({
  version: '1.0.0',
  last_updated: '2026-01-01T00:00:00Z',
  servers: {
    clock: {
      ...{ description: 'Tells the time', tier: 'Community', status: 'Active', transport: 'stdio', tools: ['now'] },
      ...{ image: IMAGE, args: ['serve'] },
    },
  },
  remote_servers: {
    faraway: {
      ...{ description: 'Far away', tier: 'Community', status: 'Active', tools: ['go'] },
      ...{ transport: 'streamable-http', url: FARAWAY },
    },
  },
});

const CONTENT = { documents: [{ text: SERVERS, location: 'servers.json' }], extent: 'whole' } as const;

/** In mode anonymous what runs is shown only where the registry says so. */
function registry(annotations = '{skep.dev/running: enabled}', more = ''): string {
  return `apiVersion: toolhive.stacklok.dev/v1alpha1
kind: MCPRegistry
metadata: {name: catalogue, namespace: tools, annotations: ${annotations}}
spec:
  registries:
    - {name: all, format: toolhive, configMapRef: {name: servers, key: servers.json}, syncPolicy: {interval: 1h}}
${more}---
apiVersion: v1
kind: ConfigMap
metadata: {name: servers, namespace: tools}
data: {servers.json: '${SERVERS}'}
`;
}

function resource(kind: string, name: string, spec: object, namespace = 'tools'): string {
  return JSON.stringify({ apiVersion: 'toolhive.stacklok.dev/v1alpha1', kind, metadata: { name, namespace }, spec });
}

const CLOCK = { image: IMAGE, transport: 'stdio', args: ['serve', '--password=of-the-inside'] };
const NAMESPACES = ['tools', 'ops']
  .map((name) => JSON.stringify({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } }))
  .join('\n---\n');

async function sync(): Promise<void> {
  const { code, stdout, stderr } = await folder.run('sync', '-o', 'json');
  expect({ code, warnings: JSON.parse(stdout).warnings ?? [], stderr }).toMatchObject({ code: 0 });
}

async function shown(): Promise<{ readonly status: number; readonly servers: RunningServers['servers'] }> {
  const { status, body } = await askConfiguredRegistry({ world, database, folder, store }, '/mcp');
  return { status, servers: 'servers' in body ? (body as RunningServers).servers : [] };
}

const SHOWN = {
  clock: {
    ...{ namespace: 'tools', name: 'clock', transport: 'streamable-http', auth: 'none', ready: true },
    ...{ url: 'http://mcp-clock-proxy.tools.svc.cluster.local:8080/mcp', image: IMAGE, args: ['serve'] },
  },
  faraway: {
    ...{ namespace: 'tools', name: 'faraway', transport: 'streamable-http', auth: 'oidc', ready: true },
    ...{ url: 'http://mcp-faraway-remote-proxy.tools.svc.cluster.local:8080/mcp', remoteUrl: FARAWAY },
  },
  office: {
    ...{ namespace: 'tools', name: 'office', transport: 'streamable-http', auth: 'none', ready: true },
    url: 'http://vmcp-office.tools.svc.cluster.local:4483/mcp',
  },
};

test('each server of the namespace is shown with its URL and readiness, and no more of it than its entry has', async () => {
  const oidcConfig = { type: 'inline', inline: { issuer: 'https://id.example.com', audience: 'faraway' } };
  world.fleet.commit({
    'cluster/namespaces.yaml': NAMESPACES,
    'cluster/registry.yaml': registry(),
    'cluster/clock.json': resource('MCPServer', 'clock', { ...CLOCK, groupRef: 'team' }),
    'cluster/faraway.json': resource('MCPRemoteProxy', 'faraway', {
      ...{ remoteURL: FARAWAY, transport: 'streamable-http', oidcConfig },
    }),
    'cluster/team.json': resource('MCPGroup', 'team', {}),
    'cluster/office.json': resource('VirtualMCPServer', 'office', {
      ...{ incomingAuth: { type: 'anonymous' }, config: { groupRef: 'team' } },
    }),
    'cluster/inside.json': resource('MCPServer', 'inside', { ...CLOCK, image: 'inside.example.com/x:1' }, 'ops'),
  });
  await sync();
  const { status, servers } = await shown();
  expect(status).toBe(200);
  expect(servers.map(({ name, ready }) => `${name} ${ready}`)).toEqual(['clock true', 'faraway true', 'office true']);
  expect(servers).toEqual([SHOWN.clock, SHOWN.faraway, SHOWN.office]);
  expect(JSON.stringify(servers)).not.toContain('of-the-inside');
});

async function rows(): Promise<readonly object[]> {
  return database.sql('select namespace, xmin::text from catalogue_running order by namespace');
}

test('a run that finds everything as it was writes nothing', async () => {
  const before = await rows();
  expect(before).toHaveLength(2);
  await sync();
  expect(await rows()).toEqual(before);
});

test('a server that is kept because its manifest is invalid still runs, and one that goes is gone', async () => {
  world.fleet.commit({
    'cluster/clock.json': resource('MCPServer', 'clock', { ...CLOCK, transport: 'pigeon' }),
    'cluster/inside.json': undefined,
    'cluster/faraway.json': undefined,
  });
  await folder.run('sync');
  expect((await shown()).servers.map(({ name }) => name)).toContain('clock');
  world.fleet.commit({ 'cluster/clock.json': undefined, 'cluster/office.json': undefined });
  await sync();
  expect((await shown()).servers).toEqual([]);
  expect(await rows()).toEqual([]);
});

const OWN_DATABASE = registry(
  undefined,
  `  databaseConfig:
    dbAppUserPasswordSecretRef: {name: db, key: app}
    dbMigrationUserPasswordSecretRef: {name: db, key: migrator}
---
apiVersion: v1
kind: Secret
metadata: {name: db, namespace: tools}
stringData: {app: a, migrator: b}
`,
);

test('a registry with a store of its own gets what runs in its namespace, and stores that fail or hang take nothing from the run', async () => {
  const own = await createTestDatabase();
  const ownStore = createStore(openPool(own.app));
  const sourceFor = () => ({ read: async () => CONTENT });
  let holders: readonly string[] | undefined;
  async function commonStore(): Promise<never> {
    const { body } = await world.cluster.send('GET', '/apis/coordination.k8s.io/v1/leases');
    const leases = body.items as readonly { readonly spec: { readonly holderIdentity?: string } }[];
    holders = leases.map(({ spec }) => spec.holderIdentity ?? '');
    throw new Failure('database-unreachable', 'the database is away');
  }
  world.fleet.commit({
    'cluster/registry.yaml': OWN_DATABASE,
    'cluster/clock.json': resource('MCPServer', 'clock', CLOCK),
    'cluster/inside.json': resource('MCPServer', 'inside', CLOCK, 'ops'),
  });
  try {
    const registries = { sourceFor, storeFor: async () => ownStore, commonStore };
    const { failures, warnings } = await world.run({ registries });
    expect([failures, warnings.map(({ message }) => message)]).toEqual([[], ['the database is away']]);
    expect(holders?.filter((holder) => holder !== '')).toEqual([]);
    const { servers } = await ownStore.running({ namespace: 'tools', registry: 'catalogue' });
    expect(servers.map(({ name, ready }) => `${name} ${ready}`)).toEqual(['clock true']);
    expect((await ownStore.running({ namespace: 'ops', registry: 'catalogue' })).servers).toEqual([]);

    const hanging = { ...registries, commonStore: () => new Promise<never>(() => undefined) };
    world.fleet.commit({ 'cluster/clock.json': undefined });
    const late = await world.run({ registries: hanging });
    expect(late.warnings.map(({ code }) => code)).toEqual(['database-busy']);
    expect((await ownStore.running({ namespace: 'tools', registry: 'catalogue' })).servers).toEqual([]);
  } finally {
    await ownStore.close();
    await own.drop();
  }
});

test('an anonymous registry shows nothing of what runs unless it says so', async () => {
  world.fleet.commit({
    'cluster/clock.json': resource('MCPServer', 'clock', CLOCK),
    'cluster/registry.yaml': registry('{}'),
  });
  await sync();
  expect(await rows()).toHaveLength(2);
  expect(await shown()).toEqual({ status: 404, servers: [] });
});

test('what others stored by definitions of their own stops no run', async () => {
  const kind = KINDS.find((each) => each.kind === 'VirtualMCPServer');
  if (kind === undefined) throw new Error('there is no VirtualMCPServer');
  const ours = crd(kind, API_GROUP);
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  const { versions } = (ours as unknown as { spec: { versions: readonly object[] } }).spec;
  const theirs = {
    ...ours,
    spec: { ...(ours.spec as object), versions: versions.map((each) => ({ ...each, schema })) },
  };
  const registries = { sourceFor: () => ({ read: async () => CONTENT }), storeFor: async () => store };
  await world.client.apply(theirs, { force: true });
  world.client.refresh();
  const path = '/apis/toolhive.stacklok.dev/v1alpha1/namespaces/tools/virtualmcpservers';
  const body = JSON.parse(resource('VirtualMCPServer', 'by-hand', { config: { groupRef: 'team' } }));
  expect((await world.cluster.send('POST', path, { body })).status).toBe(201);
  for (const round of [1, 2]) {
    world.fleet.commit({ 'cluster/clock.json': resource('MCPServer', 'clock', { ...CLOCK, args: [`${round}`] }) });
    const { failures } = await world.run({ registries, scope: 'cluster' });
    expect(failures).toEqual([]);
  }
});
