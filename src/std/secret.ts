// Reads bearer tokens, and compares texts with secrets in constant time, so that the duration does not reveal the
// number of matching characters.

import { createHash, timingSafeEqual } from 'node:crypto';

/** Compares with all secrets, even after a match. */
export function isOneOf(given: string, known: readonly string[]): boolean {
  const digest = digestOf(given);
  return known.map((each) => timingSafeEqual(digest, digestOf(each))).includes(true);
}

/** Returns a digest. Equal lengths are required by `timingSafeEqual`, and hide the length of the secret. */
function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/**
 * Returns the token of an Authorization header (RFC 6750 section 2.1). The scheme name is case-insensitive (RFC 9110
 * section 11.1). Returns undefined for other headers.
 */
export function bearerToken(header: string | undefined): string | undefined {
  const [scheme = '', token = '', ...rest] = (header ?? '').split(' ').filter((part) => part !== '');
  return scheme.toLowerCase() === 'bearer' && token !== '' && rest.length === 0 ? token : undefined;
}
