// Seals a session's id into a text that only this gateway can open, and only for the caller that it was created for, so
// that no replica has to remember it.

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

/** The facts about a session: its id at the backend, when it was created, and other data. */
interface SealedSession {
  readonly id: string;
  /** Time of creation in milliseconds since 1970. */
  readonly issuedAt: number;
  readonly data?: JsonObject;
}

export interface SessionSeal {
  /**
   * Returns visible ASCII that differs at each call. Send only the first text, since clients accept a session id once.
   * Returns undefined if the text would be longer than a header should be.
   */
  seal(session: SealedSession & { readonly caller: string }): string | undefined;
  /**
   * Returns the session, or undefined if the text was not sealed by us, was changed, or belongs to another caller or to
   * a key that was removed.
   */
  open(text: string, caller: string): SealedSession | undefined;
}

export interface SealOptions {
  /** Keys of at least 32 bytes. The first key seals, and all keys open. */
  readonly keys: readonly Buffer[];
  /** Returns unpredictable bytes. */
  readonly random: (size: number) => Buffer;
}

/**
 * Maximum length of a sealed text: with it a request's head stays well below the 8 KiB that servers commonly accept.
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
/** Number of recently opened sessions that are remembered, so that a session is not decrypted for every request. */
const OPENED_MAX = 10_000;
const INFO = 'skep mcp session v1';

interface SealKey {
  readonly key: KeyObject;
  /** Version, and the first bytes of a digest of the derived key. */
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

/** Derives a key (RFC 5869). The secrets are random already, so there is no salt and no slow derivation. */
function deriveKey(secret: Buffer): SealKey {
  if (secret.length < MIN_KEY_BYTES) throw new RangeError(`a seal's key must have ${MIN_KEY_BYTES} bytes`);
  const derived = Buffer.from(hkdfSync('sha256', secret, Buffer.alloc(0), INFO, 32 + KEY_ID_BYTES));
  const head = Buffer.concat([Buffer.of(VERSION), derived.subarray(32)]);
  return { key: createSecretKey(derived.subarray(0, 32)), head };
}

/** Returns the additional data, which authenticates the caller without encrypting it, since the opener knows it. */
function boundTo(head: Buffer, caller: string): Buffer {
  return Buffer.concat([head, hash('sha256', caller, 'buffer')]);
}

function begins(bytes: Buffer, head: Buffer): boolean {
  return timingSafeEqual(bytes.subarray(0, HEAD_BYTES), head);
}

/** Accepts only the encoding that `seal` produces: base64 has other encodings for the same bytes. */
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
    // The tag does not match: the text was changed, or was sealed for another caller. Node documents no other reason to
    // throw here.
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
