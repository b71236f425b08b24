// What `skep sync` says when it is stopped in the middle.

import { hostname } from 'node:os';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type InstanceFolder, instanceFolder } from '../harness/instance.ts';
import { startWorld, type World } from '../harness/world.ts';
import { publish } from '../reconciler/run/fleet.ts';

const LEASE = '/apis/coordination.k8s.io/v1/namespaces/default/leases/skep-test';

let world: World;
let folder: InstanceFolder;

beforeAll(async () => {
  world = await startWorld();
  folder = instanceFolder(world);
});

afterAll(async () => {
  folder.remove();
  await world.close();
});

test('a sync that Ctrl-C ends finishes what was sent and prints its summary, and its lease names the machine', async () => {
  publish(world.fleet, Object.fromEntries(Array.from({ length: 12 }, (_none, index) => [`s${index}`, '1.0.0'])));
  world.cluster.cluster.faults.add({ match: { verb: 'apply' }, action: { delayMs: 1500 } });
  const sync = folder.start('sync');
  await sync.printed(' created');
  const { body } = await world.cluster.send('GET', LEASE);
  expect(body).toMatchObject({ spec: { holderIdentity: expect.stringMatching(` at ${hostname()}$`) } });
  sync.kill('SIGINT');
  const { code, stdout, stderr } = await sync.finished;
  world.cluster.cluster.faults.clear();
  expect(code).toBe(7);
  expect(stderr).toContain('stopping: requests in flight are finished, nothing more is changed');
  expect(stdout).not.toContain('[run-stopped]');
  expect(stdout).toMatch(/\n\d+ created, .* 0 deleted, 1\d\d held, 0 failed \(\d+ API requests, [\d.]+ s\)\n$/);
});

test('what waits its turn when Ctrl-C comes is not sent', async () => {
  const names = ['s', 't'].flatMap((letter) => Array.from({ length: 12 }, (_none, index) => `${letter}${index}`));
  publish(world.fleet, Object.fromEntries(names.map((name) => [name, '1.0.0'])));
  folder.configure({ cluster: { kubeconfig: world.cluster.kubeconfigPath, concurrency: 2 } });
  expect((await folder.run('plan')).stdout).toContain('MCPServer/t11');
  const match = { verb: 'apply', resource: 'toolhive.stacklok.dev/mcpservers', dryRun: false };
  world.cluster.cluster.faults.add({ match, action: { delayMs: 1500 } });
  const sync = folder.start('sync');
  await sync.printed('MCPServer/t');
  sync.kill('SIGINT');
  const { code, stdout } = await sync.finished;
  world.cluster.cluster.faults.clear();
  folder.configure();
  expect(code).toBe(7);
  const sent = stdout.match(/MCPServer\/t\d+ created/g) ?? [];
  expect(sent.length).toBeGreaterThan(0);
  expect(sent.length).toBeLessThan(12);
});

test('Ctrl-C ends the waiting for readiness, too', async () => {
  const sync = folder.start('sync');
  await sync.printed('StatefulSet/mcp-s11 created').catch(() => undefined);
  sync.kill('SIGINT');
  const { stdout } = await sync.finished;
  expect(stdout).toMatch(/ failed \(\d+ API requests, [\d.]+ s\)\n$/);
});
