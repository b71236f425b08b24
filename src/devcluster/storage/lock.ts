// One process per state directory: a file that names its holder. A holder that is dead is succeeded. Knows nothing about
// what the directory holds.

import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { link, readFile, rename, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../../std/failure.ts';
import { isObject } from '../../std/json.ts';

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

const ATTEMPTS = 20;

/** Nonces of the locks that this very process holds. */
const held = new Set<string>();

/** Throws Failure `devcluster-locked` where a living process holds the directory. */
export async function lockDirectory(dir: string): Promise<DirectoryLock> {
  const path = join(dir, 'lock');
  const holder: Holder = { pid: process.pid, started: startOf(process.pid) ?? '', nonce: randomUUID() };
  const draft = `${path}.${holder.nonce}`;
  await writeFile(draft, JSON.stringify(holder), { mode: 0o600 });
  try {
    await take(path, draft);
  } finally {
    await unlink(draft);
  }
  held.add(holder.nonce);
  return {
    release: async () => {
      if (held.delete(holder.nonce)) await unlink(path);
    },
  };
}

async function take(path: string, draft: string): Promise<void> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    if (await linked(draft, path)) return;
    const text = await textOf(path);
    if (text === undefined) continue;
    const holder = parseHolder(text);
    if (holder !== undefined && lives(holder)) throw locked(path, holder.pid);
    await retire(path, text);
  }
  throw locked(path, 0);
}

/** `link` fails where the name exists: the one step that decides between two starters. */
async function linked(draft: string, path: string): Promise<boolean> {
  try {
    await link(draft, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** Moves a dead holder's file away; where another starter was faster and the file is already his, puts it back. */
async function retire(path: string, expected: string): Promise<void> {
  const aside = `${path}.${randomUUID()}`;
  try {
    await rename(path, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  if ((await textOf(aside)) !== expected) await linked(aside, path);
  await unlink(aside);
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

async function textOf(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

function locked(path: string, pid: number): Failure {
  return new Failure('devcluster-locked', `${path} is held by process ${pid}`, { data: { path, pid } });
}
