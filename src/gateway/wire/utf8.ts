// Replaces invalid UTF-8 in the bytes of a message.

import { isUtf8 } from 'node:buffer';

/**
 * Returns the bytes themselves if they are valid UTF-8, otherwise a copy with U+FFFD for each invalid part (WHATWG
 * Encoding, UTF-8 decode).
 */
export function replaceInvalidUtf8(bytes: Buffer): Buffer {
  return isUtf8(bytes) ? bytes : Buffer.from(bytes.toString('utf8'));
}
