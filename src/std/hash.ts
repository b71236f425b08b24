// Computes hashes of texts and JSON values.

import { createHmac, hash } from 'node:crypto';
import { canonicalJson } from './json.ts';

/** Returns a SHA-256 in lower-case hex. */
export function sha256(data: string | Uint8Array): string {
  return hash('sha256', data);
}

/** Returns the SHA-256 of the canonical JSON. Equal values have equal digests. */
export function digest(value: unknown): string {
  return sha256(canonicalJson(value));
}

/** Returns an HMAC with SHA-256 (RFC 2104) in lower-case hex. */
export function hmacSha256(key: Uint8Array, data: string | Uint8Array): string {
  return createHmac('sha256', key).update(data).digest('hex');
}

/** Returns the 32-bit FNV-1a hash of the UTF-8 bytes, in lower-case hex without padding. */
export function fnv1a32(text: string): string {
  let value = 0x811c9dc5;
  for (const byte of Buffer.from(text, 'utf8')) {
    value = Math.imul(value ^ byte, 0x01000193) >>> 0;
  }
  return value.toString(16);
}
