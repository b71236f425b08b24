// Digests of texts and JSON values. Knows nothing about what they stand for.

import { createHash, createHmac } from 'node:crypto';
import { canonicalJson } from './json.ts';

/** Lower-case hex SHA-256. */
export function sha256(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('hex');
}

/** SHA-256 over the canonical JSON text: equal values give equal digests. */
export function digest(value: unknown): string {
  return sha256(canonicalJson(value));
}

/** Lower-case hex HMAC with SHA-256 (RFC 2104). */
export function hmacSha256(key: Uint8Array, text: string): string {
  return createHmac('sha256', key).update(text).digest('hex');
}

/** FNV-1a, 32 bit, over the UTF-8 bytes; lower-case hex without padding. */
export function fnv1a32(text: string): string {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(text, 'utf8')) {
    hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  }
  return hash.toString(16);
}
