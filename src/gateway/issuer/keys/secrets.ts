// Derives keys from the HMAC secrets. The keys protect codes and refresh tokens against forgery, and encrypt texts that
// only this server may read. The first secret is used for new texts, and all secrets are accepted.

import { createCipheriv, createDecipheriv, createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { Failure } from '#std/failure.ts';
import { sha256 } from '#std/hash.ts';
import type { IssuerPorts } from '../ports.ts';
import { createRing, type RingItem } from './ring.ts';

/** Purpose of a key. A key for one purpose cannot open texts of another purpose. */
type OpaqueKind = 'authorization code' | 'refresh token';
type SealKind = 'upstream tokens' | 'upstream client' | 'person cookie';

interface Opaque {
  /** Random text of 22 characters. */
  readonly id: string;
  readonly generation: number;
}

export interface IssuerSecrets {
  /** Returns an opaque text that cannot be guessed or changed. */
  mint(kind: OpaqueKind, opaque: Opaque): string;
  /** Returns the content of the text. undefined if this server has not minted the text for this purpose. */
  open(kind: OpaqueKind, text: string): Opaque | undefined;
  /** Encrypts the text. `context` is the owner of the text. `unseal` needs the same context. */
  seal(kind: SealKind, context: string, text: string): string;
  unseal(kind: SealKind, context: string, sealed: string): string | undefined;
}

interface Secret extends RingItem {
  readonly bytes: Buffer;
  readonly derived: Map<string, Buffer>;
}

const SECRET_BYTES_MIN = 32;
const PREFIXES = { 'authorization code': 'skc_', 'refresh token': 'skr_' } as const;
const ID_BYTES = 16;
const SALT_BYTES = 12;
const BODY_BYTES = ID_BYTES + 4 + SALT_BYTES;
const MAC_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Reads the secrets. Without files, uses a random secret that only this process knows. Throws Failure
 * `issuer-secret-invalid`.
 */
export function createIssuerSecrets(
  ports: Pick<IssuerPorts, 'files' | 'clock' | 'notify' | 'random'>,
  paths: readonly string[],
): IssuerSecrets {
  const ring = createRing<Secret>(ports, {
    paths,
    parse: parseSecret,
    invent: () => secretOf(ports.random(SECRET_BYTES_MIN)),
    code: 'issuer-secret-invalid',
  });
  return {
    mint(kind, { id, generation }) {
      const body = Buffer.alloc(BODY_BYTES);
      Buffer.from(id, 'base64url').copy(body);
      body.writeUInt32BE(generation, ID_BYTES);
      ports.random(SALT_BYTES).copy(body, ID_BYTES + 4);
      const bytes = Buffer.concat([body, macOf(ring().active, kind, body)]);
      return PREFIXES[kind] + bytes.toString('base64url');
    },
    open(kind, text) {
      const bytes = bytesOf(text, PREFIXES[kind]);
      if (bytes?.length !== BODY_BYTES + MAC_BYTES) return undefined;
      const body = bytes.subarray(0, BODY_BYTES);
      const mac = bytes.subarray(BODY_BYTES);
      if (!ring().accepted.some((secret) => timingSafeEqual(macOf(secret, kind, body), mac))) return undefined;
      return { id: body.subarray(0, ID_BYTES).toString('base64url'), generation: body.readUInt32BE(ID_BYTES) };
    },
    seal(kind, context, text) {
      const nonce = ports.random(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', keyOf(ring().active, kind), nonce).setAAD(Buffer.from(context));
      const bytes = Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
      return bytes.toString('base64url');
    },
    unseal(kind, context, sealed) {
      const bytes = Buffer.from(sealed, 'base64url');
      for (const secret of ring().accepted) {
        const text = decrypt(keyOf(secret, kind), context, bytes);
        if (text !== undefined) return text;
      }
      return undefined;
    },
  };
}

/** Decodes a text. Accepts only the encoding that `mint` writes, so that each token has exactly one text. */
function bytesOf(text: string, prefix: string): Buffer | undefined {
  if (!text.startsWith(prefix)) return undefined;
  const bytes = Buffer.from(text.slice(prefix.length), 'base64url');
  return bytes.toString('base64url') === text.slice(prefix.length) ? bytes : undefined;
}

function parseSecret(text: string, path: string): Secret {
  const bytes = Buffer.from(text.trim());
  if (bytes.length >= SECRET_BYTES_MIN) return secretOf(bytes);
  const message = `${path} holds ${bytes.length} bytes: an HMAC secret needs at least ${SECRET_BYTES_MIN}`;
  throw new Failure('issuer-secret-invalid', message, { data: { path } });
}

function secretOf(bytes: Buffer): Secret {
  return { id: sha256(bytes), bytes, derived: new Map() };
}

/** Returns the derived key (RFC 5869). */
function keyOf({ bytes, derived }: Secret, purpose: OpaqueKind | SealKind): Buffer {
  const known = derived.get(purpose);
  if (known !== undefined) return known;
  const key = Buffer.from(hkdfSync('sha256', bytes, '', `skep issuer: ${purpose}`, 32));
  derived.set(purpose, key);
  return key;
}

function macOf(secret: Secret, kind: OpaqueKind, body: Buffer): Buffer {
  return createHmac('sha256', keyOf(secret, kind)).update(body).digest();
}

function decrypt(key: Buffer, context: string, bytes: Buffer): string | undefined {
  if (bytes.length < NONCE_BYTES + TAG_BYTES) return undefined;
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE_BYTES));
  decipher.setAAD(Buffer.from(context)).setAuthTag(bytes.subarray(-TAG_BYTES));
  try {
    const text = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES));
    return Buffer.concat([text, decipher.final()]).toString('utf8');
  } catch {
    // Node throws the same error for another secret, another context and a changed text.
    return undefined;
  }
}
