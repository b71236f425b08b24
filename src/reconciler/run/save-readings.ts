// Saves the readings of a run for the next process, with a key that proves that they were not changed.

import { Failure } from '#std/failure.ts';
import type { DigestKey } from './desire/digest-key.ts';
import type { Random } from './desire/generated.ts';
import type { SoundFileStore } from './read/sound-files.ts';

interface SaveDeps {
  /** Absent if the process is long-lived, or must not store readings. */
  readonly sound?: SoundFileStore;
  readonly digestKey: DigestKey;
  readonly random: Random;
}

/** Saves the readings. Must run under the lock, because it creates the key if the key does not exist. */
export async function saveReadings({ sound, digestKey, random }: SaveDeps): Promise<void> {
  if (sound === undefined) return;
  if (sound.lacksKey() && digestKey.known() === undefined) await makeKeyIfPossible(digestKey, random);
  sound.save();
}

/**
 * Creates the key if it can. Without the key the next process reads everything again, which is not a reason to end a
 * run. A failure that must end the run also ends the run's next request.
 */
async function makeKeyIfPossible(digestKey: DigestKey, random: Random): Promise<void> {
  try {
    await digestKey.find();
    if (digestKey.known() === undefined) await digestKey.make(random);
  } catch (failure) {
    if (!(failure instanceof Failure)) throw failure;
  }
}
