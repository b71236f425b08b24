// Tests sealed session ids: who can open a sealed id, and which texts are not sealed ids.

import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { createSessionSeal, MAX_SEALED_LENGTH } from './seal.ts';

const KEYS = [randomBytes(32), randomBytes(32), randomBytes(48)] as const;
const CALLER = 'https://issuer.example.com|subject|client';
const SESSION = {
  id: '550e8400-e29b-41d4-a716-446655440000',
  issuedAt: 1_795_300_000_123,
  data: { revision: '2025-11-25' },
};

const seal = createSessionSeal({ keys: [KEYS[0]], random: randomBytes });

function sealed(
  session: { id: string; issuedAt: number; data?: { revision: string } } = SESSION,
  caller = CALLER,
): string {
  const text = seal.seal({ ...session, caller });
  if (text === undefined) throw new Error('too long');
  return text;
}

describe('a sealed id', () => {
  test('opens for the caller that it was created for', () => {
    expect(seal.open(sealed(), CALLER)).toEqual(SESSION);
    const bare = { id: 'größe 😀', issuedAt: 0 };
    expect(seal.open(sealed(bare), CALLER)).toEqual({ ...bare, data: undefined });
    expect(seal.open(sealed({ id: '', issuedAt: 1 }, ''), '')).toEqual({ id: '', issuedAt: 1, data: undefined });
  });

  test('does not open for another caller', () => {
    expect(seal.open(sealed(), `${CALLER} `)).toBeUndefined();
    expect(seal.open(sealed(), '')).toBeUndefined();
  });

  test('is visible ASCII, does not reveal the session, and differs each time', () => {
    const texts = Array.from({ length: 20 }, () => sealed());
    expect(new Set(texts).size).toBe(20);
    for (const text of texts) {
      expect(text).toMatch(/^[A-Za-z0-9_-]+$/);
      expect(Buffer.from(text, 'base64url').includes(SESSION.id)).toBe(false);
    }
  });

  test('opens with a key that no longer seals, and not after the key was removed', () => {
    const text = sealed();
    const rotated = createSessionSeal({ keys: [KEYS[1], KEYS[0]], random: randomBytes });
    expect(rotated.open(text, CALLER)).toEqual(SESSION);
    const gone = createSessionSeal({ keys: [KEYS[1], KEYS[2]], random: randomBytes });
    expect(gone.open(text, CALLER)).toBeUndefined();
    expect(gone.open(rotated.seal({ ...SESSION, caller: CALLER }) ?? '', CALLER)).toEqual(SESSION);
  });

  test('opens on another replica that has the same key', () => {
    const other = createSessionSeal({ keys: [Buffer.from(KEYS[0])], random: randomBytes });
    expect(other.open(sealed(), CALLER)).toEqual(SESSION);
  });

  test('does not open once any bit of it is changed', () => {
    const bytes = Buffer.from(sealed(), 'base64url');
    for (let bit = 0; bit < bytes.length * 8; bit += 1) {
      const changed = Buffer.from(bytes);
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expect(seal.open(changed.toString('base64url'), CALLER), `bit ${bit}`).toBeUndefined();
    }
  });

  test('does not open once it is shortened, lengthened or encoded in another way', () => {
    const text = sealed();
    for (let length = 0; length < text.length; length += 1) {
      expect(seal.open(text.slice(0, length), CALLER), `${length}`).toBeUndefined();
    }
    for (const other of [`${text}A`, `${text}=`, ` ${text}`, `${text}\n`, `${text.slice(0, 5)}.${text.slice(5)}`]) {
      expect(seal.open(other, CALLER), other).toBeUndefined();
    }
    const standard = Buffer.from(text, 'base64url').toString('base64');
    if (standard !== text) expect(seal.open(standard, CALLER)).toBeUndefined();
  });

  test('has one encoding: the bits that base64 ignores at the end must be 0', () => {
    const session = { id: 'a', issuedAt: 1 };
    const text = sealed(session);
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    const opened = Array.from(alphabet, (last) => seal.open(text.slice(0, -1) + last, CALLER)).filter(Boolean);
    expect(opened).toEqual([{ ...session, data: undefined }]);
  });

  test('is not created if it would be too long for a header', () => {
    expect(seal.seal({ id: 'x'.repeat(MAX_SEALED_LENGTH), issuedAt: 1, caller: CALLER })).toBeUndefined();
    expect(seal.seal({ id: 'x'.repeat(70_000), issuedAt: 1, caller: CALLER })).toBeUndefined();
    expect(seal.seal({ id: 'x', issuedAt: 1, caller: CALLER, data: { text: 'x'.repeat(5000) } })).toBeUndefined();
    const longest = sealed({ id: 'x'.repeat(3000), issuedAt: 1 });
    expect(longest.length).toBeLessThanOrEqual(MAX_SEALED_LENGTH);
    expect(seal.open(longest, CALLER)?.id).toHaveLength(3000);
  });
});

describe('a text that is not a sealed id cannot be opened', () => {
  for (const text of [
    '',
    'a',
    SESSION.id,
    'AQ',
    '../..',
    'x'.repeat(5000),
    '\0',
    'é',
    randomBytes(64).toString('base64url'),
  ]) {
    test(JSON.stringify(text.slice(0, 40)), () => expect(seal.open(text, CALLER)).toBeUndefined());
  }
});

describe('createSessionSeal throws', () => {
  test('without a key', () => expect(() => createSessionSeal({ keys: [], random: randomBytes })).toThrow(RangeError));
  test('with a short key', () => {
    expect(() => createSessionSeal({ keys: [randomBytes(31)], random: randomBytes })).toThrow(RangeError);
  });
});
