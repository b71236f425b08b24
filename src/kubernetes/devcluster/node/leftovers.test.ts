// Tests that only recorded processes are killed after a crash.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { temporaryFolder } from '../../../../test/harness/git-server.ts';
import { killLeftovers, recordProcess } from './leftovers.ts';

const folder = temporaryFolder();
const groups: number[] = [];

afterEach(() => {
  for (const group of groups.splice(0)) end(group);
});

function end(group: number): void {
  try {
    process.kill(-group, 'SIGKILL');
  } catch {
    // The process has ended.
  }
}

/** Starts a group of two processes. The second process prints nothing and keeps running. Resolves once it exists. */
async function startGroup(
  script: string,
  cwd: string,
): Promise<{ readonly leader: ChildProcess; readonly group: number }> {
  const leader = spawn('/bin/sh', ['-c', script], { cwd, detached: true, stdio: ['ignore', 'pipe', 'ignore'] });
  const group = leader.pid ?? Number.NaN;
  groups.push(group);
  await once(leader.stdout, 'data');
  return { leader, group };
}

/** Resolves when all processes of the group have closed their output. */
async function untilEnded({ stdout }: ChildProcess): Promise<void> {
  if (stdout?.readableEnded === false) await once(stdout.resume(), 'end');
}

const STAYS = '(trap "echo here" USR1; echo begun; while :; do sleep 0.1; done) & wait';

test('a process group is killed if its first process still runs', async () => {
  const record = join(folder.path, 'runs');
  const { leader, group } = await startGroup(STAYS, folder.path);
  recordProcess(record, group, folder.path);
  killLeftovers(record);
  await untilEnded(leader);
});

/** Only Linux reports the working directory of a process. */
const onLinux = test.runIf(process.platform === 'linux');

onLinux('a group whose first process has ended is killed if it is still in its folder', async () => {
  const record = join(folder.path, 'ended');
  const { leader, group } = await startGroup(STAYS, folder.path);
  recordProcess(record, group, folder.path);
  leader.kill('SIGKILL');
  await once(leader, 'exit');
  killLeftovers(record);
  await untilEnded(leader);
});

onLinux('a group with the number of a recorded one that runs elsewhere is left alone', async () => {
  const record = join(folder.path, 'elsewhere');
  const { leader, group } = await startGroup(`cd /; ${STAYS}`, folder.path);
  recordProcess(record, group, folder.path);
  leader.kill('SIGKILL');
  await once(leader, 'exit');
  killLeftovers(record);
  process.kill(-group, 'SIGUSR1');
  expect(String(await once(leader.stdout ?? leader, 'data'))).toContain('here');
});
