// Keeps computed results of an instance: between its runs in memory, between processes in the state folder. A lost
// result costs time, never correctness.

import { join } from 'node:path';
import type { DigestKey } from '#reconciler/run/desire/digest-key.ts';
import { openReuse } from '#reconciler/run/reuse.ts';
import type { Config } from '../../config/config.ts';
import type { InstanceVerifier } from '../images/image-verifier.ts';
import type { Hurry } from '../instance/hurry.ts';
import { openLoadCache } from './load-cache.ts';
import { openRemembered } from './remembered.ts';
import { openSoundFiles } from './sound-file-store.ts';

export function openKept(
  config: Config,
  digestKey: DigestKey,
  { once, keepsLists }: Pick<Hurry, 'once' | 'keepsLists'>,
  images?: InstanceVerifier,
) {
  const cache = openLoadCache();
  const remembered = openRemembered(join(config.stateDir, `${config.name}-dry-runs.json`));
  const sound = once === true ? openSoundFiles(config, digestKey) : undefined;
  // The next run has the same objects only if watches keep the lists.
  const reuse = keepsLists === undefined ? undefined : openReuse();
  async function save(): Promise<void> {
    await remembered.save();
    await images?.save();
  }
  return {
    memory: { cache, remembered, sound, reuse, images },
    /** Drops unused results after a run. */
    ended() {
      cache.ended();
      reuse?.ended();
    },
    save,
    /** Saves all data, including data that is complete only at the end of the process. */
    async close() {
      try {
        sound?.save();
      } finally {
        await save();
      }
    },
  };
}
