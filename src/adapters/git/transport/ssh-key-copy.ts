// Creates a temporary copy of an SSH key whose text had to be repaired, for each connection. Removes copies that killed
// processes left.

import { lstat, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '#reconciler/run/ports.ts';
import { useFolder } from '../state.ts';

const PREFIX = 'ssh-';
/**
 * Age in milliseconds after which a copy is no longer in use. A connection needs its copy for seconds, until the server
 * has accepted the key. Other processes may use the folder.
 */
const IN_USE_MS = 10 * 60_000;

/** Throws Failure `git-state-unwritable`. */
export async function useKeyCopy<T>(dir: string, text: string, run: (keyFile: string) => Promise<T>): Promise<T> {
  return useFolder(dir, async () => {
    const folder = await mkdtemp(join(dir, PREFIX));
    try {
      const keyFile = join(folder, 'key');
      await writeFile(keyFile, text, { mode: 0o600, flag: 'wx' });
      return await run(keyFile);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
}

/** Removes old copies. Must be called even if the current key needs no copy. Throws Failure `git-state-unwritable`. */
export async function removeLeftCopies(dir: string, clock: Pick<Clock, 'now'>): Promise<void> {
  await useFolder(dir, async () => {
    for (const name of await readdir(dir)) {
      if (!name.startsWith(PREFIX)) continue;
      const folder = join(dir, name);
      const made = await lstat(folder).catch(undefinedIfGone);
      if (made !== undefined && clock.now() - made.mtimeMs > IN_USE_MS)
        await rm(folder, { recursive: true, force: true });
    }
  });
}

function undefinedIfGone(error: NodeJS.ErrnoException): undefined {
  if (error.code === 'ENOENT') return undefined;
  throw error;
}
