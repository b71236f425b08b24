// One process per state directory: every starter puts a file there that names it, and holds the directory where no other
// living process has one. Files of dead processes are removed.

import { randomInt, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readdir, readFile, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Failure } from '#std/failure.ts';
import { isObject } from '#std/json.ts';

export interface DirectoryLock {
  /** Gives the directory free. Calling it twice is harmless. */
  release(): Promise<void>;
}

interface Holder {
  readonly pid: number;
  /** When the process started, as its system counts; process ids are used again, this pair is not. */
  readonly started: string;
  readonly nonce: string;
}

const PREFIX = 'lock.';
/** Starters that meet all withdraw and come again after up to this time. */
const ATTEMPTS = 40;
const LONGEST_PAUSE_MS = 25;

/** Nonces of the locks that this very process holds or is about to. */
const held = new Set<string>();

/** Throws Failure `devcluster-locked` where a living process holds the directory. */
export async function lockDirectory(dir: string): Promise<DirectoryLock> {
  let rival: Holder | undefined;
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const holder: Holder = { pid: process.pid, started: startOf(process.pid) ?? '', nonce: randomUUID() };
    const withdraw = await announce(dir, holder);
    rival = await findRival(dir, holder);
    if (rival === undefined) return { release: withdraw };
    await withdraw();
    await sleep(randomInt(LONGEST_PAUSE_MS));
  }
  const data = { dir, pid: rival?.pid ?? 0 };
  throw new Failure('devcluster-locked', `${dir} is held by process ${data.pid}`, { data });
}

/** The file is there before anybody is looked for: of two that start together at least one sees the other. */
async function announce(dir: string, holder: Holder): Promise<() => Promise<void>> {
  const path = join(dir, `${PREFIX}${holder.nonce}`);
  held.add(holder.nonce);
  await writeFile(path, JSON.stringify(holder), { mode: 0o600, flag: 'wx' });
  return async () => {
    if (held.delete(holder.nonce)) await unlinkIfPresent(path);
  };
}

/** Another process that exists and has a file here; files of dead ones go. */
async function findRival(dir: string, own: Holder): Promise<Holder | undefined> {
  for (const name of await readdir(dir)) {
    if (!name.startsWith(PREFIX) || name === `${PREFIX}${own.nonce}`) continue;
    const path = join(dir, name);
    const text = await readIfThere(path);
    const holder = text === undefined ? undefined : parseHolder(text);
    if (holder !== undefined && lives(holder)) return holder;
    // A file that is not whole yet belongs to someone who has not looked: he will see ours.
    if (holder !== undefined) await unlinkIfPresent(path);
  }
  return undefined;
}

function lives(holder: Holder): boolean {
  if (holder.pid === process.pid) return held.has(holder.nonce);
  try {
    process.kill(holder.pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
  }
  const started = startOf(holder.pid);
  return started === undefined || holder.started === '' || started === holder.started;
}

/** Field 22 of /proc/<pid>/stat (proc(5)); undefined where the system has no such file. */
function startOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
  } catch {
    return undefined;
  }
}

function parseHolder(text: string): Holder | undefined {
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
