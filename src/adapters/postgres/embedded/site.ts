// Chooses the folders of an embedded server. If we are root, the server runs under another account, which cannot enter
// every directory (a home of root has mode 0700): then programs and data are put into folders that it can enter.

import assert from 'node:assert/strict';
import { existsSync, statSync } from 'node:fs';
import { chmod, chown, cp, mkdir, rename } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { Failure } from '#std/failure.ts';
import { sha256 } from '#std/hash.ts';
import { type Account, type Binaries, binariesIn } from './binaries.ts';

export interface Site {
  readonly binaries: Binaries;
  readonly account: Account | undefined;
  readonly dataDir: string;
  /** True if the data directory was created before. */
  readonly initialised: boolean;
}

/** Folder that root owns and every account can enter. */
const SHARED_ROOT = '/var/lib/skep';

/**
 * Returns the folders. `dir` is absolute and exists. Throws Failure `database-server-failed` if the account can use neither
 * `dir` nor the shared root.
 */
export async function chooseSite(
  dir: string,
  binaries: Binaries,
  account: Account | undefined,
  sharedRoot = SHARED_ROOT,
): Promise<Site> {
  if (account === undefined) return site(binaries, account, dir);
  try {
    return await siteOf(dir, binaries, account, sharedRoot);
  } catch (cause) {
    const message = `PostgreSQL runs as ${account.name}, which cannot enter ${dir}, and ${sharedRoot} cannot be created`;
    throw new Failure('database-server-failed', message, { data: { dir, sharedRoot }, cause });
  }
}

async function siteOf(dir: string, binaries: Binaries, account: Account, sharedRoot: string): Promise<Site> {
  const home = canEnter(account, dirname(dir)) ? dir : join(await openRoot(sharedRoot), shortHash(dir));
  await mkdir(home, { recursive: true });
  // The server's account creates the data directory in here.
  await chown(home, account.uid, account.gid);
  await chmod(home, 0o755);
  const usable = canEnter(account, binaries.directory)
    ? binaries
    : await copyPrograms(binaries, await openRoot(sharedRoot));
  return site(usable, account, home);
}

/** Other accounts must be able to enter, whatever our umask is. */
async function openRoot(sharedRoot: string): Promise<string> {
  await mkdir(sharedRoot, { recursive: true });
  await chmod(sharedRoot, 0o755);
  return sharedRoot;
}

function site(binaries: Binaries, account: Account | undefined, home: string): Site {
  const dataDir = join(home, 'data');
  return { binaries, account, dataDir, initialised: existsSync(join(dataDir, 'PG_VERSION')) };
}

/** Whether the account may enter every directory on the path, this one included. */
function canEnter(account: Account, dir: string): boolean {
  const { mode, uid, gid } = statSync(dir);
  const bit = uid === account.uid ? 0o100 : gid === account.gid ? 0o010 : 0o001;
  const parent = dirname(dir);
  return (mode & bit) !== 0 && (parent === dir || canEnter(account, parent));
}

/** Creates a copy of the programs with their libraries, once per place and time of installation. */
async function copyPrograms({ directory }: Binaries, sharedRoot: string): Promise<Binaries> {
  const native = dirname(directory);
  const copy = join(sharedRoot, `programs-${shortHash(`${native} ${statSync(directory).mtimeMs}`)}`);
  const made = binariesIn(join(copy, basename(directory)));
  if (made !== undefined) return made;
  const unfinished = `${copy}.${process.pid}`;
  await cp(native, unfinished, { recursive: true, verbatimSymlinks: true });
  await rename(unfinished, copy);
  const copied = binariesIn(join(copy, basename(directory)));
  assert(copied !== undefined, 'a copy of the programs has the programs');
  return copied;
}

function shortHash(text: string): string {
  return sha256(text).slice(0, 16);
}
