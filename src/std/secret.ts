// Checks whether a received text is a known secret, in constant time, so that the time does not tell how much of it is
// right.

import { createHash, timingSafeEqual } from 'node:crypto';

/** Compares with every known secret, even after a match. */
export function isOneOf(given: string, known: readonly string[]): boolean {
  const digest = digestOf(given);
  return known.map((each) => timingSafeEqual(digest, digestOf(each))).includes(true);
}

/**
 * Returns a digest. All have the same length, which `timingSafeEqual` needs, and which hides the length of the secret.
 */
function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
