// What one process leaves of the manifests that it has read, the next one goes on from, and believes only where the cluster's key
// says that it was left.

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { hmacSha256 } from '#std/hash.ts';
import { type InstanceFolder, instanceFolder } from '../harness/instance.ts';
import { startWorld, type World } from '../harness/world.ts';
import { publish } from '../reconciler/run/fleet.ts';

let world: World;
let instance: InstanceFolder;

beforeAll(async () => {
  world = await startWorld();
  instance = instanceFolder(world);
});

afterAll(async () => {
  await world.close();
  instance.remove();
});

function left(): string {
  const folder = join(instance.dir, 'state/readings');
  const [name = 'none'] = readdirSync(folder);
  return join(folder, name);
}

/** As another process would have left it, with another image; sealed where there is a key. */
function change(to: string, key?: Buffer): void {
  const path = left();
  const [seal = '', values = ''] = readFileSync(path, 'utf8').split(/\n(.*)/s);
  const others = values.replaceAll('clock:1.0.0', to);
  expect(others).not.toBe(values);
  const own = key && hmacSha256(Buffer.from(hmacSha256(key, 'sound files'), 'hex'), others);
  writeFileSync(path, `${own ?? seal}\n${others}`);
}

test('a new process goes on from what was left, and from nothing that someone else has written', async () => {
  publish(world.fleet, { clock: '1.0.0', owl: '1.0.0' });
  expect(await instance.run('sync')).toMatchObject({ code: 0, stderr: '' });
  const first = readFileSync(left(), 'utf8');
  expect(first).toContain('images.example.com/owl:1.0.0');

  change('evil:1.0.0');
  const { code, stdout } = await instance.run('sync');
  expect([code, stdout]).toEqual([0, expect.stringContaining('0 created, 0 configured')]);
  expect(readFileSync(left(), 'utf8')).toBe(first);

  const secret = await world.client.get({ apiVersion: 'v1', kind: 'Secret', namespace: 'default', name: 'skep-test' });
  const data = secret?.data as Record<string, string>;
  change('clock:9.9.9', Buffer.from(data['digest-key'] ?? '', 'base64'));
  const { stdout: plan } = await instance.run('plan');
  expect(plan).toContain('/spec/image: "images.example.com/clock:1.0.0" -> "images.example.com/clock:9.9.9"');
});

test('a file that is another one in the next commit is read', async () => {
  publish(world.fleet, { clock: '2.0.0', owl: '1.0.0' });
  const { code, stdout } = await instance.run('sync');
  expect([code, stdout]).toEqual([0, expect.stringContaining('tools/MCPServer/clock configured')]);
  const values = readFileSync(left(), 'utf8');
  expect(values).toContain('images.example.com/clock:2.0.0');
  expect(values).not.toContain('clock:9.9.9');
});
