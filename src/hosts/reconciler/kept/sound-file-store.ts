// Stores in the state folder which files have no problems, for the next process. Entries are sealed with a key in the
// cluster, so that users who can write to the folder cannot change applied objects.

import { join } from 'node:path';
import type { DigestKey } from '#reconciler/run/desire/digest-key.ts';
import type { SoundFile, SoundFileStore } from '#reconciler/run/read/sound-files.ts';
import { Failure } from '#std/failure.ts';
import { hmacSha256, sha256 } from '#std/hash.ts';
import type { Config } from '../../config/config.ts';
import { programDigest } from '../../program-digest.ts';
import { openResultCache, type ResultCache } from './result-cache.ts';

/**
 * Maximum number of characters of all stored texts. Each process reads the files beyond this limit again. A fleet of
 * 10,000 objects needs a third of the limit.
 */
const CHARACTERS_MAX = 16 * 1024 * 1024;

export function openSoundFiles(
  { stateDir, name }: Pick<Config, 'stateDir' | 'name'>,
  digestKey: DigestKey,
): SoundFileStore {
  const left = new Map<string, SoundFile>();
  let found: ReadonlyMap<string, SoundFile> = new Map();
  let characters = 0;
  let opening: Promise<void> | undefined;
  let lacksKey = false;
  /**
   * Cache key of the running program. It is computed at the start, because the program's files may be replaced before
   * this process saves.
   */
  let entry: string | undefined;

  async function readLeft(): Promise<void> {
    entry = entryOf(name);
    const key = await findKey(digestKey);
    lacksKey = key === 'none';
    if (typeof key === 'string' || entry === undefined) return;
    const kept = openCache(stateDir, key).get(entry);
    if (kept !== undefined) found = new Map(Object.entries(kept as Record<string, SoundFile>));
  }

  function add(oid: string, sound: SoundFile): void {
    const before = left.get(oid);
    if (before?.path === sound.path) {
      left.set(oid, { ...sound, heldAgainst: [...new Set([...before.heldAgainst, ...sound.heldAgainst])] });
    } else if (before === undefined && characters + sound.text.length <= CHARACTERS_MAX) {
      characters += sound.text.length;
      left.set(oid, sound);
    }
  }

  return {
    async open() {
      opening ??= readLeft();
      await opening;
      return {
        find({ oid, path }) {
          const sound = found.get(oid);
          return sound?.path === path ? sound : undefined;
        },
        add,
      };
    },
    lacksKey: () => lacksKey,
    save() {
      const key = digestKey.known();
      const isNew = [...left].some(([oid, sound]) => !wasLeft(sound, found.get(oid)));
      if (key === undefined || entry === undefined || !isNew) return;
      openCache(stateDir, key).set(entry, Object.fromEntries(left));
      found = new Map(left);
    },
  };
}

function wasLeft({ path, heldAgainst }: SoundFile, before: SoundFile | undefined): boolean {
  return before?.path === path && heldAgainst.every((kinds) => before.heldAgainst.includes(kinds));
}

/** Opens the cache with a key that is derived from the instance's key, which itself is only for digests of Secrets. */
function openCache(stateDir: string, instanceKey: Uint8Array): ResultCache {
  const key = Buffer.from(hmacSha256(instanceKey, 'sound files'), 'hex');
  return openResultCache(join(stateDir, 'readings'), Date.now, (data) => hmacSha256(key, data));
}

/** Returns undefined while the program's files are being replaced. */
function entryOf(name: string): string | undefined {
  try {
    return sha256(JSON.stringify([programDigest(), name]));
  } catch (error) {
    if (error instanceof Error && 'code' in error) return undefined;
    throw error;
  }
}

/** Returns `none` if the cluster has no key yet, and `unknown` if the key cannot be read. Neither is an error. */
async function findKey(digestKey: DigestKey): Promise<Uint8Array | 'none' | 'unknown'> {
  try {
    if (digestKey.known() === undefined) await digestKey.find();
    return digestKey.known() ?? 'none';
  } catch (failure) {
    if (failure instanceof Failure) return 'unknown';
    throw failure;
  }
}
