// Locks a state directory for one process. Each starting process creates a file that identifies the process. A process
// has the lock if no other running process has a file in the directory. Files of dead processes are removed.

import { randomInt, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readdir, readFile, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Failure } from '#std/failure.ts';
import { isObject } from '#std/json.ts';

export interface DirectoryLock {
  /** Releases the directory. May be called more than once. */
  release(): Promise<void>;
}

interface DirectoryHolder {
  readonly pid: number;
  /** Start time of the process in the system's unit. Together with the start time, a process id is unique. */
  readonly started: string;
  readonly nonce: string;
}

const PREFIX = 'lock.';
/** Maximum number of attempts. Processes that start at the same time withdraw and try again. */
const ATTEMPTS = 40;
const LONGEST_PAUSE_MS = 25;

/** Nonces of the locks that this process holds or is acquiring. */
const held = new Set<string>();

/** Throws Failure `devcluster-locked` if another running process has locked the directory. */
export async function lockDirectory(dir: string): Promise<DirectoryLock> {
  let rival: DirectoryHolder | undefined;
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const holder: DirectoryHolder = { pid: process.pid, started: startOf(process.pid) ?? '', nonce: randomUUID() };
    const withdraw = await announce(dir, holder);
    rival = await findRival(dir, holder);
    if (rival === undefined) return { release: withdraw };
    await withdraw();
    await sleep(randomInt(LONGEST_PAUSE_MS));
  }
  const data = { dir, pid: rival?.pid ?? 0 };
  throw new Failure('devcluster-locked', `${dir} is held by process ${data.pid}`, { data });
}

/**
 * Creates the file of this process before it looks for other files. If two processes start together, at least one finds
 * the other process's file.
 */
async function announce(dir: string, holder: DirectoryHolder): Promise<() => Promise<void>> {
  const path = join(dir, `${PREFIX}${holder.nonce}`);
  held.add(holder.nonce);
  await writeFile(path, JSON.stringify(holder), { mode: 0o600, flag: 'wx' });
  return async () => {
    if (held.delete(holder.nonce)) await unlinkIfPresent(path);
  };
}

/** Returns another running process with a file in the directory. Removes files of dead processes. */
async function findRival(dir: string, own: DirectoryHolder): Promise<DirectoryHolder | undefined> {
  for (const name of await readdir(dir)) {
    if (!name.startsWith(PREFIX) || name === `${PREFIX}${own.nonce}`) continue;
    const path = join(dir, name);
    const text = await readIfThere(path);
    const holder = text === undefined ? undefined : parseHolder(text);
    if (holder !== undefined && isAlive(holder)) return holder;
    // The writer of an incomplete file has not searched for other files yet, and will find ours.
    if (holder !== undefined) await unlinkIfPresent(path);
  }
  return undefined;
}

function isAlive(holder: DirectoryHolder): boolean {
  if (holder.pid === process.pid) return held.has(holder.nonce);
  try {
    process.kill(holder.pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
  }
  const started = startOf(holder.pid);
  return started === undefined || holder.started === '' || started === holder.started;
}

/** Returns field 22 of /proc/<pid>/stat (proc(5)). undefined if the system has no such file. */
function startOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
  } catch {
    return undefined;
  }
}

function parseHolder(text: string): DirectoryHolder | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (!isObject(value)) return undefined;
    const { pid, started, nonce } = value;
    if (typeof pid !== 'number' || typeof started !== 'string' || typeof nonce !== 'string') return undefined;
    return { pid, started, nonce };
  } catch {
    return undefined;
  }
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

async function unlinkIfPresent(path: string): Promise<void> {
  try {
    await unlink(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}
