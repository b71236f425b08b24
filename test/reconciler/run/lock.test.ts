// One writer at a time: who writes, who gives way, who takes over from whom, and what a run does about a world that
// another has moved. Most runs live five times as fast, so that a lease of 15 s lasts 3 s.

import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type ConnectedCluster, connectCluster } from '#adapters/cluster/connect.ts';
import { openRepository } from '#adapters/git/repository.ts';
import { createOutbound } from '#adapters/http/outbound.ts';
import { systemClock } from '#hosts/clock.ts';
import type { KubeObject } from '#kubernetes/rules/object.ts';
import { openDigestKey } from '#reconciler/run/desire/digest-key.ts';
import type { Clock, Cluster } from '#reconciler/run/ports.ts';
import { exitCodeOf, type RunResult } from '#reconciler/run/result.ts';
import { reconcile } from '#reconciler/run/run.ts';
import { Failure } from '#std/failure.ts';
import { isObject, type JsonObject } from '#std/json.ts';
import { formatId } from '#std/problem.ts';
import { eventually } from '../../harness/cluster.ts';
import { temporaryFolder } from '../../harness/git-server.ts';
import { instanceFolder } from '../../harness/instance.ts';
import { optionsOf, startWorld, type World } from '../../harness/world.ts';
import { members, publish, versionsOf } from './fleet.ts';

const LEASE = '/apis/coordination.k8s.io/v1/namespaces/default/leases/skep-test';
const SPEED = 5;
/** Five seconds for them are one for us. */
const FAST: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now() * SPEED,
  sleep: (ms, signal) => systemClock.sleep(ms / SPEED, signal),
};

let world: World;
const folder = temporaryFolder();
const outbound = createOutbound({ allowPrivate: ['127.0.0.0/8'], version: 'test' });
const clients: ConnectedCluster[] = [];

beforeAll(async () => {
  world = await startWorld();
});

afterEach(() => world.cluster.cluster.faults.clear());

afterAll(async () => {
  await Promise.all([...clients.map((client) => client.close()), outbound.close()]);
  await world.close();
  folder.remove();
});

interface Runner {
  /** What it did, in words, so far. */
  readonly reported: string[];
  run(): Promise<RunResult>;
}

/** A reconciler of the same instance with a connection and a local copy of the repository of its own. */
async function another(decorate: (cluster: Cluster) => Cluster = (cluster) => cluster): Promise<Runner> {
  const client = await connectCluster({
    kubeconfig: world.cluster.kubeconfigPath,
    fieldManager: 'skep-test',
    concurrency: 16,
    version: 'test',
    clock: systemClock,
  });
  const dir = join(folder.path, String(clients.push(client)));
  const git = { repository: `${world.git.url}/fleet.git`, ref: {}, dir, allowFiles: false };
  const source = {
    name: 'fleet',
    path: 'cluster',
    repository: openRepository({ ...git, outbound, clock: systemClock }),
  };
  const reported: string[] = [];
  const deps = {
    cluster: decorate(client),
    clock: FAST,
    sources: [source],
    cache: new Map<string, unknown>(),
    remembered: new Map<string, string>(),
    random: randomBytes,
    digestKey: openDigestKey(client, 'test', 'default'),
    progress: ({ action, resource }: RunResult['outcomes'][number]) =>
      void reported.push(`${formatId(resource)} ${action}`),
  };
  return { reported, run: () => reconcile(deps, optionsOf({})) };
}

async function lease(): Promise<{ spec: JsonObject; object: KubeObject } | undefined> {
  const { status, body } = await world.cluster.send('GET', LEASE);
  return status === 404 ? undefined : { spec: isObject(body.spec) ? body.spec : {}, object: body };
}

/** Someone who took the lease and then was not heard of again. */
async function leaveLeaseTo(holder: string, renewTime = '2026-01-01T00:00:00.000000Z'): Promise<KubeObject> {
  const held = await lease();
  const spec = { ...held?.spec, holderIdentity: holder, leaseDurationSeconds: 15, renewTime };
  const { status, body } = await world.cluster.send('PUT', LEASE, { body: { ...held?.object, spec } });
  expect([200, 201]).toContain(status);
  return body;
}

test('of two runs at once one writes, and the other is locked while the first renews its lease', async () => {
  publish(world.fleet, { clock: '1.0.0' });
  const [first, second] = await Promise.all([another(), another()]);
  world.cluster.cluster.faults.add({
    match: { verb: 'apply', resource: 'namespaces', dryRun: false },
    action: { delayMs: 2500 },
    times: 1,
  });
  const running = first.run();
  const taken = await eventually(lease, (found) => found !== undefined);
  const refused: unknown = await second.run().catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(Failure);
  expect(refused).toMatchObject({
    code: 'locked',
    data: { lease: 'default/skep-test', holder: taken?.spec.holderIdentity },
  });
  expect(second.reported).toEqual([]);
  expect(exitCodeOf(await running)).toBe(0);
  expect(first.reported).toContain('tools/MCPServer/clock created');
  expect((await lease())?.spec).toMatchObject({ holderIdentity: '', leaseTransitions: 0 });
});

test('a run with nothing to write neither waits for a lease nor touches it', async () => {
  const before = await leaveLeaseTo('somebody who died');
  const runner = await another();
  world.cluster.cluster.resetCounters();
  expect(exitCodeOf(await runner.run())).toBe(0);
  const { requests, writes } = world.cluster.cluster.counters();
  expect(writes).toEqual({});
  expect(requests.get).toMatchObject({ 'leases.coordination.k8s.io': 1 });
  expect((await lease())?.object.metadata.resourceVersion).toBe(before.metadata.resourceVersion);
});

test('the lease of a dead holder is waited out for its full time and then taken over', async () => {
  publish(world.fleet, { clock: '2.0.0' });
  await leaveLeaseTo('somebody who died');
  const runner = await another();
  const started = FAST.monotonic();
  const result = await runner.run();
  expect(FAST.monotonic() - started).toBeGreaterThan(15_000);
  expect(exitCodeOf(result)).toBe(0);
  expect(runner.reported).toContain('tools/MCPServer/clock configured');
  expect((await lease())?.spec).toMatchObject({ holderIdentity: '', leaseTransitions: 1 });
});

test('a run whose plan another run has overtaken plans again', async () => {
  publish(world.fleet, { clock: '3.0.0', news: '1.0.0' });
  const faster = await another();
  let overtaken: Promise<RunResult> | undefined;
  // Between its reading of the cluster and its lease: merge types are asked for after the lists.
  const slower = await another((cluster) => ({
    ...cluster,
    schema: async (apiVersion) => {
      overtaken ??= faster.run();
      await overtaken;
      return cluster.schema(apiVersion);
    },
  }));
  const result = await slower.run();
  expect(faster.reported).toContain('tools/MCPServer/news created');
  expect(slower.reported).toEqual([]);
  expect(exitCodeOf(result)).toBe(0);
  const versions = versionsOf(await members(world.client, 'test'));
  expect((await slower.run()).outcomes).toEqual([]);
  expect(versionsOf(await members(world.client, 'test'))).toEqual(versions);
});

test('sync says who holds the lease and exits with 6', async () => {
  publish(world.fleet, { clock: '4.0.0' });
  const instance = instanceFolder(world);
  const running = instance.start('sync');
  let alive = true;
  running.finished.finally(() => {
    alive = false;
  });
  for (let beat = 0; alive; beat += 1) {
    await leaveLeaseTo('the other run', `2026-01-01T00:00:00.${String(beat).padStart(6, '0')}Z`);
    await systemClock.sleep(100);
  }
  const { code, stdout, stderr } = await running.finished;
  instance.remove();
  expect(code).toBe(6);
  expect(stdout).toBe('');
  expect(stderr).toMatch(
    /^error locked: another run of this instance, the other run, has the lease default\/skep-test since \S+ until \S+, which it renews: try again when it has ended, or stop it\n$/,
  );
});

test('a holder that was stopped for longer than its lease writes nothing when it goes on', async () => {
  await leaveLeaseTo('');
  publish(world.fleet, { clock: '5.0.0', search: '1.0.0', weather: '1.0.0' });
  world.cluster.cluster.faults.add({
    match: { verb: 'apply', resource: 'serviceaccounts', dryRun: false },
    action: { delayMs: 5000 },
  });
  world.cluster.cluster.resetCounters();
  const instance = instanceFolder(world);
  const paused = instance.start('sync');
  // All that it has under way is with the server: two accounts of each server that is new.
  await expect.poll(() => world.cluster.cluster.counters().writes.serviceaccounts).toBe(4);
  paused.kill('SIGSTOP');
  world.cluster.cluster.faults.clear();
  const next = instanceFolder(world);
  const successor = await next.run('sync');
  expect(successor.stdout).toMatch(/Deployment\/weather created/);
  expect(successor.code).toBe(0);

  const versions = versionsOf(await members(world.client, 'test'));
  world.cluster.cluster.resetCounters();
  paused.kill('SIGCONT');
  const { code, stdout } = await paused.finished;
  expect(code).toBe(1);
  expect(stdout).toContain('the lease expired before the run was done');
  const { 'leases.coordination.k8s.io': _refused, ...writes } = world.cluster.cluster.counters().writes;
  expect(writes).toEqual({});
  expect(versionsOf(await members(world.client, 'test'))).toEqual(versions);
  instance.remove();
  next.remove();
});

test('a lease that somebody annotates meanwhile is still held, and given back', async () => {
  await leaveLeaseTo('');
  publish(world.fleet, { clock: '6.0.0' });
  const runner = await another();
  const faults = world.cluster.cluster.faults;
  faults.add({ match: { verb: 'apply', resource: 'deployments', dryRun: false }, action: { delayMs: 2500 }, times: 1 });
  const running = runner.run();
  await eventually(lease, (found) => found?.spec.holderIdentity !== '');
  const body = { metadata: { annotations: { seen: 'by somebody' } } };
  await world.cluster.send('PATCH', LEASE, { body, contentType: 'application/merge-patch+json' });
  expect(exitCodeOf(await running)).toBe(0);
  const left = await lease();
  expect(left?.spec.holderIdentity).toBe('');
  expect(left?.object.metadata.annotations).toEqual({ seen: 'by somebody' });
});

test('a lease that was deleted by hand and taken by another ends the writing at its next renewal, not at its deadline', async () => {
  await leaveLeaseTo('');
  publish(world.fleet, { clock: '7.0.0' });
  const runner = await another();
  const faults = world.cluster.cluster.faults;
  faults.add({ match: { verb: 'apply', resource: 'mcpservers', dryRun: false }, action: { delayMs: 2500 }, times: 1 });
  const running = runner.run();
  await eventually(lease, (found) => found?.spec.holderIdentity !== '');
  await world.cluster.send('DELETE', LEASE);
  await leaveLeaseTo('another');
  const { outcomes } = await running;
  expect(outcomes.filter(({ error }) => error?.code === 'lock-lost')).not.toEqual([]);
});
