// Caches results in files between processes, each under a digest of all its inputs. Unreadable and changed entries are
// ignored. If a result is lost, it is computed again.

import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, utimesSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { writePrivatelyNow } from '#kubernetes/devcluster/storage/private-file.ts';
import { sha256 } from '#std/hash.ts';

export interface ResultCache {
  /** Returns the stored value; undefined if the cache has no entry. */
  get(key: string): unknown;
  set(key: string, value: unknown): void;
}

type Seal = (data: string | Uint8Array) => string;

const ENTRIES_MAX = 64;
const BYTES_MAX = 64 * 1024 * 1024;
/** Files of entries, including unfinished files of a killed process. Names of manifests do not match. */
const ENTRY = /^[0-9a-f]{64}\.result/;

/**
 * Keys must be lower-case hexadecimal SHA-256. `clock` returns milliseconds since 1970. `seal` returns a digest that
 * only equal data has.
 */
export function openResultCache(folder: string, clock: () => number, seal: Seal = sha256): ResultCache {
  return {
    get(key) {
      const path = join(folder, `${key}.result`);
      const value = quietly(() => entryIn(readFileSync(path), key, seal));
      // Marks the entry as used, because the entries that were used last are kept.
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

/**
 * Returns undefined if a file operation fails, for example because the disk is full or the folder belongs to another
 * user. Callers then work without the cache.
 */
function quietly<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if (error instanceof Error && 'code' in error) return undefined;
    throw error;
  }
}

/** Returns undefined if the first line is not the digest of the other lines, or if the entry has another key. */
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

/** Returns the folder for a user's caches (XDG Base Directory Specification; Apple's file system guide). */
export function userCacheFolder(environment: NodeJS.ProcessEnv, platform: NodeJS.Platform): string {
  const named = environment.XDG_CACHE_HOME ?? '';
  if (isAbsolute(named)) return join(named, 'skep');
  if (platform === 'win32' && environment.LOCALAPPDATA !== undefined) return join(environment.LOCALAPPDATA, 'skep');
  return join(homedir(), platform === 'darwin' ? 'Library/Caches' : '.cache', 'skep');
}
