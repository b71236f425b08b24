// Tests process groups: a process that cannot start, and the groups that a new watchdog takes over.

import { readdirSync, readFileSync } from 'node:fs';
import { afterEach, expect, test, vi } from 'vitest';
import { openProcessGroups, type ProcessGroups } from './process-groups.ts';

const opened: ProcessGroups[] = [];

afterEach(() => Promise.all(opened.splice(0).map((groups) => groups.close())));

function open(): ProcessGroups {
  const groups = openProcessGroups();
  opened.push(groups);
  return groups;
}

test('a process that cannot start does not block closing', async () => {
  const child = open().start({ program: 'true', args: [], env: {}, directory: '/nowhere/at/all' });
  expect(await new Promise((resolve) => child.once('error', resolve))).toMatchObject({ code: 'ENOENT' });
});

interface Watchdog {
  readonly pid: number;
  readonly args: readonly string[];
}

/** Returns the running watchdogs of this process (proc(5)). */
function watchdogs(): readonly Watchdog[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const [, state, parent] = /\) (\w) (\d+)/.exec(readFileSync(`/proc/${name}/stat`, 'utf8')) ?? [];
        const [, , script = '', , ...args] = readFileSync(`/proc/${name}/cmdline`, 'utf8').split('\0');
        const is = state !== 'Z' && Number(parent) === process.pid && script.includes('read -r sign pid');
        return is ? [{ pid: Number(name), args }] : [];
      } catch {
        // The process has ended in the meantime.
        return [];
      }
    });
}

test.skipIf(process.platform !== 'linux')('a new watchdog knows at its start which processes run', async () => {
  const child = open().start({ program: 'sleep', args: ['600'], env: { PATH: process.env.PATH ?? '' } });
  const [first] = watchdogs();
  expect(first?.args).toEqual(['']);
  process.kill(first?.pid ?? 0, 'SIGKILL');
  const second = await vi.waitUntil(() => watchdogs().find(({ pid }) => pid !== first?.pid), { timeout: 300_000 });
  expect(second.args).toEqual([String(child.pid), '']);
});
