// Keeps files in which nothing was wrong in the state folder, for the next process. Whoever can write there changes nothing
// that is applied: what is kept is sealed with a key that the cluster keeps for the instance.

import { join } from 'node:path';
import type { DigestKey } from '../../../reconcile/desire/digest-key.ts';
import type { SoundFile, SoundFileStore } from '../../../reconcile/read/sound-files.ts';
import { Failure } from '../../../std/failure.ts';
import { hmacSha256, sha256 } from '../../../std/hash.ts';
import type { Config } from '../../config/config.ts';
import { programDigest } from '../../offline/program-digest.ts';
import { openResultCache } from '../../offline/result-cache.ts';

export interface KeptSoundFiles extends SoundFileStore {
  /** Leaves what was added, where it is other than what was found. */
  save(): void;
}

/** Of texts; what has more is read again by each process. A fleet of 10,000 has a third of it. */
const CHARACTERS_MAX = 16 * 1024 * 1024;

export function openSoundFiles(
  { stateDir, name }: Pick<Config, 'stateDir' | 'name'>,
  digestKey: DigestKey,
): KeptSoundFiles {
  const left = new Map<string, SoundFile>();
  let found: ReadonlyMap<string, SoundFile> = new Map();
  let characters = 0;
  let opening: Promise<void> | undefined;
  let lacksKey = false;
  /** One key is not used for two ends. */
  const seal = (key: Uint8Array) => (text: string) =>
    hmacSha256(Buffer.from(hmacSha256(key, 'sound files'), 'hex'), text);
  const cacheFor = (key: Uint8Array) => openResultCache(join(stateDir, 'readings'), Date.now, seal(key));
  const entry = () => sha256(JSON.stringify([programDigest(), name]));

  async function readLeft(): Promise<void> {
    const key = await findKey(digestKey);
    lacksKey = key === 'none';
    if (typeof key === 'string') return;
    const kept = cacheFor(key).get(entry());
    if (kept !== undefined) found = new Map(Object.entries(kept as Record<string, SoundFile>));
  }

  return {
    async open() {
      opening ??= readLeft();
      await opening;
      return {
        find({ oid, path }) {
          const sound = left.get(oid) ?? found.get(oid);
          return sound?.path === path ? sound : undefined;
        },
        add(oid, sound) {
          if (!left.has(oid)) characters += sound.text.length;
          if (characters <= CHARACTERS_MAX) left.set(oid, sound);
        },
      };
    },
    lacksKey: () => lacksKey,
    save() {
      const key = digestKey.known();
      const isNew = [...left].some(([oid, { path, by }]) => found.get(oid)?.path !== path || found.get(oid)?.by !== by);
      if (key !== undefined && isNew) cacheFor(key).set(entry(), Object.fromEntries(left));
    },
  };
}

/** `none`: there is none yet. What keeps it from being read keeps no one from reading Git. */
async function findKey(digestKey: DigestKey): Promise<Uint8Array | 'none' | 'unknown'> {
  try {
    if (digestKey.known() === undefined) await digestKey.find();
    return digestKey.known() ?? 'none';
  } catch (failure) {
    if (failure instanceof Failure) return 'unknown';
    throw failure;
  }
}
