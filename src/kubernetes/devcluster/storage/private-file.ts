// Writes files that only their owner may read. A link, or a file of another mode, in the place of the file is replaced and never
// written to.

import { randomUUID } from 'node:crypto';
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { rename, rm, writeFile } from 'node:fs/promises';

/** `wx` fails if anything exists under the name of the draft, a link included. */
const NEW_FILE = { mode: 0o600, flag: 'wx' } as const;

/** With mode 0600. A reader gets the old file or the new one, never a part of one. */
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

/** The same, before it returns. */
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

/** A name that no one can put a link under beforehand. */
function draftOf(path: string): string {
  return `${path}.${randomUUID()}.new`;
}
