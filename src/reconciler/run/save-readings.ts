// Saves the readings of a run for the next process, under a key that proves to it that they were not changed.

import { Failure } from '#std/failure.ts';
import type { DigestKey } from './desire/digest-key.ts';
import type { Random } from './desire/generated.ts';
import type { SoundFileStore } from './read/sound-files.ts';

interface SaveDeps {
  /** Absent if the process is long-lived, or reads for others. */
  readonly sound?: SoundFileStore;
  readonly digestKey: DigestKey;
  readonly random: Random;
}

/** Must run under the lock: it creates the key if there is none. */
export async function saveReadings({ sound, digestKey, random }: SaveDeps): Promise<void> {
  if (sound === undefined) return;
  if (sound.lacksKey() && digestKey.known() === undefined) await makeKeyIfPossible(digestKey, random);
  sound.save();
}

/**
 * Without the key the next process reads everything again, which is not a reason to end a run. A failure that ends a
 * run ends its next request as well.
 */
async function makeKeyIfPossible(digestKey: DigestKey, random: Random): Promise<void> {
  try {
    await digestKey.find();
    if (digestKey.known() === undefined) await digestKey.make(random);
  } catch (failure) {
    if (!(failure instanceof Failure)) throw failure;
  }
}
