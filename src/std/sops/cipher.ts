// Decrypts one value of a SOPS document: `ENC[AES256_GCM,data:...,iv:...,tag:...,type:...]`. A value is bound to its
// path.

import { createDecipheriv } from 'node:crypto';

export type SealedType = 'str' | 'int' | 'float' | 'bool' | 'bytes' | 'time' | 'comment';

export interface Sealed {
  readonly data: Uint8Array;
  readonly iv: Uint8Array;
  readonly tag: Uint8Array;
  readonly type: SealedType;
}

const BASE64 = '([A-Za-z0-9+/]+={0,2})';
const SEALED = new RegExp(
  `^ENC\\[AES256_GCM,data:${BASE64},iv:${BASE64},tag:${BASE64},type:(str|int|float|bool|bytes|time|comment)\\]$`,
);
const KEY_BYTES = 32;
const TAG_BYTES = 16;

const PREFIX = 'ENC[AES256_GCM,';

/** Returns whether a text may contain encrypted values. */
export function mayBeSealed(text: string): boolean {
  return text.includes(PREFIX);
}

/** Returns undefined if the text is not an encrypted value. */
export function readSealed(text: string): Sealed | undefined {
  const parts = text.startsWith(PREFIX) ? SEALED.exec(text) : null;
  if (parts === null) return undefined;
  const [, data = '', iv = '', tag = '', type] = parts;
  return {
    data: Buffer.from(data, 'base64'),
    iv: Buffer.from(iv, 'base64'),
    tag: Buffer.from(tag, 'base64'),
    type: type as SealedType,
  };
}

/**
 * Decrypts a value. Returns undefined if it was encrypted with another key or for another path, was changed, or is not
 * UTF-8.
 */
export function unseal(sealed: Sealed, key: Uint8Array, boundTo: string): string | undefined {
  const { data, iv, tag } = sealed;
  // The decipher would also accept a shorter tag, which is easier to forge.
  if (key.length !== KEY_BYTES || tag.length !== TAG_BYTES) return undefined;
  const decipher = createDecipheriv('aes-256-gcm', key, iv, { authTagLength: TAG_BYTES });
  decipher.setAAD(Buffer.from(boundTo));
  decipher.setAuthTag(tag);
  try {
    const opened = Buffer.concat([decipher.update(data), decipher.final()]);
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(opened);
  } catch (error) {
    // OpenSSL (about the tag) or the UTF-8 decoder threw the error. Neither error contains a more specific reason.
    if (error instanceof Error) return undefined;
    throw error;
  }
}
