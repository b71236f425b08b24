// Answers that were made lately, by entity tag. A tag stands for one content, so none of them is out of date; they are
// dropped after a while all the same, should a database restored from a backup count its revisions again.

const KEPT_MS = 60_000;
/** Of all bodies together, in characters. */
const ROOM = 16 * 1024 * 1024;

export interface Bodies {
  get(tag: string): string | undefined;
  set(tag: string, body: string): void;
}

interface Kept {
  readonly body: string;
  /** Monotonic milliseconds. */
  readonly until: number;
}

/** `monotonic`: milliseconds. The oldest make room for new ones. */
export function createBodies(monotonic: () => number): Bodies {
  const kept = new Map<string, Kept>();
  let length = 0;

  function drop(tag: string): void {
    length -= kept.get(tag)?.body.length ?? 0;
    kept.delete(tag);
  }

  return {
    get(tag) {
      const found = kept.get(tag);
      return found !== undefined && monotonic() < found.until ? found.body : undefined;
    },
    set(tag, body) {
      drop(tag);
      kept.set(tag, { body, until: monotonic() + KEPT_MS });
      length += body.length;
      for (const oldest of kept.keys()) {
        if (length <= ROOM) return;
        drop(oldest);
      }
    },
  };
}
