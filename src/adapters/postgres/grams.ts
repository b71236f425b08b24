// Stores which short runs of characters a text has, in about as many bytes as the text has characters. A search checks
// these before it reads texts. The answer may be yes for an absent run, but never no for a present run (a Bloom
// filter).

/** Runs of one, two and three UTF-16 code units. */
const LONGEST = 3;
/** Sizes are powers of two. Texts that are too long for the maximum have more false positives. */
const BYTES_MIN = 64;
const BYTES_MAX = 16 * 1024;

const scratch = Buffer.alloc(BYTES_MAX);

/** Each character holds eight of the bits: a string takes less memory than an array of bytes. */
export type Grams = string;

export function gramsOf(text: string): Grams {
  const size = sizeOf(text.length);
  scratch.fill(0, 0, size);
  const mask = size * 8 - 1;
  for (let at = 0; at < text.length; at += 1) {
    for (let length = Math.min(LONGEST, at + 1); length > 0; length -= 1) {
      const bit = hashOf(text, at, length) & mask;
      scratch[bit >>> 3] = (scratch[bit >>> 3] ?? 0) | (1 << (bit & 7));
    }
  }
  return scratch.toString('latin1', 0, size);
}

function sizeOf(length: number): number {
  let size = BYTES_MIN;
  while (size < BYTES_MAX && size < length) size *= 2;
  return size;
}

/** Returns the runs of the search text, all of which a text must have; longest first, as they are rare. */
export function probesOf(search: string): readonly number[] {
  const probes = new Set<number>();
  for (let length = LONGEST; length > 0; length -= 1) {
    for (let at = length - 1; at < search.length; at += 1) probes.add(hashOf(search, at, length));
  }
  return [...probes];
}

/** Returns false if the text does not contain the search text. */
export function mayContain(grams: Grams, probes: readonly number[]): boolean {
  const mask = grams.length * 8 - 1;
  for (const probe of probes) {
    const bit = probe & mask;
    if ((grams.charCodeAt(bit >>> 3) & (1 << (bit & 7))) === 0) return false;
  }
  return true;
}

/**
 * Returns the hash of the run that ends at an index. The multipliers are odd and large. The last lines mix high bits
 * into the low bits, which are used.
 */
function hashOf(text: string, end: number, length: number): number {
  let hash = length;
  for (let at = end - length + 1; at <= end; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x9e3779b1);
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return (hash ^ (hash >>> 13)) >>> 0;
}
