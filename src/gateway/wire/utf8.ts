// Replaces the bytes of a message that are not UTF-8.

import { isUtf8 } from 'node:buffer';

/** The same bytes if they are UTF-8; otherwise a copy with U+FFFD in place of the others (WHATWG Encoding, UTF-8 decode). */
export function replaceInvalidUtf8(bytes: Buffer): Buffer {
  return isUtf8(bytes) ? bytes : Buffer.from(bytes.toString('utf8'));
}
