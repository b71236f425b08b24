// Commands that skep prints can be copied as they stand: from the folder that it was started in, with the settings that it was
// given, whatever they are called.

import { exec } from 'node:child_process';
import { mkdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type InstanceFolder, instanceFolder } from '../harness/instance.ts';
import { type Finished, skep } from '../harness/skep.ts';
import { startWorld, type World } from '../harness/world.ts';
import { publish } from '../reconciler/run/fleet.ts';

const SETTINGS = '../it is prod.yaml';

let world: World;
let folder: InstanceFolder;
let cwd: string;

beforeAll(async () => {
  world = await startWorld();
  folder = instanceFolder(world);
  cwd = join(folder.dir, 'elsewhere');
  mkdirSync(cwd);
  configure({ maxDeletes: 0 });
  publish(world.fleet, { clock: '1.0.0', news: '1.0.0' });
  await run('sync');
});

afterAll(async () => {
  folder.remove();
  await world.close();
});

function configure(apply: Readonly<Record<string, unknown>>, changes: Readonly<Record<string, unknown>> = {}): void {
  folder.configure({ apply: { maxDeletesPercent: 100, waitSeconds: 60, ...apply }, ...changes });
  renameSync(join(folder.dir, 'skep.yaml'), join(folder.dir, 'it is prod.yaml'));
}

function run(...args: readonly string[]): Promise<Finished> {
  return skep([...args, '-c', SETTINGS], { cwd });
}

interface Copied {
  readonly command: string;
  readonly code: number;
  readonly says: string;
}

/** What is printed after the words that lead to it, typed into a shell. */
function copy(text: string, after: string): Promise<Copied> {
  const command = new RegExp(`${after}: (.+)$`, 'm').exec(text)?.[1] ?? '';
  return new Promise((resolve) => {
    exec(command, { cwd }, (error, stdout, stderr) =>
      resolve({ command, code: error?.code ?? 0, says: `${stdout}${stderr}` }),
    );
  });
}

test('a plan file is carried out by the command that names it', async () => {
  publish(world.fleet, { clock: '1.1.0', news: '1.0.0' });
  const { stderr } = await run('plan', '--out', 'a plan');
  const { command, code, says } = await copy(stderr, 'to carry it out');
  expect(command).toMatch(/ apply 'a plan' -c '\.\.\/it is prod\.yaml'$/);
  expect([code, says]).toEqual([0, expect.stringContaining('tools/MCPServer/clock configured')]);
});

test('a suspended instance is resumed by the command that suspend, plan and sync print', async () => {
  publish(world.fleet, { clock: '1.2.0', news: '1.0.0' });
  const { stdout } = await run('suspend', '--reason', 'moving');
  const said = [stdout, (await run('status')).stdout];
  const pending = await run('sync');
  expect(await copy(pending.stdout, 'to see them')).toMatchObject({
    says: expect.stringContaining('~ tools/MCPServer/clock'),
  });
  for (const text of [...said, pending.stdout]) {
    await run('suspend');
    expect(await copy(text, 'to end that')).toMatchObject({
      code: 0,
      says: expect.stringContaining('test is resumed'),
    });
  }
});

test('outside the sync windows a sync writes by the command that it prints', async () => {
  configure({}, { windows: [{ deny: '* * * * *', hours: 1 }] });
  const { stdout } = await run('sync');
  configure({ maxDeletes: 0 });
  expect(await copy(stdout, 'to write now')).toMatchObject({
    code: 0,
    says: expect.stringContaining('clock configured'),
  });
});

test('deletions are approved by the command that plan, sync and status print', async () => {
  publish(world.fleet, { clock: '1.2.0' });
  const texts = [(await run('plan')).stdout, (await run('sync')).stdout, (await run('status')).stdout];
  const comment = (await run('plan', '-o', 'markdown')).stdout;
  expect(comment).toMatch(/To delete exactly these: `skep approve [0-9a-f]{16} -c '\.\.\/it is prod\.yaml'`/);
  for (const text of texts) {
    const approved = await copy(text, 'to delete exactly these');
    expect(approved).toMatchObject({ code: 0, says: expect.stringContaining('approved until ') });
  }
});

test('status prints the command that shows the last recorded run', async () => {
  const { stdout } = await run('status');
  expect(await copy(stdout, 'to see the run')).toMatchObject({
    code: 0,
    says: expect.stringMatching(/^run [0-9a-f-]{36}: /),
  });
});

test('a source that was rolled back is followed again by the command that is printed', async () => {
  const [first] = JSON.parse((await run('history', '-o', 'json')).stdout).runs.slice(-1);
  const back = await run('rollback', first.id);
  expect(await copy(back.stdout, 'to end that')).toMatchObject({
    code: 0,
    says: 'the next run follows the branch of fleet again\n',
  });
});
