// Servers that run are entries of a registry if their annotations ask for it: a real API server, a real PostgreSQL, the real
// executable, and the answers checked by the official schema.

import { Ajv } from 'ajv';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openPool } from '#adapters/postgres/pool.ts';
import { createStore, type Store } from '#adapters/postgres/store.ts';
import type { JsonObject } from '#std/json.ts';
import { createTestDatabase, type TestDatabase } from '../../harness/database.ts';
import { type InstanceFolder, instanceFolder } from '../../harness/instance.ts';
import { startWorld, type World } from '../../harness/world.ts';
import { officialSchema } from '../../registry/service/official-schema.ts';
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

const isOfficial = new Ajv({ strict: false, validateFormats: false }).compile(officialSchema('serverList'));

const GROUP = 'toolhive.stacklok.dev';

function object(kind: string, name: string, spec: object, annotations: object = {}, namespace = 'tools'): string {
  const metadata = { name, namespace, annotations };
  return JSON.stringify({ apiVersion: `${GROUP}/v1beta1`, kind, metadata, spec });
}

function registry(annotations: object): string {
  const source = { name: 'all', format: 'toolhive', configMapRef: { name: 'servers', key: 'servers.json' } };
  return object('MCPRegistry', 'catalogue', { registries: [source] }, annotations);
}

const EMPTY = JSON.stringify({ version: '1.0.0', last_updated: '2026-01-01T00:00:00Z', servers: {} });
const BASE = {
  'cluster/namespaces.yaml': ['tools', 'ops']
    .map((name) => JSON.stringify({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } }))
    .join('\n---\n'),
  'cluster/servers.json': JSON.stringify({
    ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'servers', namespace: 'tools' } },
    data: { 'servers.json': EMPTY },
  }),
};

const CLOCK = { image: 'images.example.com/clock:1', transport: 'stdio' };

function exported(more: Record<string, string> = {}): object {
  const names = Object.entries({ 'registry-export': 'true', ...more });
  return Object.fromEntries(names.map(([name, value]) => [`${GROUP}/${name}`, value]));
}

async function sync(): Promise<void> {
  const { code, stdout, stderr } = await folder.run('sync', '-o', 'json');
  expect({ code, warnings: JSON.parse(stdout).warnings ?? [], stderr }).toMatchObject({ code: 0, warnings: [] });
}

interface Answer {
  readonly status: number;
  readonly body: { readonly servers?: readonly { readonly server: JsonObject }[] };
}

async function read(path: string): Promise<Answer> {
  const { status, body } = await askConfiguredRegistry({ world, database, folder, store }, path);
  return { status, body };
}

async function listed(path = '/fleet/v0.1/servers'): Promise<readonly JsonObject[]> {
  const { status, body } = await read(path);
  expect(status).toBe(200);
  expect(isOfficial(body) || isOfficial.errors).toBe(true);
  return (body.servers ?? []).map(({ server }) => server);
}

test('a server that asks for an entry is one, with its address outside, its tools and its readiness', async () => {
  world.fleet.commit({
    ...BASE,
    'cluster/registry.json': registry({ 'skep.dev/fleet': 'fleet' }),
    'cluster/clock.json': object(
      ...(['MCPServer', 'clock', CLOCK] as const),
      exported({
        'registry-url': 'https://mcp.example.com/clock',
        'registry-title': 'Clock',
        'registry-description': 'Tells the time',
        tools: '["now"]',
      }),
    ),
    'cluster/plain.json': object('MCPServer', 'plain', CLOCK, exported()),
    'cluster/hidden.json': object('MCPServer', 'hidden', CLOCK),
    'cluster/elsewhere.json': object('MCPServer', 'elsewhere', CLOCK, exported(), 'ops'),
  });
  await sync();
  const [clock, plain, ...others] = await listed();
  expect(others).toEqual([]);
  expect(clock).toMatchObject({
    ...{ name: 'com.toolhive.k8s.tools/clock', title: 'Clock', description: 'Tells the time', version: '1.0.0' },
    remotes: [{ type: 'streamable-http', url: 'https://mcp.example.com/clock' }],
    _meta: {
      'dev.skep/running': { ready: true },
      'io.modelcontextprotocol.registry/publisher-provided': {
        'io.github.stacklok': { 'https://mcp.example.com/clock': { status: 'active', tools: ['now'] } },
      },
    },
  });
  expect(plain).toMatchObject({
    ...{ name: 'com.toolhive.k8s.tools/plain', description: 'MCPServer plain of the namespace tools' },
    remotes: [{ url: 'http://mcp-plain-proxy.tools.svc.cluster.local:8080/mcp' }],
  });
  // GET /mcp and the other registry know nothing of it.
  expect(await listed('/all/v0.1/servers')).toEqual([]);
  expect((await listed('/fleet/v0.1/servers?search=tells')).map(({ name }) => name)).toEqual([
    'com.toolhive.k8s.tools/clock',
  ]);
});

test('servers of other namespaces come with skep.dev/fleet-namespaces, and a server that leaves is gone at once', async () => {
  world.fleet.commit({
    'cluster/registry.json': registry({ 'skep.dev/fleet': 'fleet', 'skep.dev/fleet-namespaces': 'ops' }),
  });
  await sync();
  expect((await listed()).map(({ name }) => name)).toEqual(['com.toolhive.k8s.ops/elsewhere']);
  world.fleet.commit({
    'cluster/registry.json': registry({ 'skep.dev/fleet': 'fleet', 'skep.dev/fleet-namespaces': '*' }),
  });
  await sync();
  expect(await listed()).toHaveLength(3);
  world.fleet.commit({ 'cluster/plain.json': object('MCPServer', 'plain', CLOCK) });
  await sync();
  expect((await listed()).map(({ name }) => name)).toEqual([
    'com.toolhive.k8s.ops/elsewhere',
    'com.toolhive.k8s.tools/clock',
  ]);
});

test('an entry that did not change keeps its time of change', async () => {
  const before = await read('/fleet/v0.1/servers');
  await sync();
  expect(await read('/fleet/v0.1/servers')).toEqual(before);
});

test('the last server that leaves is gone at once, and without the annotation there is no such registry', async () => {
  world.fleet.commit({
    'cluster/elsewhere.json': object('MCPServer', 'elsewhere', CLOCK, {}, 'ops'),
    'cluster/clock.json': object('MCPServer', 'clock', CLOCK, exported({ 'registry-export': 'false' })),
  });
  await sync();
  expect(await listed()).toEqual([]);
  world.fleet.commit({ 'cluster/registry.json': registry({}) });
  await sync();
  expect((await read('/fleet/v0.1/servers')).status).toBe(404);
});
