// Stores computed results of an instance, in memory between runs and in the state folder between processes. If a result
// is lost, it is computed again.

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
  // Results about objects are reused only if watches keep the lists, because objects are otherwise listed again.
  const reuse = keepsLists === undefined ? undefined : openReuse();
  async function save(): Promise<void> {
    await remembered.save();
    await images?.save();
  }
  return {
    memory: { cache, remembered, sound, reuse, images },
    /** Drops unused results. Called after each run. */
    ended() {
      cache.ended();
      reuse?.ended();
    },
    save,
    /** Saves all data, including results that are complete only when the process ends. */
    async close() {
      try {
        sound?.save();
      } finally {
        await save();
      }
    },
  };
}
