import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { sha256 } from '#std/hash.ts';
import { openResultCache, userCacheFolder } from './result-cache.ts';

const KEY = sha256('key');
let folder: string;

beforeEach(() => {
  folder = join(mkdtempSync(join(tmpdir(), 'result-cache-')), 'a', 'b');
});

afterEach(() => rmSync(join(folder, '../..'), { recursive: true, force: true }));

function open(now = 0) {
  return openResultCache(folder, () => now);
}

/** Returns the content of an entry's file. */
function entryOf(sealed: string): string {
  return `${sha256(sealed)}\n${sealed}`;
}

test('a result is found by its key, also by another cache of the folder', () => {
  open().set(KEY, { problems: [1] });
  expect(open().get(KEY)).toEqual({ problems: [1] });
  expect(open().get(sha256('other'))).toBeUndefined();
});

describe('an entry that differs from the written one is ignored, and can be written again', () => {
  test.each([
    { reason: 'empty', damage: () => '' },
    { reason: 'torn', damage: (text: string) => text.slice(0, -3) },
    { reason: 'one character is another', damage: (text: string) => text.replace('1', '2') },
    { reason: 'no text at all', damage: () => '\0\xff\n\n{' },
    { reason: 'of another key', damage: () => entryOf(`${sha256('x')}\n[1]`) },
  ])('$reason', ({ damage }) => {
    open().set(KEY, [1]);
    const path = join(folder, readdirSync(folder)[0] ?? '');
    writeFileSync(path, damage(readFileSync(path, 'utf8')));
    expect(open().get(KEY)).toBeUndefined();
    open().set(KEY, [1]);
    expect(open().get(KEY)).toEqual([1]);
  });
});

test('a folder that cannot be created, and an entry that is a folder, are ignored', () => {
  mkdirSync(join(folder, '..'), { recursive: true });
  writeFileSync(folder, 'a file');
  open().set(KEY, [1]);
  expect(open().get(KEY)).toBeUndefined();
  rmSync(folder);
  mkdirSync(join(folder, `${KEY}.result`), { recursive: true });
  expect(open().get(KEY)).toBeUndefined();
});

test('the 64 results that were used last are kept', () => {
  const keys = Array.from({ length: 64 }, (_, index) => sha256(String(index)));
  for (const [index, key] of keys.entries()) {
    open().set(key, index);
    open(1_000_000 + index * 1000).get(key);
  }
  // Reads the first entry again, so that the second entry was unused for longest.
  expect(open(2_000_000).get(keys[0] ?? '')).toBe(0);
  open().set(KEY, 'new');
  expect(readdirSync(folder)).toHaveLength(64);
  expect(open().get(keys[0] ?? '')).toBe(0);
  expect(open().get(keys[1] ?? '')).toBeUndefined();
  expect(open().get(KEY)).toBe('new');
});

test('files of other programs in the folder are kept', () => {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'notes'), '');
  for (let index = 0; index < 70; index++) open().set(sha256(String(index)), index);
  expect(readdirSync(folder)).toContain('notes');
});

test.each([
  { environment: { XDG_CACHE_HOME: '/x' }, platform: 'linux', expected: '/x/skep', reason: 'as XDG says' },
  {
    environment: { XDG_CACHE_HOME: 'x' },
    platform: 'linux',
    expected: /\/\.cache\/skep$/,
    reason: 'relative: ignored',
  },
  { environment: {}, platform: 'darwin', expected: /\/Library\/Caches\/skep$/, reason: 'as Apple says' },
  { environment: { LOCALAPPDATA: '/l' }, platform: 'win32', expected: '/l/skep', reason: 'as Windows says' },
] as const)('the folder of the user: $reason', ({ environment, platform, expected }) => {
  const found = userCacheFolder(environment, platform);
  if (typeof expected === 'string') expect(found).toBe(expected);
  else expect(found).toMatch(expected);
});
