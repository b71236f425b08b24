// Stores the short character sequences of a text in a Bloom filter, in about as many bytes as the text has characters.
// Searches check the filter before they read the text. The filter has false positives but no false negatives.

/** Maximum length of a sequence in UTF-16 code units. */
const LONGEST = 3;
/** Sizes are powers of two. Texts that exceed the maximum size have more false positives. */
const BYTES_MIN = 64;
const BYTES_MAX = 16 * 1024;

const scratch = Buffer.alloc(BYTES_MAX);

/** The bits of the filter, eight per character. A string needs less memory than a byte array. */
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

/** Returns hashes of all sequences in the search text. Longer sequences are first, because they are rarer. */
export function probesOf(search: string): readonly number[] {
  const probes = new Set<number>();
  for (let length = LONGEST; length > 0; length -= 1) {
    for (let at = length - 1; at < search.length; at += 1) probes.add(hashOf(search, at, length));
  }
  return [...probes];
}

/** Returns false if the text certainly does not contain the search text. */
export function mayContain(grams: Grams, probes: readonly number[]): boolean {
  const mask = grams.length * 8 - 1;
  for (const probe of probes) {
    const bit = probe & mask;
    if ((grams.charCodeAt(bit >>> 3) & (1 << (bit & 7))) === 0) return false;
  }
  return true;
}

/**
 * Returns the hash of the sequence that ends at `end`. The multipliers are odd and large. The last lines mix the high
 * bits into the low bits, because the index is computed from the low bits.
 */
function hashOf(text: string, end: number, length: number): number {
  let hash = length;
  for (let at = end - length + 1; at <= end; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x9e3779b1);
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return (hash ^ (hash >>> 13)) >>> 0;
}
