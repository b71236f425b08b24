import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { lockDirectory } from './lock.ts';

let dir: string;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'lock-'));
});

afterEach(() => rmSync(dir, { recursive: true, force: true }));

test('a locked directory is refused until it is released, even to the same process', async () => {
  const first = await lockDirectory(dir);
  await expect(lockDirectory(dir)).rejects.toMatchObject({ code: 'devcluster-locked', data: { pid: process.pid } });
  await first.release();
  const second = await lockDirectory(dir);
  await second.release();
  expect(readdirSync(dir)).toEqual([]);
});

const LEFT_BEHIND: readonly { reason: string; pid: number; started: string }[] = [
  { reason: 'a process that is dead', pid: 2 ** 22 + 1, started: '1' },
  { reason: 'an earlier process with the id of this process', pid: process.pid, started: '1' },
  { reason: 'an earlier process with the id of a running one', pid: 1, started: '0' },
];

test.each(LEFT_BEHIND)('the lock of $reason is removed', async ({ pid, started }) => {
  writeFileSync(join(dir, 'lock.x'), JSON.stringify({ pid, started, nonce: 'x' }));
  const lock = await lockDirectory(dir);
  await lock.release();
  expect(readdirSync(dir)).toEqual([]);
});

test('the lock of a running process is respected', async () => {
  const sleeper = spawn('sleep', ['60']);
  writeFileSync(join(dir, 'lock.x'), JSON.stringify({ pid: sleeper.pid, started: '', nonce: 'x' }));
  await expect(lockDirectory(dir)).rejects.toMatchObject({ code: 'devcluster-locked', data: { pid: sleeper.pid } });
  const dead = new Promise((resolve) => sleeper.once('exit', resolve));
  sleeper.kill();
  await dead;
  await (await lockDirectory(dir)).release();
});

test('of several callers that lock the directory at the same time, exactly one succeeds', async () => {
  for (let round = 0; round < 4; round += 1) {
    writeFileSync(join(dir, 'lock.x'), JSON.stringify({ pid: 2 ** 22 + 1, started: '1', nonce: 'x' }));
    const outcomes = await Promise.allSettled(Array.from({ length: 3 }, () => lockDirectory(dir)));
    const holders = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
    expect(holders).toHaveLength(1);
    await holders[0]?.release();
  }
});
