// Reads a bearer token, and checks whether a received text is a known secret, in constant time, so that the duration does
// not reveal how many characters are right.

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

/**
 * Reads the token of an Authorization header (RFC 6750 section 2.1). The name of the scheme may be in any case (RFC
 * 9110 section 11.1).
 */
export function bearerToken(header: string | undefined): string | undefined {
  const [scheme = '', token = '', ...rest] = (header ?? '').split(' ').filter((part) => part !== '');
  return scheme.toLowerCase() === 'bearer' && token !== '' && rest.length === 0 ? token : undefined;
}
