// Writes files that only their owner may read. An existing link or file with another mode is replaced, never written
// to.

import { randomUUID } from 'node:crypto';
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { rename, rm, writeFile } from 'node:fs/promises';

/** The flag `wx` fails if the draft's path exists, even as a link. */
const NEW_FILE = { mode: 0o600, flag: 'wx' } as const;

/** Writes a file with mode 0600. Readers see either the whole old file or the whole new file. */
export async function writePrivately(path: string, text: string): Promise<void> {
  const draft = draftOf(path);
  try {
    await writeFile(draft, text, NEW_FILE);
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

export function writePrivatelyNow(path: string, text: string): void {
  const draft = draftOf(path);
  try {
    writeFileSync(draft, text, NEW_FILE);
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}

/** Returns an unguessable path, so that another user cannot create a link at this path beforehand. */
function draftOf(path: string): string {
  return `${path}.${randomUUID()}.new`;
}
