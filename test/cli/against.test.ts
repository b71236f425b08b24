// `skep plan --against`: what CI sees of a cluster that it may not look into, of a checkout that no one has pushed.

import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Config } from '#hosts/config/config.ts';
import { readConfig } from '#hosts/config/read-config.ts';
import { planBySnapshot } from '#hosts/reconciler/instance/plan-by-snapshot.ts';
import { parseSnapshot } from '#reconciler/run/plan-file/state-snapshot.ts';
import { formatId } from '#std/problem.ts';
import { type InstanceFolder, instanceFolder } from '../harness/instance.ts';
import { startWorld, type World } from '../harness/world.ts';
import { publish, server } from '../reconciler/run/fleet.ts';

let world: World;
let instance: InstanceFolder;
let checkout: string;
let state: string;

beforeAll(async () => {
  world = await startWorld();
  instance = instanceFolder(world);
  state = join(instance.dir, 'state.json');
  instance.configure({ snapshot: { file: state } });
  publish(world.fleet, { clock: '1.0.0', owl: '1.0.0' });
  const { code, stderr } = await instance.run('sync');
  expect([code, stderr]).toEqual([0, '']);
  checkout = join(instance.dir, 'checkout');
  execFileSync('git', ['clone', '--quiet', '--depth=1', `file://${world.fleet.dir}`, checkout]);
  // Whoever plans has no way to the cluster.
  instance.configure({ cluster: { kubeconfig: '/nonexistent' } });
});

afterAll(async () => {
  await world.close();
  instance.remove();
});

function config(): Config {
  const file = join(instance.dir, 'skep.yaml');
  return readConfig({ text: readFileSync(file, 'utf8'), file, environment: {} });
}

test('a run publishes the state, and with it a checkout is planned without a cluster', async () => {
  expect(parseSnapshot(readFileSync(state, 'utf8'), state).instance).toBe('test');
  writeFileSync(join(checkout, 'cluster/clock.yaml'), server('clock', '2.0.0'));
  rmSync(join(checkout, 'cluster/owl.yaml'));
  const { code, stdout, stderr } = await instance.run(
    ...['plan', '--against', 'state.json', '--source', 'fleet=checkout', '--detailed-exitcode'],
  );
  expect([code, stderr]).toEqual([2, '']);
  expect(stdout).toContain(
    '  ~ tools/MCPServer/clock\n      /spec/image: "images.example.com/clock:1.0.0" -> "images.example.com/clock:2.0.0"\n',
  );
  expect(stdout).toContain('  - tools/MCPServer/owl\n');
  expect(stdout).toMatch(/^by the snapshot of \S+ \(fleet at [0-9a-f]{12}\); later changes are not known$/m);
  expect(stdout).toMatch(/^0 to create, 3 to update, 10 to delete, \d+ unchanged, 0 held$/m);
});

test('the commit of the snapshot is taken from the repository where the checkout has it not', async () => {
  const empty = join(instance.dir, 'empty');
  mkdirSync(join(empty, 'cluster'), { recursive: true });
  writeFileSync(join(empty, 'cluster/owl.yaml'), server('owl').replace('  groupRef: team\n', ''));
  const { result } = await planBySnapshot(config(), { against: state, source: [`fleet=${empty}`] });
  const { plan, against } = result;
  const gone = plan.batches.flatMap(({ changes }) => changes.filter(({ action }) => action === 'delete'));
  expect(gone.map(({ resource }) => formatId(resource))).toContain('tools/MCPServer/clock');
  expect(Object.keys(against?.commits ?? {})).toEqual(['fleet']);
});

test('without a folder the configured refs are planned', async () => {
  publish(world.fleet, { clock: '1.0.0', owl: '3.0.0' });
  const { plan } = (await planBySnapshot(config(), { against: state, source: [] })).result;
  const changes = plan.batches.flatMap((batch) => batch.changes);
  expect(changes.map(({ action, resource }) => `${action} ${resource.kind}`)).toEqual(
    ['MCPServer', 'ConfigMap', 'StatefulSet'].map((kind) => `update ${kind}`),
  );
});

test('a snapshot behind a URL is asked for with the token of a file', async () => {
  const url = await serveSnapshot(readFileSync(state));
  const tokenFile = join(instance.dir, 'token');
  writeFileSync(tokenFile, 'open sesame\n');
  const { against } = (await planBySnapshot(config(), { against: url, tokenFile, source: [] })).result;
  expect(against?.createdAt).toMatch(/Z$/);
  const refused = planBySnapshot(config(), { against: url, source: [] });
  await expect(refused).rejects.toMatchObject({
    code: 'snapshot-unavailable',
    message: expect.stringContaining('answers 401: the reconciler requires a token: use --token-file'),
  });
});

test('what is no snapshot of this instance is refused', async () => {
  const against = join(instance.dir, 'other.json');
  const flags = { against, source: [] };
  writeFileSync(against, readFileSync(state, 'utf8').slice(0, 300));
  await expect(planBySnapshot(config(), flags)).rejects.toMatchObject({ code: 'snapshot-invalid' });
  writeFileSync(against, '{"format": "skep-snapshot", "version": 2}');
  await expect(planBySnapshot(config(), flags)).rejects.toMatchObject({ code: 'snapshot-version' });
  const other = { ...config(), name: 'other' };
  await expect(planBySnapshot(other, { against: state, source: [] })).rejects.toMatchObject({
    code: 'snapshot-foreign',
  });
  const more = { ...config(), sources: [...config().sources, { ...config().sources[0], name: 'more' }] } as Config;
  await expect(planBySnapshot(more, { against: state, source: [] })).rejects.toMatchObject({
    code: 'snapshot-mismatch',
  });
  const wrong = planBySnapshot(config(), { against: state, source: ['flee=checkout'] });
  await expect(wrong).rejects.toMatchObject({ code: 'usage', message: expect.stringContaining('no source "flee"') });
});

const servers: Server[] = [];

afterAll(() => {
  for (const each of servers) each.close();
});

async function serveSnapshot(body: Buffer): Promise<string> {
  const listener = createServer((request, response) => {
    const known = request.headers.authorization === 'Bearer open sesame';
    response.writeHead(known ? 200 : 401).end(known ? body : '');
  });
  servers.push(listener);
  await new Promise<void>((done) => listener.listen(0, '127.0.0.1', done));
  return `http://127.0.0.1:${(listener.address() as AddressInfo).port}/snapshot`;
}
