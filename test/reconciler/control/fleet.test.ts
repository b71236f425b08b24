// The fleet over HTTP, as real runs leave it: states with their reasons, one resource with its diff, and who may read it.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { FleetState } from '#reconciler/run/fleet-state/format.ts';
import { eventually } from '../../harness/cluster.ts';
import { temporaryFolder } from '../../harness/git-server.ts';
import { expectOutput } from '../../harness/outputs.ts';
import { startWorld, type World } from '../../harness/world.ts';
import { fleetFiles, server } from '../run/fleet.ts';
import { type Keeper, startKeeper } from './keeper.ts';

const TOKEN = 'let-me-in';
const headers = { authorization: `Bearer ${TOKEN}` };
const folder = temporaryFolder();
const tokenFile = join(folder.path, 'token');
let world: World;
let keeper: Keeper;

beforeAll(async () => {
  writeFileSync(tokenFile, `${TOKEN}\n`);
  world = await startWorld({ workloadsReadyAfterMs: 0 });
  world.fleet.commit({
    ...fleetFiles({ clock: '1.0.0' }),
    'cluster/broken.yaml': server('broken').replace('stdio', 'carrier-pigeon'),
    'cluster/lonely.yaml': server('lonely').replace('groupRef: team', 'groupRef: nobody'),
    'cluster/secret.yaml':
      'apiVersion: v1\nkind: Secret\nmetadata: {name: key, namespace: tools}\nstringData: {key: hunter2}\n',
  });
  keeper = await startKeeper(world, { http: { address: '127.0.0.1:0', tokenFile } });
});

afterEach(() => world.cluster.cluster.faults.clear());

afterAll(async () => {
  await keeper.stop();
  await world.close();
  folder.remove();
});

async function readFleet(): Promise<FleetState> {
  return (await (await fetch(`${keeper.url}/fleet`, { headers })).json()) as FleetState;
}

/** The fleet once a run has left it so. */
function fleetWhen(holds: (states: Readonly<Record<string, string>>) => boolean): Promise<FleetState> {
  return eventually(readFleet, (fleet) => holds(statesOf(fleet)));
}

function statesOf({ entries }: FleetState): Readonly<Record<string, string>> {
  return Object.fromEntries(entries.map(({ id, state }) => [id, state]));
}

async function sync(): Promise<void> {
  await fetch(`${keeper.url}/sync`, { method: 'POST', headers });
}

interface Detail {
  readonly [field: string]: unknown;
  readonly objects: readonly { readonly id: string; readonly state: string; readonly differences: readonly object[] }[];
}

async function readResource(id: string): Promise<Detail> {
  const response = await fetch(`${keeper.url}/fleet/resource?id=${encodeURIComponent(id)}`, { headers });
  return (await response.json()) as Detail;
}

test('each source and resource has a state, and a reason that a person can act on', async () => {
  const fleet = await fleetWhen((states) => states['tools/MCPServer/clock'] === 'healthy');
  expect(statesOf(fleet)).toEqual({
    'Source/fleet': 'healthy',
    'Namespace/tools': 'healthy',
    'tools/MCPGroup/team': 'healthy',
    'tools/MCPServer/broken': 'kept',
    'tools/MCPServer/clock': 'healthy',
    'tools/MCPServer/lonely': 'failed',
    'tools/Secret/key': 'healthy',
  });
  const why = (name: string) => fleet.entries.find((entry) => entry.name === name)?.why;
  expect(why('broken')).toMatch(/transport.*\(cluster\/broken\.yaml:\d+\)$/);
  expect(why('lonely')).toContain('no MCPGroup "nobody" in namespace tools');
  expect(fleet.entries.find(({ name }) => name === 'clock')).toMatchObject({
    role: 'server',
    source: 'fleet',
    uses: ['tools/MCPGroup/team'],
  });
  expect(fleet.counts).toEqual({ failed: 1, kept: 1, healthy: 5 });
  expectOutput('fleet', JSON.stringify(fleet));
});

test('a fleet that has not changed is not sent again', async () => {
  const { headers: sent } = await fetch(`${keeper.url}/fleet`, { headers });
  const again = { ...headers, 'if-none-match': sent.get('etag') ?? '' };
  expect((await fetch(`${keeper.url}/fleet`, { headers: again })).status).toBe(304);
});

test('nothing of it is shown without the token', async () => {
  for (const path of ['/fleet', '/fleet/resource?id=tools/MCPServer/clock', '/fleet/events']) {
    expect((await fetch(keeper.url + path)).status, path).toBe(401);
  }
});

test('a resource is shown with its place in Git, its objects, and how they differ from Git now', async () => {
  await fleetWhen((states) => states['tools/MCPServer/clock'] === 'healthy');
  const before = await readResource('tools/MCPServer/clock');
  expect(before).toMatchObject({ file: 'cluster/clock.yaml', line: 1, source: 'fleet', omitted: 0 });
  expect(before.manifest).toContain('image: images.example.com/clock:1.0.0');
  expect(before.objects.every(({ differences }) => differences.length === 0)).toBe(true);
  const workload = { apiVersion: 'apps/v1', kind: 'StatefulSet', namespace: 'tools', name: 'clock' };
  await world.client.remove(workload, (await world.client.get(workload))?.metadata.uid ?? '');
  const missing = await readResource('tools/MCPServer/clock');
  expect(missing.objects.find(({ id }) => id === 'tools/StatefulSet/clock')).toMatchObject({ state: 'missing' });
});

test('no value of a Secret is in it, also if it differs from Git', async () => {
  const data = { key: Buffer.from('changed-by-hand').toString('base64') };
  const changed = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'key', namespace: 'tools' }, data };
  await world.client.apply(changed, { force: true });
  // A watch wakes a run, which would set it back.
  world.cluster.cluster.faults.add({ match: { verb: 'apply', resource: 'secrets' }, action: { status: 403 } });
  const text = JSON.stringify(await readResource('tools/Secret/key'));
  expect(text).toContain('*** (before)');
  for (const value of ['hunter2', 'changed-by-hand', 'aHVudGVyMg', data.key]) expect(text).not.toContain(value);
});

test('a resource says what it offers to whom, and what the cluster refuses to say about it', async () => {
  await fleetWhen((states) => states['tools/MCPServer/clock'] === 'healthy');
  const { offer, ...before } = await readResource('tools/MCPServer/clock');
  expect(offer).toMatchObject({ access: { type: 'anonymous' }, tools: [], unlisted: [''] });
  expect(before.eventsUnread).toBeUndefined();
  const refuse = (resource: string) =>
    world.cluster.cluster.faults.add({ match: { verb: 'list', resource }, action: { status: 403 } });
  refuse('events.k8s.io/events');
  // Events of a namespace are used again for some seconds.
  const { eventsUnread } = await eventually(
    () => readResource('tools/MCPServer/clock'),
    (detail) => detail.eventsUnread !== undefined,
  );
  expect(eventsUnread).toMatch(/events: fault injected/);
  refuse('pods');
  for (const part of ['logs', 'readings']) {
    const url = `${keeper.url}/fleet/resource/${part}?id=tools/MCPServer/clock`;
    expect((await fetch(url)).status).toBe(401);
    expect(((await (await fetch(url, { headers })).json()) as Detail).unread).toMatch(/pods: fault injected/);
  }
});

test('a resource that no run knew is not found', async () => {
  const response = await fetch(`${keeper.url}/fleet/resource?id=tools/MCPServer/nobody`, { headers });
  expect([response.status, ((await response.json()) as Detail).code]).toEqual([404, 'control-resource-not-found']);
});

test('nothing counts as healthy if the cluster cannot be read', async () => {
  world.cluster.cluster.faults.add({ match: {}, action: { status: 401 } });
  await sync();
  const fleet = await fleetWhen((states) => states['tools/MCPServer/clock'] === 'unknown');
  expect(fleet.counts.healthy).toBeUndefined();
  expect(fleet.run?.failures).not.toEqual([]);
});

test('events say that a run has begun and ended, and end with the listener', async () => {
  const response = await fetch(`${keeper.url}/fleet/events`, { headers });
  expect(response.headers.get('content-type')).toBe('text/event-stream');
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  await sync();
  let heard = '';
  while (!/event: began[\s\S]*event: ended/.test(heard)) heard += (await reader?.read())?.value ?? '';
  await reader?.cancel();
});
