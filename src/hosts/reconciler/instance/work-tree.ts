// Reads a folder of this machine as a source, including files that are not committed.

import { createHash } from 'node:crypto';
import { lstat, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Checkout, Repository } from '#reconciler/run/ports.ts';
import { Failure } from '#std/failure.ts';

/** Used in place of a commit id, because a folder has none. */
const NO_COMMIT = '0'.repeat(40);

/** Opens the folder as a repository. Links are skipped, as in commits. */
export function workTree(folder: string): Repository {
  return {
    fetch: () => checkoutOf(folder),
    at: () => checkoutOf(folder),
    ancestors: async () => [],
  };
}

async function checkoutOf(folder: string): Promise<Checkout> {
  const contents = new Map<string, Uint8Array>();
  const files: { path: string; oid: string }[] = [];
  const skipped: { path: string; reason: 'symlink' }[] = [];
  for await (const { path, link } of walk(folder, '')) {
    if (link) {
      skipped.push({ path, reason: 'symlink' });
      continue;
    }
    const content = await readFile(join(folder, path));
    const oid = blobId(content);
    contents.set(oid, content);
    files.push({ path, oid });
  }
  const sorted = files.sort((a, b) => (a.path < b.path ? -1 : 1));
  const read: Checkout['read'] = async (oids) =>
    new Map(oids.flatMap((oid) => (contents.has(oid) ? [[oid, contents.get(oid) ?? new Uint8Array()]] : [])));
  return { commit: NO_COMMIT, files: sorted, skipped, read };
}

async function* walk(folder: string, below: string): AsyncGenerator<{ readonly path: string; readonly link: boolean }> {
  for (const entry of await entriesOf(join(folder, below))) {
    const path = below === '' ? entry.name : `${below}/${entry.name}`;
    if (entry.name === '.git') continue;
    if (entry.isDirectory()) yield* walk(folder, path);
    else if (entry.isFile() || entry.isSymbolicLink()) yield { path, link: entry.isSymbolicLink() };
  }
}

async function entriesOf(folder: string) {
  try {
    await lstat(folder);
    return await readdir(folder, { withFileTypes: true });
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Failure('usage', `the folder of a source cannot be read: ${reason}`, { cause });
  }
}

/** Returns the id of a Git blob with the content. */
function blobId(content: Uint8Array): string {
  return createHash('sha1').update(`blob ${content.length}\0`).update(content).digest('hex');
}
