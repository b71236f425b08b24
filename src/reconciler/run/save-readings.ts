// Saves results of reading manifests for the next process. The next process uses a key to check that nobody has changed
// the saved results.

import { Failure } from '#std/failure.ts';
import type { DigestKey } from './desire/digest-key.ts';
import type { Random } from './desire/generated.ts';
import type { SoundFileStore } from './read/sound-files.ts';

interface SaveDeps {
  /** Absent if the process is long-lived, or must not store results. */
  readonly sound?: SoundFileStore;
  readonly digestKey: DigestKey;
  readonly random: Random;
}

/** Saves the results. May be called only while the run holds the Lease, because it may create the key. */
export async function saveReadings({ sound, digestKey, random }: SaveDeps): Promise<void> {
  if (sound === undefined) return;
  if (sound.lacksKey() && digestKey.known() === undefined) await makeKeyIfPossible(digestKey, random);
  sound.save();
}

/**
 * Creates the key, and ignores failures: without the key, the next process only reads everything again. A failure that
 * must end the run will also occur in the next request of the run.
 */
async function makeKeyIfPossible(digestKey: DigestKey, random: Random): Promise<void> {
  try {
    await digestKey.find();
    if (digestKey.known() === undefined) await digestKey.make(random);
  } catch (failure) {
    if (!(failure instanceof Failure)) throw failure;
  }
}
