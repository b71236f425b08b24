import { mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { openLoadCache } from './load-cache.ts';
import { openStoredReadings } from './stored-readings.ts';

const folder = mkdtempSync(join(tmpdir(), 'skep-readings-'));
const path = join(folder, 'state', 'fleet-manifests');

function open(program = 'one') {
  return openLoadCache(openStoredReadings(path, () => program));
}

/** A process that reads this much, and ends. */
async function read(entries: Readonly<Record<string, unknown>>): Promise<void> {
  const cache = open();
  for (const [key, value] of Object.entries(entries)) if (cache.get(key) === undefined) cache.set(key, value);
  cache.ended();
  await cache.save();
}

beforeEach(() => rmSync(join(folder, 'state'), { recursive: true, force: true }));
afterAll(() => rmSync(folder, { recursive: true }));

const ODD = 'text 1 a\n"b" \u2028 ü.yaml';

describe('what was read of manifests', () => {
  test('is there for the next process, for the user alone', async () => {
    await read({ [ODD]: { objects: [{ value: 'line\nline' }] }, 'blob 1': { text: 'ü', length: 1 } });
    const cache = open();
    expect(cache.get(ODD)).toEqual({ objects: [{ value: 'line\nline' }] });
    expect(cache.get('blob 1')).toEqual({ text: 'ü', length: 1 });
    expect(cache.get('blob 2')).toBeUndefined();
    expect(statSync(path).mode & 0o077).toBe(0);
  });

  test('is forgotten once a process no longer uses it and has read something else', async () => {
    await read({ a: 1, b: 2 });
    await read({ b: 2, c: 3 });
    const cache = open();
    expect(['a', 'b', 'c'].map((key) => cache.get(key))).toEqual([undefined, 2, 3]);
  });

  test('is nothing to another program', async () => {
    await read({ a: 1 });
    expect(open('another').get('a')).toBeUndefined();
  });

  test.each([
    ['torn', () => truncateSync(path, 70)],
    ['changed', () => writeFileSync(path, readFileSync(path, 'utf8').replace('"kept"', '"forged"'))],
    ['empty', () => writeFileSync(path, '')],
    ['gone', () => rmSync(path)],
  ])('counts as absent where its file is %s', async (_how, damage) => {
    await read({ a: 'kept' });
    damage();
    expect(open().get('a')).toBeUndefined();
    await read({ a: 'kept' });
    expect(open().get('a')).toBe('kept');
  });

  test('is not stored where a Secret or something decrypted may be in it, and then nothing is written for it', async () => {
    const secret = { items: [{ object: { kind: 'Secret', stringData: { password: 'hunter2' } } }] };
    const secrets = { 'objects 1': secret, 'sops 2': [{ value: { password: 'hunter2' } }] };
    await read({ a: 1, ...secrets });
    const written = readFileSync(path, 'utf8');
    expect(written).not.toContain('hunter2');
    rmSync(path);
    await read(secrets);
    expect(() => statSync(path)).toThrow('ENOENT');
  });
});

test('a run begins with what is stored, and later ones with what runs have read', async () => {
  await read({ a: 1, b: 2 });
  const cache = open();
  expect(cache.get('a')).toBe(1);
  cache.ended();
  expect(cache.get('b')).toBeUndefined();
});
