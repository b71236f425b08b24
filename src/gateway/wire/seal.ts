// Seals a session's id into a text that only we can open, and only for the caller that it was made for, so that no replica
// has to remember it.

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

/** What stays with a session: its id at the backend, since when it is there, and what else has to be known of it. */
interface SealedSession {
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly issuedAt: number;
  readonly data?: JsonObject;
}

export interface SessionSeal {
  /**
   * Visible ASCII. Each call gives another text for the same session: send the first one and keep to it, since clients take
   * a session id once. Undefined where it would be longer than a header should be.
   */
  seal(session: SealedSession & { readonly caller: string }): string | undefined;
  /** Undefined where the text is not ours, was changed, belongs to another caller or to a key that is gone. */
  open(text: string, caller: string): SealedSession | undefined;
}

export interface SealOptions {
  /** The first seals, all open. At least 32 bytes each. */
  readonly keys: readonly Buffer[];
  /** Unpredictable bytes. */
  readonly random: (size: number) => Buffer;
}

/** Of a sealed text: with it a request's head stays well below the 8 KiB that servers commonly accept. */
export const MAX_SEALED_LENGTH = 4096;

const VERSION = 1;
const KEY_ID_BYTES = 4;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const HEAD_BYTES = 1 + KEY_ID_BYTES;
const TIME_BYTES = 6;
const LENGTH_BYTES = 2;
const MIN_KEY_BYTES = 32;
/** Sessions that were opened lately, so that each is opened once and not for every request. */
const OPENED_MAX = 10_000;
const INFO = 'skep mcp session v1';

interface SealKey {
  readonly key: KeyObject;
  /** Version and the first bytes of a digest of the derived key. */
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

/** RFC 5869. The keys are random already, so no salt and no slow derivation. */
function deriveKey(secret: Buffer): SealKey {
  if (secret.length < MIN_KEY_BYTES) throw new RangeError(`a seal's key must have ${MIN_KEY_BYTES} bytes`);
  const derived = Buffer.from(hkdfSync('sha256', secret, Buffer.alloc(0), INFO, 32 + KEY_ID_BYTES));
  const head = Buffer.concat([Buffer.of(VERSION), derived.subarray(32)]);
  return { key: createSecretKey(derived.subarray(0, 32)), head };
}

/** The caller is authenticated, not encrypted: it is known to whoever opens. */
function boundTo(head: Buffer, caller: string): Buffer {
  return Buffer.concat([head, hash('sha256', caller, 'buffer')]);
}

function begins(bytes: Buffer, head: Buffer): boolean {
  return timingSafeEqual(bytes.subarray(0, HEAD_BYTES), head);
}

/** Only the one spelling that `seal` makes: base64 has others for the same bytes. */
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
    // The tag does not match: changed, or of another caller. Node names no other reason to throw here.
    return undefined;
  }
  return readSession(plain);
}

/** Time, length of the id, id, data as JSON. */
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
