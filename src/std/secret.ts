// Checks whether a received text is a known secret, in constant time, so that the duration does not reveal how many
// characters are right.

import { createHash, timingSafeEqual } from 'node:crypto';

/** Compares with every known secret, even after a match. */
export function isOneOf(given: string, known: readonly string[]): boolean {
  const digest = digestOf(given);
  return known.map((each) => timingSafeEqual(digest, digestOf(each))).includes(true);
}

/**
 * Returns a digest. All digests have the same length: `timingSafeEqual` needs that, and it hides the secret's length.
 */
function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
