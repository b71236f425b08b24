// Tests which files of a checkout are read, and how often.

import { expect, test } from 'vitest';
import type { Checkout } from '../ports.ts';
import { gatherManifests } from './manifests.ts';

/** Returns a checkout with these files. The id of each blob contains its text. */
function checkoutOf(files: Readonly<Record<string, string | Uint8Array>>, asked: string[]): Checkout {
  const blobs = new Map(Object.entries(files).map(([path, content]) => [`id of ${path}: ${content}`, content]));
  return {
    commit: '0'.repeat(40),
    files: Object.entries(files).map(([path, content]) => ({ path, oid: `id of ${path}: ${content}` })),
    skipped: [],
    async read(oids) {
      asked.push(...oids);
      return new Map(oids.map((oid) => [oid, Buffer.from(blobs.get(oid) ?? '')]));
    },
  };
}

test('a file with the name of a manifest is read once per content, and other files are not read', async () => {
  const asked: string[] = [];
  const cache = new Map<string, unknown>();
  const first = checkoutOf({ 'a.yaml': 'one', 'b.json': 'two', 'README.md': 'three' }, asked);
  const before = await gatherManifests(first, { path: '' }, cache);
  expect(before.documents.map(({ path, text }) => `${path}: ${text}`)).toEqual(['a.yaml: one', 'b.json: two']);
  expect(asked).toEqual(['id of a.yaml: one', 'id of b.json: two']);
  const second = checkoutOf({ 'a.yaml': 'one', 'b.json': 'other' }, asked);
  const after = await gatherManifests(second, { path: '' }, cache);
  expect(after.documents.map(({ path, text }) => `${path}: ${text}`)).toEqual(['a.yaml: one', 'b.json: other']);
  expect(asked.slice(2)).toEqual(['id of b.json: other']);
});

test('a file that is not UTF-8 is a problem each time, and an empty file is not', async () => {
  const asked: string[] = [];
  const cache = new Map<string, unknown>();
  const checkout = checkoutOf({ 'latin.yaml': Uint8Array.of(0x6e, 0xe4), 'empty.yaml': '' }, asked);
  for (let round = 0; round < 2; round += 1) {
    const { documents, problems, incomplete } = await gatherManifests(checkout, { path: '' }, cache);
    expect(documents.map(({ path, text }) => ({ path, text }))).toEqual([{ path: 'empty.yaml', text: '' }]);
    expect(problems.map(({ code, place }) => [code, place?.file])).toEqual([['encoding-invalid', 'latin.yaml']]);
    expect(incomplete).toBe(true);
  }
});

test.each([
  ['with a byte order mark', '\uFEFFkind: A'],
  ['without a byte order mark', 'kind: A'],
])('UTF-16 %s is named as a possible encoding', async (_how, text) => {
  const checkout = checkoutOf({ 'a.yaml': Uint8Array.from(Buffer.from(text, 'utf16le')) }, []);
  const { documents, problems } = await gatherManifests(checkout, { path: '' }, new Map());
  expect(documents).toEqual([]);
  expect(problems).toMatchObject([{ code: 'encoding-invalid', message: expect.stringContaining('UTF-16') }]);
});

test('one blob at many paths is counted once per path', async () => {
  const content = new TextEncoder().encode('x'.repeat(9 * 1024 * 1024));
  const files = Array.from({ length: 29 }, (_, index) => ({ path: `${index}.yaml`, oid: 'o' }));
  const checkout = { commit: 'c', files, skipped: [], read: async () => new Map([['o', content]]) };
  await expect(gatherManifests(checkout, { path: '' }, new Map())).rejects.toMatchObject({
    code: 'manifests-too-large',
  });
});

test('all texts of manifests are counted, whether cached or not, and no other files', async () => {
  const size = 9 * 1024 * 1024;
  const contents: Readonly<Record<string, Uint8Array>> = {
    text: new TextEncoder().encode('é'.repeat(size / 2)),
    other: new Uint8Array(size).fill(0xff),
  };
  const read: Checkout['read'] = async (oids) =>
    new Map(oids.map((oid) => [oid, contents[oid.split(' ')[0] ?? ''] ?? Uint8Array.of()]));
  const cache = new Map();
  for (const kind of ['text', 'other']) {
    const files = Array.from({ length: 29 }, (_, index) => ({ path: `${index}.yaml`, oid: `${kind} ${index}` }));
    for (const _round of ['cold', 'warm']) {
      const { documents, problems } = await gatherManifests(
        { commit: 'c', files, skipped: [], read },
        { path: '' },
        cache,
      );
      expect([documents.length, problems.length]).toEqual(kind === 'text' ? [29, 0] : [0, 29]);
    }
  }
});

test('many large files are read a few at a time', async () => {
  const content = new TextEncoder().encode('x'.repeat(1024 * 1024));
  const files = Array.from({ length: 100 }, (_, index) => ({ path: `${index}.yaml`, oid: `oid ${index}` }));
  const counts: number[] = [];
  const read = async (oids: readonly string[]) => {
    counts.push(oids.length);
    return new Map(oids.map((oid) => [oid, content]));
  };
  const { documents } = await gatherManifests({ commit: 'c', files, skipped: [], read }, { path: '' }, new Map());
  expect([documents.length, counts]).toEqual([100, [32, 16, 16, 16, 16, 4]]);
});

test('small files are read in a few requests', async () => {
  const names = Array.from({ length: 5_000 }, (_, index) => `${index}.yaml`);
  const asked: string[] = [];
  const checkout = checkoutOf(Object.fromEntries(names.map((name) => [name, 'x'])), asked);
  let parts = 0;
  const read: Checkout['read'] = (oids) => {
    parts += 1;
    return checkout.read(oids);
  };
  await gatherManifests({ ...checkout, read }, { path: '' }, new Map());
  expect([asked.length, parts]).toEqual([5_000, 3]);
});

test('a file that an earlier process has stored is not read again', async () => {
  const asked: string[] = [];
  const checkout = checkoutOf({ 'a.yaml': 'one', 'b.yaml': 'two' }, asked);
  const left = { path: 'a.yaml', text: 'one', objects: [], heldAgainst: [] };
  const sound = { find: ({ path }: { path: string }) => (path === 'a.yaml' ? left : undefined), add: () => undefined };
  const { documents } = await gatherManifests(checkout, { path: '' }, new Map(), sound);
  expect(documents.map(({ path, text }) => `${path}: ${text}`)).toEqual(['a.yaml: one', 'b.yaml: two']);
  expect(asked).toEqual(['id of b.yaml: two']);
});
