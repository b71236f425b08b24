// Encodes one message between replicas as a JSON head and a body. The message is encrypted, because it may contain
// callers' tokens.

import { createCipheriv, createDecipheriv, createSecretKey, hkdfSync } from 'node:crypto';
import { isObject, type JsonObject } from '#std/json.ts';

export interface Frame {
  readonly head: JsonObject;
  readonly body: Buffer;
}

export interface FrameCodec {
  encode(frame: Frame): Buffer;
  /** Returns the frame. undefined if no key of this process decrypts the bytes. */
  decode(bytes: Buffer): Frame | undefined;
}

const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const LENGTH_BYTES = 4;
const INFO = 'skep relay v1';

/** Creates the codec. `secrets` are the secrets that seal sessions. The first secret encrypts, all secrets decrypt. */
export function createFrameCodec(secrets: readonly Buffer[], random: (size: number) => Buffer): FrameCodec {
  const keys = secrets.map((secret) => createSecretKey(Buffer.from(hkdfSync('sha256', secret, '', INFO, 32))));
  const [current] = keys;
  if (current === undefined) throw new RangeError('a codec needs a key');
  return {
    encode({ head, body }) {
      const nonce = random(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', current, nonce);
      const json = Buffer.from(JSON.stringify(head));
      const length = Buffer.allocUnsafe(LENGTH_BYTES);
      length.writeUInt32BE(json.length);
      const parts = [nonce, cipher.update(length), cipher.update(json), cipher.update(body), cipher.final()];
      return Buffer.concat([...parts, cipher.getAuthTag()]);
    },
    decode(bytes) {
      for (const key of keys) {
        const plain = decrypt(key, bytes);
        if (plain !== undefined) return readFrame(plain);
      }
      return undefined;
    },
  };
}

function decrypt(key: ReturnType<typeof createSecretKey>, bytes: Buffer): Buffer | undefined {
  const end = bytes.length - TAG_BYTES;
  if (end < NONCE_BYTES + LENGTH_BYTES) return undefined;
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES });
  decipher.setAuthTag(bytes.subarray(end));
  const plain = decipher.update(bytes.subarray(NONCE_BYTES, end));
  try {
    decipher.final();
  } catch {
    // The tag does not match, because the sender has another key or the bytes were changed. Node documents no other
    // error of `final`.
    return undefined;
  }
  return plain;
}

function readFrame(plain: Buffer): Frame | undefined {
  const end = LENGTH_BYTES + plain.readUInt32BE(0);
  const head: unknown = JSON.parse(plain.toString('utf8', LENGTH_BYTES, end));
  return isObject(head) ? { head, body: plain.subarray(end) } : undefined;
}
