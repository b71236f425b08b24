// Reads the contents of many files at once. Knows nothing about paths and commits.

import { setImmediate } from 'node:timers/promises';
import { Failure } from '../../../std/failure.ts';
import { openObjectStore } from './objects.ts';

/** Decoding is synchronous; after so many objects others get their turn. */
const AT_A_TIME = 200;

/** All of it is in memory at once, and what is packed can be a thousand times smaller. */
const TOTAL_BYTES_MAX = 512 * 1024 * 1024;

/** Throws Failure `git-damaged` where one is missing or damaged, `git-too-large` where one has more than `maxObjectBytes`. */
export async function readBlobs(
  objects: string,
  maxObjectBytes: number,
  oids: readonly string[],
  maxBytes = TOTAL_BYTES_MAX,
): Promise<ReadonlyMap<string, Uint8Array>> {
  const contents = new Map<string, Uint8Array>();
  if (oids.length === 0) return contents;
  const store = openObjectStore(objects, maxObjectBytes);
  let bytes = 0;
  try {
    for (const [index, oid] of oids.entries()) {
      const object = store.read(oid);
      if (object?.type !== 'blob') {
        throw new Failure('git-damaged', `file content ${oid} is missing`, { data: { oid }, retryable: true });
      }
      bytes += object.content.length;
      if (bytes > maxBytes) {
        throw new Failure('git-too-large', `the files to read come to more than ${maxBytes} bytes`);
      }
      contents.set(oid, object.content);
      if (index % AT_A_TIME === AT_A_TIME - 1) await setImmediate();
    }
    return contents;
  } finally {
    store.close();
  }
}
