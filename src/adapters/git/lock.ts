// Allows one process at a time to use a folder, with a lock file. The holder of the lock touches the file regularly, so
// a killed process leaves no lasting lock.

import { link, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '#reconciler/run/ports.ts';
import { Failure } from '#std/failure.ts';
import { isObject } from '#std/json.ts';

const TOUCH_MS = 2_000;
/** After this time without a touch, the holder counts as dead. In milliseconds. */
const STALE_MS = 20_000;
const POLL_MS = 100;

/** Distinguishes this process from an earlier process with the same id, as in a restarted container. */
const THIS_PROCESS = `${process.pid} since ${performance.timeOrigin}`;

interface LockHolder {
  readonly host: string;
  readonly pid: number;
  readonly process: string;
  /** Random text for each acquisition of the lock. */
  readonly token: string;
}

/**
 * Waits for the lock, calls `run`, and releases the lock. Throws Failure `git-state-locked` if the lock is not free
 * within `waitMs`.
 */
export async function runLocked<T>(clock: Clock, dir: string, waitMs: number, run: () => Promise<T>): Promise<T> {
  const file = join(dir, 'lock');
  const token = `${THIS_PROCESS}, ${process.hrtime.bigint()}`;
  const holder: LockHolder = { host: hostname(), pid: process.pid, process: THIS_PROCESS, token };
  await acquire(clock, file, holder, waitMs);
  const touching = setInterval(() => touch(clock, file), TOUCH_MS);
  touching.unref();
  try {
    return await run();
  } finally {
    clearInterval(touching);
    const now = await readHolder(file);
    if (now?.token === holder.token) await rm(file, { force: true });
  }
}

async function acquire(clock: Clock, file: string, holder: LockHolder, waitMs: number): Promise<void> {
  const deadline = clock.monotonic() + waitMs;
  while (!(await create(clock, file, holder))) {
    if (await removeIfStale(clock, file, `${file}.${holder.pid}`)) continue;
    if (clock.monotonic() >= deadline) {
      const by = await readHolder(file);
      const message = `process ${by?.pid ?? '?'} on ${by?.host ?? '?'} uses the folder (${file}): wait for its end or stop it, or set another stateDir`;
      throw new Failure('git-state-locked', message, { data: { file }, retryable: true });
    }
    await clock.sleep(POLL_MS);
  }
}

async function create(clock: Clock, file: string, holder: LockHolder): Promise<boolean> {
  try {
    await writeFile(file, JSON.stringify(holder), { flag: 'wx' });
    await touch(clock, file);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
}

/**
 * Renames a stale lock file before removing it. If two processes rename the file at the same time, only one succeeds.
 * If the renamed file is the new lock of another process, restores the file.
 */
async function removeIfStale(clock: Clock, file: string, aside: string): Promise<boolean> {
  const holder = await readHolder(file);
  const touched = await stat(file).catch(() => undefined);
  if (touched === undefined) return true;
  const untouchedMs = clock.now() - touched.mtimeMs;
  if (untouchedMs < STALE_MS && (holder === undefined || !isDead(holder))) return false;
  try {
    await rename(file, aside);
  } catch {
    return true;
  }
  const moved = await readHolder(aside);
  if (moved?.token !== holder?.token) await link(aside, file).catch(() => undefined);
  await rm(aside, { force: true });
  return true;
}

/** Returns true only if the holder is certainly dead. Processes of other hosts may be alive. */
function isDead({ host, pid, process: itself }: LockHolder): boolean {
  if (host !== hostname()) return false;
  if (pid === process.pid) return itself !== THIS_PROCESS;
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'ESRCH';
  }
}

/** Returns undefined if the file does not exist or is incomplete. */
async function readHolder(file: string): Promise<LockHolder | undefined> {
  try {
    const value: unknown = JSON.parse(await readFile(file, 'utf8'));
    if (!isObject(value)) return undefined;
    const { host, pid, process: itself, token } = value;
    if (typeof host !== 'string' || typeof pid !== 'number') return undefined;
    if (typeof itself !== 'string' || typeof token !== 'string') return undefined;
    return { host, pid, process: itself, token };
  } catch {
    return undefined;
  }
}

async function touch(clock: Clock, file: string): Promise<void> {
  const now = clock.now() / 1000;
  await utimes(file, now, now).catch(() => undefined);
}
