// Answers that were made lately, by entity tag and form. A tag stands for one content, so none of them is out of date;
// they are dropped after a while all the same, should a database restored from a backup count its revisions again.

import { setBounded } from '#std/bounded.ts';

const KEPT_MS = 60_000;
/** Of all bodies together, in bytes. */
const ROOM = 16 * 1024 * 1024;
/** Names of bodies that were made once. */
const NAMES_MAX = 10_000;

export interface Bodies {
  get(name: string): Buffer | undefined;
  set(name: string, body: Buffer): void;
}

interface Kept {
  readonly body: Buffer;
  /** Monotonic milliseconds. */
  readonly until: number;
}

/**
 * `monotonic`: milliseconds. The oldest make room for new ones. A body is kept when it comes for the second time: most
 * are asked for once, and what is kept for a while and then dropped is what the garbage collector has most work with.
 */
export function createBodies(monotonic: () => number): Bodies {
  const kept = new Map<string, Kept>();
  const once = new Map<string, true>();
  let length = 0;

  function drop(name: string): void {
    length -= kept.get(name)?.body.length ?? 0;
    kept.delete(name);
  }

  return {
    get(name) {
      const found = kept.get(name);
      return found !== undefined && monotonic() < found.until ? found.body : undefined;
    },
    set(name, body) {
      drop(name);
      const isAskedAgain = once.delete(name);
      if (!isAskedAgain) {
        setBounded(once, name, true, NAMES_MAX);
        return;
      }
      kept.set(name, { body: alone(body), until: monotonic() + KEPT_MS });
      length += body.length;
      for (const oldest of kept.keys()) {
        if (length <= ROOM) return;
        drop(oldest);
      }
    },
  };
}

/** What zlib gives is the beginning of a much larger piece of memory, which would be kept with it. */
function alone(body: Buffer): Buffer {
  if (body.buffer.byteLength === body.length) return body;
  const own = Buffer.allocUnsafeSlow(body.length);
  body.copy(own);
  return own;
}
