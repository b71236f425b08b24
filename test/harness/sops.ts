// Encrypts manifests as `sops encrypt` does, for tests that need other values or keys than the files in test/std/sops.

import { createCipheriv, createHash, randomBytes } from 'node:crypto';
import { armor, Encrypter, generateX25519Identity, identityToRecipient } from 'age-encryption';
import { isObject, type Json, type JsonObject } from '#std/json.ts';

export interface TestKey {
  readonly identity: string;
  readonly recipient: string;
}

export async function testKey(): Promise<TestKey> {
  const identity = await generateX25519Identity();
  return { identity, recipient: await identityToRecipient(identity) };
}

/** Returns the encrypted object as JSON. Encrypts only strings with a key on their path that matches `rule`. */
export async function sealed(
  object: JsonObject,
  { recipient }: TestKey,
  rule = '^(data|stringData)$',
): Promise<string> {
  const dataKey = randomBytes(32);
  const encrypter = new Encrypter();
  encrypter.addRecipient(recipient);
  const enc = armor.encode(await encrypter.encrypt(dataKey));
  const checksum = createHash('sha512');
  const value = walk(object, []);
  const lastmodified = '2026-11-21T19:00:00Z';
  const mac = encrypted(checksum.digest('hex').toUpperCase(), dataKey, lastmodified);
  const sops = { age: [{ recipient, enc }], lastmodified, mac, encrypted_regex: rule, version: '3.13.3' };
  return JSON.stringify({ ...(isObject(value) ? value : {}), sops }, null, 2);

  function walk(inner: Json, path: readonly string[]): Json {
    if (Array.isArray(inner)) return inner.map((item) => walk(item, path));
    if (isObject(inner)) {
      return Object.fromEntries(Object.entries(inner).map(([key, field = null]) => [key, walk(field, [...path, key])]));
    }
    if (typeof inner !== 'string') throw new TypeError('only strings are encrypted here');
    checksum.update(inner);
    const seals = inner !== '' && path.some((key) => new RegExp(rule).test(key));
    return seals ? encrypted(inner, dataKey, `${path.join(':')}:`) : inner;
  }
}

function encrypted(text: string, key: Uint8Array, boundTo: string): string {
  const iv = randomBytes(32);
  const cipher = createCipheriv('aes-256-gcm', key, iv);
  cipher.setAAD(Buffer.from(boundTo));
  const data = Buffer.concat([cipher.update(text), cipher.final()]);
  const [a, b, c] = [data, iv, cipher.getAuthTag()].map((bytes) => bytes.toString('base64'));
  return `ENC[AES256_GCM,data:${a},iv:${b},tag:${c},type:str]`;
}
