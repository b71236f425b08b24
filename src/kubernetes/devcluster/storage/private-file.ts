// Writes files that only their owner may read. A link or a file of another mode in that place is replaced, never
// written to.

import { randomUUID } from 'node:crypto';
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { rename, rm, writeFile } from 'node:fs/promises';

/** `wx` fails if anything exists under the name of the draft, a link included. */
const NEW_FILE = { mode: 0o600, flag: 'wx' } as const;

/** Writes a file with mode 0600. A reader sees the whole old file or the whole new file. */
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

/** Writes the file synchronously. */
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

/** Returns a name that cannot be guessed, so that no link can be created under it beforehand. */
function draftOf(path: string): string {
  return `${path}.${randomUUID()}.new`;
}
