// Seals a session's id into a text that only this gateway can open, and only for the caller of the session. Replicas
// therefore need not store the id.

import {
  createCipheriv,
  createDecipheriv,
  createSecretKey,
  hash,
  hkdfSync,
  type KeyObject,
  timingSafeEqual,
} from 'node:crypto';
import { setBounded } from '#std/bounded.ts';
import { isObject, type JsonObject } from '#std/json.ts';

/** Contents of a sealed text: the session's id at the backend, its time of creation, and other data. */
interface SealedSession {
  readonly id: string;
  /** Time of creation in milliseconds since 1970. */
  readonly issuedAt: number;
  readonly data?: JsonObject;
}

export interface SessionSeal {
  /**
   * Returns the sealed text as visible ASCII. Each call returns another text, but a client accepts only one session id,
   * so only the first text may be sent. undefined if the text would be too long for a header.
   */
  seal(session: SealedSession & { readonly caller: string }): string | undefined;
  /**
   * Returns the session. undefined if the text was changed, was not sealed by this gateway, or belongs to another
   * caller or a removed key.
   */
  open(text: string, caller: string): SealedSession | undefined;
}

export interface SealOptions {
  /** Keys of at least 32 bytes. The first key seals, all keys open. */
  readonly keys: readonly Buffer[];
  readonly random: (size: number) => Buffer;
}

/**
 * Maximum length of a sealed text. The head of a request with such a text stays well below 8 KiB, which servers
 * commonly accept.
 */
export const MAX_SEALED_LENGTH = 4096;

const VERSION = 1;
const KEY_ID_BYTES = 4;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const HEAD_BYTES = 1 + KEY_ID_BYTES;
const TIME_BYTES = 6;
const LENGTH_BYTES = 2;
const MIN_KEY_BYTES = 32;
/** Maximum number of opened sessions in the cache, which saves decrypting the same text for every request. */
const OPENED_MAX = 10_000;
const INFO = 'skep mcp session v1';

interface SealKey {
  readonly key: KeyObject;
  /** Version, followed by the first bytes of a digest of the derived key. */
  readonly head: Buffer;
}

export function createSessionSeal({ keys, random }: SealOptions): SessionSeal {
  const sealKeys = keys.map(deriveKey);
  const [current] = sealKeys;
  if (current === undefined) throw new RangeError('a seal needs a key');
  const opened = new Map<string, { readonly caller: string; readonly session: SealedSession }>();
  return {
    seal({ id, issuedAt, data, caller }) {
      const plain = encode({ id, issuedAt, data });
      if (plain === undefined) return undefined;
      const nonce = random(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', current.key, nonce);
      cipher.setAAD(boundTo(current.head, caller));
      const bytes = Buffer.concat([current.head, nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
      const text = bytes.toString('base64url');
      return text.length > MAX_SEALED_LENGTH ? undefined : text;
    },
    open(text, caller) {
      const known = opened.get(text);
      if (known?.caller === caller) return known.session;
      const bytes = decode(text);
      const found = bytes === undefined ? undefined : sealKeys.find(({ head }) => begins(bytes, head));
      const session = bytes === undefined || found === undefined ? undefined : unseal(found, bytes, caller);
      if (session !== undefined) setBounded(opened, text, { caller, session }, OPENED_MAX);
      return session;
    },
  };
}

/** Derives a key (RFC 5869). The secrets are random, so neither a salt nor a slow derivation is needed. */
function deriveKey(secret: Buffer): SealKey {
  if (secret.length < MIN_KEY_BYTES) throw new RangeError(`a seal's key must have ${MIN_KEY_BYTES} bytes`);
  const derived = Buffer.from(hkdfSync('sha256', secret, Buffer.alloc(0), INFO, 32 + KEY_ID_BYTES));
  const head = Buffer.concat([Buffer.of(VERSION), derived.subarray(32)]);
  return { key: createSecretKey(derived.subarray(0, 32)), head };
}

/**
 * Returns the additional authenticated data. The caller is not encrypted, because the gateway knows the caller when it
 * opens the text.
 */
function boundTo(head: Buffer, caller: string): Buffer {
  return Buffer.concat([head, hash('sha256', caller, 'buffer')]);
}

function begins(bytes: Buffer, head: Buffer): boolean {
  return timingSafeEqual(bytes.subarray(0, HEAD_BYTES), head);
}

/**
 * Decodes a text. Accepts only the encoding that `seal` produces, because base64 has several encodings for the same
 * bytes.
 */
function decode(text: string): Buffer | undefined {
  if (text.length > MAX_SEALED_LENGTH) return undefined;
  const bytes = Buffer.from(text, 'base64url');
  const shortest = HEAD_BYTES + NONCE_BYTES + TIME_BYTES + LENGTH_BYTES + TAG_BYTES;
  return bytes.length < shortest || bytes.toString('base64url') !== text ? undefined : bytes;
}

function unseal({ key, head }: SealKey, bytes: Buffer, caller: string): SealedSession | undefined {
  const body = HEAD_BYTES + NONCE_BYTES;
  const tag = bytes.length - TAG_BYTES;
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(HEAD_BYTES, body), { authTagLength: TAG_BYTES });
  decipher.setAAD(boundTo(head, caller));
  decipher.setAuthTag(bytes.subarray(tag));
  const plain = decipher.update(bytes.subarray(body, tag));
  try {
    decipher.final();
  } catch {
    // The tag does not match, because the text was changed or sealed for another caller. Node documents no other error
    // of `final`.
    return undefined;
  }
  return readSession(plain);
}

/** Encodes the time, the length of the id, the id, and the data as JSON. */
function encode({ id, issuedAt, data }: SealedSession): Buffer | undefined {
  const name = Buffer.from(id);
  if (name.length > MAX_SEALED_LENGTH) return undefined;
  const head = Buffer.allocUnsafe(TIME_BYTES + LENGTH_BYTES);
  head.writeUIntBE(Math.max(0, Math.trunc(issuedAt)), 0, TIME_BYTES);
  head.writeUInt16BE(name.length, TIME_BYTES);
  return Buffer.concat([head, name, Buffer.from(data === undefined ? '' : JSON.stringify(data))]);
}

function readSession(plain: Buffer): SealedSession {
  const start = TIME_BYTES + LENGTH_BYTES;
  const end = start + plain.readUInt16BE(TIME_BYTES);
  const data: unknown = end === plain.length ? undefined : JSON.parse(plain.toString('utf8', end));
  return {
    id: plain.toString('utf8', start, end),
    issuedAt: plain.readUIntBE(0, TIME_BYTES),
    data: isObject(data) ? data : undefined,
  };
}
