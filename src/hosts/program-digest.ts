// Computes a digest of this program's files, as a key for stored results. Changes of code, schemas or pinned
// dependencies change the digest. A version number would not change between two releases.

import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** `src/` or `dist/`. Both folders are next to package.json, which pins the dependencies. */
const PROGRAM = fileURLToPath(new URL('..', import.meta.url));
const MANIFEST = fileURLToPath(new URL('../../package.json', import.meta.url));

/** Bundled files whose names contain a digest of their content and of their imports. Reading them is not necessary. */
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
