// Manages the folder with the local copy of one repository: selects the current clone, and removes old clones.

import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '#std/failure.ts';

/**
 * The folder contains bare repositories `clone-<n>/` and the file `current` with the name of the clone in use. A clone
 * is complete before `current` refers to it, so a killed process leaves only an unused clone. The previous clone is
 * kept for readers that still use it.
 */
export interface CloneFolder {
  /** Returns the path of the current clone. undefined before the first clone. */
  current(): Promise<string | undefined>;
  /** Returns an unused path for a new clone. */
  fresh(): Promise<string>;
  /**
   * Makes a clone current. Removes all clones except this and the previous clone. The caller must hold the folder's
   * lock.
   */
  adopt(gitdir: string): Promise<void>;
}

const CURRENT = 'current';
const CLONE = 'clone-';

export function openState(dir: string): CloneFolder {
  return {
    current: async () => {
      const name = await currentName(dir);
      return name === undefined ? undefined : join(dir, name);
    },
    fresh: async () => {
      const numbers = (await clones(dir)).map((name) => Number(name.slice(CLONE.length)));
      return join(dir, `${CLONE}${Math.max(0, ...numbers) + 1}`);
    },
    adopt: async (gitdir) => {
      const before = await currentName(dir);
      const name = gitdir.slice(dir.length + 1);
      const draft = join(dir, `${CURRENT}.new`);
      // Removes a symbolic link at the path, so that it is not followed.
      await rm(draft, { force: true });
      await writeFile(draft, `${name}\n`, { flag: 'wx' });
      await rename(draft, join(dir, CURRENT));
      const unused = (await clones(dir)).filter((clone) => clone !== name && clone !== before);
      await Promise.all(unused.map((clone) => rm(join(dir, clone), { recursive: true, force: true })));
    },
  };
}

async function currentName(dir: string): Promise<string | undefined> {
  const text = await readFile(join(dir, CURRENT), 'utf8').catch(nothingWhereMissing);
  const name = text?.trim();
  return name !== undefined && (await clones(dir)).includes(name) ? name : undefined;
}

async function clones(dir: string): Promise<string[]> {
  const entries = await readdir(dir).catch(nothingWhereMissing);
  return (entries ?? []).filter((name) => isCloneName(name));
}

function isCloneName(name: string): boolean {
  const digits = name.slice(CLONE.length);
  return name.startsWith(CLONE) && digits !== '' && [...digits].every((char) => char >= '0' && char <= '9');
}

function nothingWhereMissing(error: unknown): undefined {
  if (isFileError(error) && error.code === 'ENOENT') return undefined;
  throw error;
}

/** True for errors of the file system from Node.js. */
export function isFileError(error: unknown): error is NodeJS.ErrnoException & { path: string } {
  return error instanceof Error && 'code' in error && 'syscall' in error && 'path' in error;
}

/** Creates the folder and calls `run`. Errors of the file system become Failure `git-state-unwritable`. */
export async function useFolder<T>(dir: string, run: () => Promise<T>): Promise<T> {
  try {
    await mkdir(dir, { recursive: true, mode: 0o700 });
    return await run();
  } catch (cause) {
    if (!isFileError(cause)) throw cause;
    const message = `${dir}: ${cause.code} at ${cause.syscall}`;
    throw new Failure('git-state-unwritable', message, { data: { path: cause.path }, cause });
  }
}
