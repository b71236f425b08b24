// Stores the bytes of an incomplete event or message.

export interface Remainder {
  /** Returns the number of stored bytes. */
  length(): number;
  /** Copies a part of the chunk, which may be changed afterwards. */
  keep(chunk: Buffer, from: number, to: number): void;
  /** Returns the stored bytes and this part, in memory that is not written again, and empties the store. */
  take(chunk: Buffer, from: number, to: number): Buffer;
  clear(): void;
}

/** Opens a store whose memory doubles when it is full, so that many small chunks cost no more than a large chunk. */
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
