// Keeps recent bodies of responses by entity tag and form. A tag identifies one content, so bodies do not become out of
// date. They are still dropped after a while, because a database that was restored from a backup may assign the same
// revisions to other contents.

import { setBounded } from '#std/bounded.ts';

const KEPT_MS = 60_000;
/** Limit of all bodies together, in bytes. */
const ROOM = 16 * 1024 * 1024;
/** Limit of the names of bodies that were set once. */
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
 * `monotonic` returns milliseconds. New bodies replace the oldest. A body is kept only when it is set for the second
 * time, because most bodies are requested once: storing and dropping them would be most of the garbage collector's
 * work.
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

/** Copies the body, because zlib returns the beginning of a much larger buffer, which would stay in memory. */
function alone(body: Buffer): Buffer {
  if (body.buffer.byteLength === body.length) return body;
  const own = Buffer.allocUnsafeSlow(body.length);
  body.copy(own);
  return own;
}
