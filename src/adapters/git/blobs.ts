// Reads the contents of many files at once. Knows nothing about paths and commits.

import { setImmediate } from 'node:timers/promises';
import { Failure } from '../../std/failure.ts';
import { openObjectStore } from './objects.ts';

/** Decoding is synchronous; after so many objects others get their turn. */
const AT_A_TIME = 200;

/** Throws Failure `git-damaged` where one is missing or damaged, `git-too-large` where one has more than `maxObjectBytes`. */
export async function readBlobs(
  objects: string,
  maxObjectBytes: number,
  oids: readonly string[],
): Promise<ReadonlyMap<string, Uint8Array>> {
  const contents = new Map<string, Uint8Array>();
  if (oids.length === 0) return contents;
  const store = openObjectStore(objects, maxObjectBytes);
  try {
    for (const [index, oid] of oids.entries()) {
      const object = store.read(oid);
      if (object?.type !== 'blob') {
        throw new Failure('git-damaged', `file content ${oid} is missing`, { data: { oid }, retryable: true });
      }
      contents.set(oid, object.content);
      if (index % AT_A_TIME === AT_A_TIME - 1) await setImmediate();
    }
    return contents;
  } finally {
    store.close();
  }
}
