// Writes files that only their owner may read.

import { rename, writeFile } from 'node:fs/promises';

/** With mode 0600. A reader gets the old file or the new one, never a part of one. */
export async function writePrivately(path: string, text: string): Promise<void> {
  const draft = `${path}.draft`;
  await writeFile(draft, text, { mode: 0o600 });
  await rename(draft, path);
}
