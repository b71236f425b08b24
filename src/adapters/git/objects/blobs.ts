// Reads the contents of several files.

import { Failure } from '#std/failure.ts';
import { openBudget } from './budget.ts';
import { openObjectStore } from './objects.ts';

/**
 * Maximum bytes of all contents, which are in memory at the same time. In a pack, contents can be a thousand times
 * smaller.
 */
const TOTAL_BYTES_MAX = 512 * 1024 * 1024;

/**
 * Throws Failure `git-damaged` if a file is missing or damaged. Throws `git-too-large` if a file exceeds
 * `maxObjectBytes`.
 */
export async function readBlobs(
  objects: string,
  maxObjectBytes: number,
  oids: readonly string[],
  maxBytes = TOTAL_BYTES_MAX,
): Promise<ReadonlyMap<string, Uint8Array>> {
  const contents = new Map<string, Uint8Array>();
  if (oids.length === 0) return contents;
  const spend = openBudget('the requested content', maxBytes);
  const store = openObjectStore(objects, maxObjectBytes);
  try {
    for (const oid of oids) {
      const before = store.made();
      const object = store.read(oid);
      if (object?.type !== 'blob') {
        throw new Failure('git-damaged', `file content ${oid} is missing`, { data: { oid }, retryable: true });
      }
      await spend(object.content.length, store.made() - before);
      contents.set(oid, object.content);
    }
    return contents;
  } finally {
    store.close();
  }
}
