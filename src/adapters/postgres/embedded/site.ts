// Chooses the folders of an embedded server. If we are root, the server runs under another account, which cannot enter
// all directories (root's home has mode 0700). Programs and data are then put into folders that the account can enter.

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
  /** True if the data directory already exists. */
  readonly initialised: boolean;
}

/** A folder that root owns and all accounts can enter. */
const SHARED_ROOT = '/var/lib/skep';

/**
 * Returns the folders. `dir` must be absolute and exist. Throws Failure `database-server-failed` if the account can use
 * neither `dir` nor the shared root.
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
  // The server's account creates the data directory in this folder.
  await chown(home, account.uid, account.gid);
  await chmod(home, 0o755);
  const usable = canEnter(account, binaries.directory)
    ? binaries
    : await copyPrograms(binaries, await openRoot(sharedRoot));
  return site(usable, account, home);
}

/** Creates the folder so that other accounts can enter it, whatever our umask is. */
async function openRoot(sharedRoot: string): Promise<string> {
  await mkdir(sharedRoot, { recursive: true });
  await chmod(sharedRoot, 0o755);
  return sharedRoot;
}

function site(binaries: Binaries, account: Account | undefined, home: string): Site {
  const dataDir = join(home, 'data');
  return { binaries, account, dataDir, initialised: existsSync(join(dataDir, 'PG_VERSION')) };
}

/** True if the account may enter the directory and all its parents. */
function canEnter(account: Account, dir: string): boolean {
  const { mode, uid, gid } = statSync(dir);
  const bit = uid === account.uid ? 0o100 : gid === account.gid ? 0o010 : 0o001;
  const parent = dirname(dir);
  return (mode & bit) !== 0 && (parent === dir || canEnter(account, parent));
}

/** Copies the programs with their libraries. A copy is reused until the programs are installed again. */
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
