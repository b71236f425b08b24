// Nothing goes before what refers to it, and says why it stays.

import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { RunResult } from '#reconciler/run/result.ts';
import { isObject } from '#std/json.ts';
import { formatId } from '#std/problem.ts';
import { startWorld, type World } from '../../harness/world.ts';
import { NAMESPACE } from './fleet.ts';

const CONFIGS = '/apis/toolhive.stacklok.dev/v1alpha1/namespaces/tools/mcpexternalauthconfigs';
const SERVERS = '/apis/toolhive.stacklok.dev/v1alpha1/namespaces/tools/mcpservers';
const CONFIG = `---
apiVersion: toolhive.stacklok.dev/v1alpha1
kind: MCPExternalAuthConfig
metadata: {name: access, namespace: tools}
spec: {type: unauthenticated}
`;
const OPTIONS = { waitSeconds: 0, limits: { maxDeletes: 20, maxDeletesPercent: 100 } };
let world: World;

beforeAll(async () => {
  world = await startWorld();
});

afterAll(async () => {
  await world.close();
});

beforeEach(async () => {
  publish(CONFIG, server('weather', true));
  await world.run(OPTIONS);
});

function server(name: string, refers: boolean): string {
  const ref = refers ? ', externalAuthConfigRef: {name: access}' : '';
  return `---
apiVersion: toolhive.stacklok.dev/v1alpha1
kind: MCPServer
metadata: {name: ${name}, namespace: tools}
spec: {image: "images.example.com/${name}:1.0.0", transport: sse${ref}}
`;
}

function publish(...documents: readonly string[]): void {
  world.fleet.commit({ 'cluster/all.yaml': [NAMESPACE, ...documents].join('') });
}

async function statusOf(url: string) {
  return (await world.cluster.send('GET', url)).body.status;
}

async function conditionsOf(url: string): Promise<string[]> {
  const { conditions } = await statusOf(url);
  return (Array.isArray(conditions) ? conditions : [])
    .filter(isObject)
    .map(({ type, status, message }) => `${type} ${status}: ${message}`);
}

/** What became of the settings. */
function reported({ outcomes, plan }: RunResult): string[] {
  return [
    ...outcomes.map(({ action, resource, error }) => `${formatId(resource)} ${action} ${error?.message ?? ''}`.trim()),
    ...plan.held.map(({ resource, reason }) => `${formatId(resource)} held: ${reason}`),
  ].filter((line) => line.startsWith('tools/MCPExternalAuthConfig/'));
}

test('who uses settings is in their status, and their digest in the status of who does', async () => {
  await world.run(OPTIONS);
  const { configHash, referencingServers } = await statusOf(`${CONFIGS}/access`);
  expect(configHash).toMatch(/^[0-9a-f]{16}$/);
  expect(referencingServers).toEqual(['weather']);
  expect(await statusOf(`${SERVERS}/weather`)).toMatchObject({ externalAuthConfigHash: configHash });
});

test('settings that Git no longer has say why they stay, until Git has them again', async () => {
  const blocked = 'DeletionBlocked True: tools/MCPServer/weather still refers to it';
  publish(server('weather', true));
  expect(reported(await world.run(OPTIONS))).toEqual([
    'tools/MCPExternalAuthConfig/access held: tools/MCPServer/weather still refers to it',
  ]);
  expect(await conditionsOf(`${CONFIGS}/access`)).toContain(blocked);
  publish(CONFIG, server('weather', true));
  await world.run(OPTIONS);
  expect(await conditionsOf(`${CONFIGS}/access`)).not.toContain(blocked);
});

test('a resource that nobody declared keeps what it refers to', async () => {
  const body = { metadata: { name: 'by-hand' }, spec: { image: 'x', externalAuthConfigRef: { name: 'access' } } };
  const created = await world.cluster.send('POST', SERVERS, {
    body: { apiVersion: 'toolhive.stacklok.dev/v1alpha1', kind: 'MCPServer', ...body },
  });
  publish(server('weather', false));
  const result = await world.run(OPTIONS);
  await world.cluster.send('DELETE', `${SERVERS}/by-hand`);
  expect(created.status).toBe(201);
  expect(reported(result)).toEqual([
    'tools/MCPExternalAuthConfig/access held: tools/MCPServer/by-hand still refers to it',
  ]);
  expect(reported(await world.run(OPTIONS))).toEqual(['tools/MCPExternalAuthConfig/access deleted']);
});

test('settings wait for who uses them to let go: that change is refused', async () => {
  world.cluster.cluster.faults.add({
    match: { verb: 'apply', resource: 'mcpservers', name: 'weather' },
    action: { status: 403 },
  });
  publish(server('weather', false));
  const refused = await world.run(OPTIONS);
  world.cluster.cluster.faults.clear();
  expect(reported(refused)).toEqual(['tools/MCPExternalAuthConfig/access held: its deletion waits for approval']);
  expect(refused.plan.waiting.map(({ reasons }) => reasons)).toEqual([
    ['tools/MCPServer/weather is refused by the API server: it may be the new name of an object that would be deleted'],
  ]);
  expect(reported(await world.run(OPTIONS))).toEqual(['tools/MCPExternalAuthConfig/access deleted']);
});

test('settings wait for who uses them to let go: that change failed', async () => {
  world.cluster.cluster.faults.add({
    match: { verb: 'apply', resource: 'mcpservers', name: 'weather', dryRun: false },
    action: { status: 403 },
  });
  publish(server('weather', false));
  const failed = await world.run(OPTIONS);
  world.cluster.cluster.faults.clear();
  expect(reported(failed)).toEqual([
    expect.stringContaining(
      'access held nothing of source fleet is deleted now: tools/MCPServer/weather could not be applied (and 1 more resource has a problem)',
    ),
  ]);
  expect(reported(await world.run(OPTIONS))).toEqual(['tools/MCPExternalAuthConfig/access deleted']);
});

test('settings wait for who uses them to go: that deletion failed', async () => {
  world.cluster.cluster.faults.add({ match: { verb: 'delete', resource: 'mcpservers' }, action: { status: 403 } });
  publish();
  const failed = await world.run(OPTIONS);
  world.cluster.cluster.faults.clear();
  expect(reported(failed)).toEqual([
    'tools/MCPExternalAuthConfig/access held not tried: tools/MCPServer/weather failed before it',
  ]);
  expect(reported(await world.run(OPTIONS))).toEqual(['tools/MCPExternalAuthConfig/access deleted']);
});

test('settings wait where who might use them could not be listed', async () => {
  world.cluster.cluster.faults.add({ match: { verb: 'list', resource: 'mcpremoteproxies' }, action: { status: 403 } });
  publish(server('weather', false));
  const result = await world.run(OPTIONS);
  world.cluster.cluster.faults.clear();
  expect(reported(result)).toEqual([
    'tools/MCPExternalAuthConfig/access held: MCPRemoteProxy could not be listed, and one may refer to it',
  ]);
});

test('what pods only wait for is told while it is missing, and holds nothing', async () => {
  const server = (keys: string) => `---
apiVersion: toolhive.stacklok.dev/v1alpha1
kind: MCPServer
metadata: {name: waits, namespace: tools}
spec:
  image: images.example.com/waits:1.0.0
  transport: sse
  serviceAccount: readers
  secrets: [{name: tokens, key: mail}]
---
apiVersion: v1
kind: Secret
metadata: {name: tokens, namespace: tools}
stringData: {${keys}}
`;
  const reported = ({ problems }: RunResult) =>
    problems.map(({ code, severity, pointer }) => `${severity} ${code} ${pointer}`);
  publish(CONFIG, server('wiki: x'));
  const first = await world.run(OPTIONS);
  expect(reported(first)).toEqual([
    'warning reference-missing /spec/serviceAccount',
    'warning reference-key-missing /spec/secrets/0',
  ]);
  expect(first.outcomes.map(({ resource }) => formatId(resource))).toContain('tools/Deployment/waits');
  publish(
    CONFIG,
    server('mail: x'),
    `---
apiVersion: v1
kind: ServiceAccount
metadata: {name: readers, namespace: tools}
`,
  );
  expect(reported(await world.run(OPTIONS))).toEqual([]);
});
