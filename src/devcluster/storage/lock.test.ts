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

test('a held directory is refused until it is released, also to the same process', async () => {
  const first = await lockDirectory(dir);
  await expect(lockDirectory(dir)).rejects.toMatchObject({ code: 'devcluster-locked', data: { pid: process.pid } });
  await first.release();
  const second = await lockDirectory(dir);
  await second.release();
  expect(readdirSync(dir)).toEqual([]);
});

const LEFT_BEHIND: readonly { reason: string; text: string }[] = [
  { reason: 'of a process that is dead', text: JSON.stringify({ pid: 2 ** 22 + 1, started: '1', nonce: 'x' }) },
  { reason: 'of an earlier process with our id', text: JSON.stringify({ pid: process.pid, started: '1', nonce: 'x' }) },
  {
    reason: 'of an earlier process with the id of a living one',
    text: JSON.stringify({ pid: 1, started: '0', nonce: 'x' }),
  },
  { reason: 'that is torn', text: '{"pid":' },
];

test.each(LEFT_BEHIND)('a lock $reason is taken over', async ({ text }) => {
  writeFileSync(join(dir, 'lock'), text);
  const lock = await lockDirectory(dir);
  await lock.release();
});

test('of many that start at once after a crash one gets the directory', async () => {
  writeFileSync(join(dir, 'lock'), JSON.stringify({ pid: 2 ** 22 + 1, started: '1', nonce: 'x' }));
  const outcomes = await Promise.allSettled(Array.from({ length: 8 }, () => lockDirectory(dir)));
  const holders = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
  expect(holders).toHaveLength(1);
  await holders[0]?.release();
});
