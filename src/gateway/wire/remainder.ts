// Stores the bytes of an incomplete event or message.

export interface Remainder {
  length(): number;
  /** Copies bytes of the chunk into the store. The caller may change the chunk afterwards. */
  keep(chunk: Buffer, from: number, to: number): void;
  /**
   * Returns the stored bytes followed by these bytes of the chunk, and empties the store. The returned memory is not
   * overwritten later.
   */
  take(chunk: Buffer, from: number, to: number): Buffer;
  clear(): void;
}

/**
 * Creates a store whose memory doubles when it is full, so that many small chunks cost no more than one large chunk.
 */
export function openRemainder(): Remainder {
  let bytes = EMPTY;
  let length = 0;

  function keep(chunk: Buffer, from: number, to: number): void {
    const needed = length + to - from;
    if (needed > bytes.length) {
      const grown = Buffer.allocUnsafeSlow(Math.max(needed, 2 * bytes.length, FIRST_CAPACITY));
      bytes.copy(grown, 0, 0, length);
      bytes = grown;
    }
    chunk.copy(bytes, length, from, to);
    length = needed;
  }

  function clear(): void {
    bytes = EMPTY;
    length = 0;
  }

  return {
    length: () => length,
    keep,
    take(chunk, from, to) {
      if (length === 0) return chunk.subarray(from, to);
      keep(chunk, from, to);
      const whole = bytes.subarray(0, length);
      clear();
      return whole;
    },
    clear,
  };
}

const EMPTY = Buffer.alloc(0);
const FIRST_CAPACITY = 4096;
