// Saves what a run has read for the next process, under a key by which that process knows that no one has changed it.

import { Failure } from '#std/failure.ts';
import type { DigestKey } from './desire/digest-key.ts';
import type { Random } from './desire/generated.ts';
import type { SoundFileStore } from './read/sound-files.ts';

interface SaveDeps {
  /** Absent: the process stays, or reads for others. */
  readonly sound?: SoundFileStore;
  readonly digestKey: DigestKey;
  readonly random: Random;
}

/** Only under the lock: it makes the key where there is none. */
export async function saveReadings({ sound, digestKey, random }: SaveDeps): Promise<void> {
  if (sound === undefined) return;
  if (sound.lacksKey() && digestKey.known() === undefined) await makeKeyIfPossible(digestKey, random);
  sound.save();
}

/** Without it the next process reads everything again: not a reason to end a run. What ends one ends its next request as well. */
async function makeKeyIfPossible(digestKey: DigestKey, random: Random): Promise<void> {
  try {
    await digestKey.find();
    if (digestKey.known() === undefined) await digestKey.make(random);
  } catch (failure) {
    if (!(failure instanceof Failure)) throw failure;
  }
}
