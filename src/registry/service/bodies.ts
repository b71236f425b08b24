// Caches bodies of responses by entity tag and coding. An entity tag identifies one content. A body still expires,
// because a database that was restored from a backup may assign the same revision to another content.

import { setBounded } from '#std/bounded.ts';

const KEPT_MS = 60_000;
/** Maximum size of all cached bodies together, in bytes. */
const ROOM = 16 * 1024 * 1024;
/** Maximum number of remembered names that were set once. */
const NAMES_MAX = 10_000;

export interface Bodies {
  get(name: string): Buffer | undefined;
  set(name: string, body: Buffer): void;
}

interface CachedBody {
  readonly body: Buffer;
  /** Time until which the body may be sent, in monotonic milliseconds. */
  readonly until: number;
}

/**
 * `monotonic` returns milliseconds. Caches a body when it is set for the second time: most bodies are requested once,
 * and caching all bodies would burden the garbage collector. If ROOM is exceeded, drops the oldest bodies.
 */
export function createBodies(monotonic: () => number): Bodies {
  const kept = new Map<string, CachedBody>();
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

/** Copies the body if its buffer is larger: zlib returns a part of a much larger buffer, which would stay in memory. */
function alone(body: Buffer): Buffer {
  if (body.buffer.byteLength === body.length) return body;
  const own = Buffer.allocUnsafeSlow(body.length);
  body.copy(own);
  return own;
}
