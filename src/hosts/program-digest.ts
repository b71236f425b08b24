// Computes a digest of the files of this program, as a key for stored results. Any change of code, schemas or pinned
// dependencies changes the digest; a version number would not change between two releases.

import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** `src/` or `dist/`, next to the file that pins the used packages. */
const PROGRAM = fileURLToPath(new URL('..', import.meta.url));
const MANIFEST = fileURLToPath(new URL('../../package.json', import.meta.url));

/** A part of the bundle whose name contains a digest of its content and of the parts that it imports. */
const NAMED_BY_CONTENT = /-[\w-]{16}\.js$/;

export function programDigest(): string {
  const hash = createHash('sha256').update(process.version).update(readFileSync(MANIFEST));
  for (const path of filesBelow(PROGRAM)) {
    hash.update(`\0${path}\0`);
    if (!NAMED_BY_CONTENT.test(path)) hash.update(readFileSync(join(PROGRAM, path)));
  }
  return hash.digest('hex');
}

function filesBelow(folder: string): readonly string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile() && !entry.name.includes('.test.'));
  return files.map((entry) => join(entry.parentPath, entry.name).slice(folder.length)).sort();
}
