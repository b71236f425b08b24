// Splits a lock that is too large for the configuration of a proxy into several files, each in its own ConfigMap, and
// joins these files. The configuration contains the digest of each file, so that a proxy never uses an incomplete lock,
// or parts of two locks.

import { hash } from 'node:crypto';
import { isObject, parseJson } from '#std/json.ts';
import type { HeldLock } from './held.ts';
import { LOCKED_LIST_NAMES, type LockedList } from './schema.ts';

/** Maximum number of bytes of a part. A ConfigMap can have 1 MiB, and the configuration contains more than the lock. */
export const SHARD_BYTES_MAX = 800_000;
export const SHARDS_MAX = 4;

/** Folder of the parts in the pods of a proxy. */
const SHARDS_DIRECTORY = '/etc/skep/tools-lock';
export const SHARD_FILE = 'lock.json';

export interface Shard {
  readonly configMap: string;
  /** Folder of the part in the pods. */
  readonly directory: string;
  readonly text: string;
}

export interface SplitLock {
  /** Lock in the configuration, without the split definitions. */
  readonly lock: HeldLock;
  readonly shards: readonly Shard[];
}

type ShardEntry = readonly [list: LockedList, name: string, digests: string];

/** Returns the number of bytes of the lock as JSON. */
export function lockBytes(lock: HeldLock): number {
  return Buffer.byteLength(JSON.stringify(lock));
}

/** Splits a lock into parts. Equal locks result in equal parts. */
export function splitLock(server: string, lock: HeldLock): SplitLock {
  if (lockBytes(lock) <= SHARD_BYTES_MAX) return { lock, shards: [] };
  const shards = partsOf(lock).map(
    (entries, index): Shard => ({
      configMap: `${server}-tools-lock-${index + 1}`,
      directory: `${SHARDS_DIRECTORY}/${index + 1}`,
      text: `${JSON.stringify(listsOfPart(entries))}\n`,
    }),
  );
  const { mode, report_to } = lock;
  // A proxy that does not know `parts` then finds a lock without definitions.
  const empty = Object.fromEntries(LOCKED_LIST_NAMES.flatMap((list) => (lock[list] === undefined ? [] : [[list, {}]])));
  const parts = shards.map(({ configMap, directory, text }) => ({
    config_map: configMap,
    path: `${directory}/${SHARD_FILE}`,
    digest: partDigest(text),
  }));
  const rest = report_to === undefined ? {} : { report_to };
  return { lock: { mode, tools: {}, ...empty, parts, ...rest }, shards };
}

function partDigest(text: string): string {
  return hash('sha256', text, 'base64url');
}

function partsOf(lock: HeldLock): readonly (readonly ShardEntry[])[] {
  const parts: ShardEntry[][] = [];
  let bytes = SHARD_BYTES_MAX;
  for (const list of LOCKED_LIST_NAMES) {
    for (const [name, digests] of Object.entries(lock[list] ?? {})) {
      const size = Buffer.byteLength(JSON.stringify([name, digests]));
      if (bytes + size > SHARD_BYTES_MAX) {
        parts.push([]);
        // Bytes for the names of the lists.
        bytes = 100;
      }
      bytes += size;
      parts.at(-1)?.push([list, name, digests]);
    }
  }
  return parts;
}

function listsOfPart(entries: readonly ShardEntry[]): Readonly<Record<string, Readonly<Record<string, string>>>> {
  const lists = new Map<string, [string, string][]>();
  for (const [list, name, digests] of entries) {
    const known = lists.get(list);
    if (known === undefined) lists.set(list, [[name, digests]]);
    else known.push([name, digests]);
  }
  return Object.fromEntries([...lists].map(([list, all]) => [list, Object.fromEntries(all)]));
}

/** Reference to a part in the configuration. */
export type LockPart = NonNullable<HeldLock['parts']>[number];

/**
 * Returns the whole lock, or the reason why a part is missing or wrong. `read` returns the text of a part; undefined if
 * the part does not exist.
 */
export function joinLock(
  lock: HeldLock,
  read: (part: LockPart) => string | undefined,
): { readonly lock: HeldLock } | { readonly fault: string } {
  const { parts, ...rest } = lock;
  if (parts === undefined) return { lock };
  const lists = new Map<LockedList, [string, string][]>();
  for (const part of parts) {
    const text = read(part);
    if (text === undefined) return { fault: `${part.path} of the lock is missing` };
    if (partDigest(text) !== part.digest) return { fault: `${part.path} is a part of another lock` };
    const value = parseJson(text);
    for (const list of LOCKED_LIST_NAMES) {
      const digests = isObject(value) && isObject(value[list]) ? value[list] : {};
      const known = lists.get(list) ?? [];
      for (const [name, digest] of Object.entries(digests)) known.push([name, String(digest)]);
      if (rest[list] !== undefined) lists.set(list, known);
    }
  }
  return { lock: { ...rest, ...Object.fromEntries([...lists].map(([list, all]) => [list, Object.fromEntries(all)])) } };
}
