// Digests of texts and JSON values.

import { createHmac, hash } from 'node:crypto';
import { canonicalJson } from './json.ts';

/** Lower-case hex SHA-256. */
export function sha256(data: string | Uint8Array): string {
  return hash('sha256', data);
}

/** SHA-256 over the canonical JSON text: equal values give equal digests. */
export function digest(value: unknown): string {
  return sha256(canonicalJson(value));
}

/** Lower-case hex HMAC with SHA-256 (RFC 2104). */
export function hmacSha256(key: Uint8Array, data: string | Uint8Array): string {
  return createHmac('sha256', key).update(data).digest('hex');
}

/** FNV-1a, 32 bit, over the UTF-8 bytes; lower-case hex without padding. */
export function fnv1a32(text: string): string {
  let value = 0x811c9dc5;
  for (const byte of Buffer.from(text, 'utf8')) {
    value = Math.imul(value ^ byte, 0x01000193) >>> 0;
  }
  return value.toString(16);
}
