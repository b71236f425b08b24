// Results kept in files between runs of the program, each by a digest of all that it follows from. Losing one costs time,
// never correctness: what cannot be read, or is not what was written, counts as absent.

import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, utimesSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { writePrivatelyNow } from '#kubernetes/devcluster/storage/private-file.ts';
import { sha256 } from '#std/hash.ts';

export interface ResultCache {
  /** JSON; undefined where there is none. */
  get(key: string): unknown;
  set(key: string, value: unknown): void;
}

type Seal = (data: string | Uint8Array) => string;

const ENTRIES_MAX = 64;
const BYTES_MAX = 64 * 1024 * 1024;
/** Unfinished ones, which a killed process left, included. No name that is a manifest's. */
const ENTRY = /^[0-9a-f]{64}\.result/;

/** Keys are lower-case hex SHA-256. `clock`: milliseconds since 1970. `seal`: a digest, of which equal ones mean equal data. */
export function openResultCache(folder: string, clock: () => number, seal: Seal = sha256): ResultCache {
  return {
    get(key) {
      const path = join(folder, `${key}.result`);
      const value = quietly(() => entryIn(readFileSync(path), key, seal));
      // The entries used last are those that stay.
      if (value !== undefined) quietly(() => utimesSync(path, clock() / 1000, clock() / 1000));
      return value;
    },
    set(key, value) {
      const text = JSON.stringify(value);
      if (text.length > BYTES_MAX) return;
      quietly(() => {
        mkdirSync(folder, { recursive: true, mode: 0o700 });
        const path = join(folder, `${key}.result`);
        const sealed = `${key}\n${text}`;
        writePrivatelyNow(path, `${seal(sealed)}\n${sealed}`);
        makeRoom(folder);
      });
    },
  };
}

/** A full disk, a folder of others, a file that went: the cache does without, and so does the caller. */
function quietly<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if (error instanceof Error && 'code' in error) return undefined;
    throw error;
  }
}

/** First line: a digest of the rest, which begins with the key. Undefined where they do not fit. */
function entryIn(content: Buffer, key: string, seal: Seal): unknown {
  const end = content.indexOf('\n');
  const sealed = content.subarray(end + 1);
  const begin = `${key}\n`;
  const isWhole = end > 0 && content.toString('utf8', 0, end) === seal(sealed);
  return isWhole && sealed.toString('utf8', 0, begin.length) === begin
    ? JSON.parse(sealed.toString('utf8', begin.length))
    : undefined;
}

function makeRoom(folder: string): void {
  const entries = readdirSync(folder)
    .filter((name) => ENTRY.test(name))
    .map((name) => {
      const path = join(folder, name);
      const { mtimeMs, size } = statSync(path);
      return { path, mtimeMs, size };
    })
    .sort((a, b) => b.mtimeMs - a.mtimeMs);
  let bytes = 0;
  for (const [index, { path, size }] of entries.entries()) {
    bytes += size;
    if (index >= ENTRIES_MAX || bytes > BYTES_MAX) rmSync(path, { force: true });
  }
}

/** Where programs of this user keep what they can make again (XDG Base Directory Specification; Apple's file system guide). */
export function userCacheFolder(environment: NodeJS.ProcessEnv, platform: NodeJS.Platform): string {
  const named = environment.XDG_CACHE_HOME ?? '';
  if (isAbsolute(named)) return join(named, 'skep');
  if (platform === 'win32' && environment.LOCALAPPDATA !== undefined) return join(environment.LOCALAPPDATA, 'skep');
  return join(homedir(), platform === 'darwin' ? 'Library/Caches' : '.cache', 'skep');
}
