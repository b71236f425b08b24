// Ensures that one process at a time owns the directory of an embedded server, and stops servers whose owner is dead.

import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Failure } from '#std/failure.ts';
import { readPidFile } from './server.ts';

const OWNER_FILE = 'owner';
const ORPHAN_TIMEOUT_MS = 30_000;
const POLL_MS = 20;

/**
 * Claims the directory for this process. The returned function releases it. Throws Failure `database-in-use` if another
 * running process has claimed it.
 */
export async function claimDirectory(dir: string): Promise<() => Promise<void>> {
  const file = join(dir, OWNER_FILE);
  const other = await readOptional(file);
  if (other !== undefined) {
    const pid = Number(other.split(' ')[0]);
    if ((await processIdentity(pid)) === other) {
      throw new Failure('database-in-use', `${dir} is in use by process ${pid}`, { data: { dir, pid } });
    }
  }
  await writeFile(file, (await processIdentity(process.pid)) ?? '');
  return () => rm(file, { force: true });
}

/** Stops a server whose parent process is dead, and removes the lock file of a dead server. */
export async function endOrphan(dataDir: string): Promise<void> {
  const pid = Number((await readPidFile(dataDir))?.[0]);
  if (!Number.isInteger(pid) || pid <= 0) return;
  if (await isServer(pid, dataDir)) process.kill(pid, 'SIGINT');
  const deadline = performance.now() + ORPHAN_TIMEOUT_MS;
  while (await isServer(pid, dataDir)) {
    if (performance.now() > deadline) {
      throw new Failure('database-in-use', `${dataDir}: the server of an earlier run, process ${pid}, does not stop`);
    }
    await pause(POLL_MS);
  }
  await rm(join(dataDir, 'postmaster.pid'), { force: true });
}

/** True if the process is a server on this directory. Needed because process ids are reused. */
async function isServer(pid: number, dataDir: string): Promise<boolean> {
  return isAlive(pid) && (await commandLine(pid)).includes(dataDir);
}

/**
 * Returns the process id and, if the system reports it, the start time, because ids are reused. undefined if the
 * process does not exist or is a zombie.
 */
async function processIdentity(pid: number): Promise<string | undefined> {
  if (!isAlive(pid)) return undefined;
  const stat = await readOptional(`/proc/${pid}/stat`);
  if (stat === undefined) return String(pid);
  // proc(5): the fields after the second, which is in parentheses and may contain blanks.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields[0] === 'Z' ? undefined : `${pid} ${fields[19]}`;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

/** Returns an empty text for a zombie. */
async function commandLine(pid: number): Promise<string> {
  if (existsSync('/proc/self')) return (await readOptional(`/proc/${pid}/cmdline`)) ?? '';
  const { stdout } = await promisify(execFile)('ps', ['-o', 'command=', '-p', String(pid)]);
  return stdout;
}

async function readOptional(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ESRCH'))
      return undefined;
    throw error;
  }
}
