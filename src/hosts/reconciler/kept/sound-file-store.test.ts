import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { DigestKey } from '#reconciler/run/desire/digest-key.ts';
import { Failure } from '#std/failure.ts';
import { openSoundFiles } from './sound-file-store.ts';

let stateDir: string;

beforeEach(() => {
  stateDir = mkdtempSync(join(tmpdir(), 'sound-files-'));
});

afterEach(() => rmSync(stateDir, { recursive: true, force: true }));

/** `inCluster`: key in the cluster, or the Failure of reading it. */
function keyOf(inCluster: string | Failure | undefined): DigestKey {
  let known: Uint8Array | undefined;
  return {
    known: () => known,
    async find() {
      if (inCluster instanceof Failure) throw inCluster;
      if (inCluster !== undefined) known = Buffer.from(inCluster);
    },
    async make(random) {
      known = random(32);
    },
  };
}

const SOUND = {
  path: 'a.yaml',
  text: 'a: b',
  objects: [{ document: 0, pointer: '', value: { a: 'b' } }],
  heldAgainst: ['kinds'],
};

function open(key: DigestKey, name = 'prod') {
  return openSoundFiles({ stateDir, name }, key);
}

async function leave(key = keyOf('secret'), sound = SOUND): Promise<void> {
  const store = open(key);
  (await store.open()).add('1234', sound);
  store.save();
}

async function found(key = keyOf('secret'), name?: string) {
  const files = await open(key, name).open();
  return files.find({ oid: '1234', path: 'a.yaml' });
}

function kept(): readonly string[] {
  return readdirSync(stateDir, { recursive: true })
    .map(String)
    .filter((name) => name.endsWith('.result'));
}

test('the next process finds entries of the previous process by blob and path', async () => {
  await leave();
  expect(await found()).toEqual(SOUND);
  const files = await open(keyOf('secret')).open();
  expect(files.find({ oid: '1234', path: 'b.yaml' })).toBeUndefined();
  expect(files.find({ oid: '12345', path: 'a.yaml' })).toBeUndefined();
});

test('an entry of another instance, or under another key, is ignored', async () => {
  await leave();
  expect(await found(keyOf('secret'), 'staging')).toBeUndefined();
  expect(await found(keyOf('another'))).toBeUndefined();
});

test('an entry that was changed by hand is ignored', async () => {
  await leave();
  const [name = ''] = kept();
  const path = join(stateDir, name);
  const text = readFileSync(path, 'utf8');
  writeFileSync(path, text.replace('"value":{"a":"b"}', '"value":{"a":"c"}'));
  expect(readFileSync(path, 'utf8')).not.toBe(text);
  expect(await found()).toBeUndefined();
  writeFileSync(path, text);
  expect(await found()).toEqual(SOUND);
});

test('entries are saved only if a key exists at the end of the process', async () => {
  const store = open(keyOf(undefined));
  expect(store.lacksKey()).toBe(false);
  (await store.open()).add('1234', SOUND);
  expect(store.lacksKey()).toBe(true);
  store.save();
  expect(kept()).toEqual([]);
  const key = keyOf(undefined);
  const later = open(key);
  (await later.open()).add('1234', SOUND);
  await key.make(() => Buffer.from('made'));
  later.save();
  expect(await found(keyOf('made'))).toEqual(SOUND);
});

test('without the right to read the key, no entry is found and no key is created', async () => {
  await leave();
  const store = open(keyOf(new Failure('cluster-forbidden', 'no')));
  expect((await store.open()).find({ oid: '1234', path: 'a.yaml' })).toBeUndefined();
  expect(store.lacksKey()).toBe(false);
});

test('unchanged entries are not written again', async () => {
  await leave();
  const [name = ''] = kept();
  rmSync(join(stateDir, name));
  await leave();
  expect(kept()).toHaveLength(1);
  const store = open(keyOf('secret'));
  const files = await store.open();
  rmSync(join(stateDir, name));
  files.add('1234', { ...SOUND });
  store.save();
  expect(kept()).toEqual([]);
  files.add('1234', { ...SOUND, heldAgainst: ['other kinds'] });
  store.save();
  expect((await found())?.heldAgainst).toEqual(['kinds', 'other kinds']);
  rmSync(join(stateDir, name));
  store.save();
  expect(kept()).toEqual([]);
});

test('texts beyond 16 MiB are left out', async () => {
  const store = open(keyOf('secret'));
  const files = await store.open();
  const large = { ...SOUND, text: 'x'.repeat(9 * 1024 * 1024) };
  files.add('1234', large);
  files.add('5678', large);
  files.add('9abc', SOUND);
  store.save();
  const again = await open(keyOf('secret')).open();
  expect(again.find({ oid: '1234', path: 'a.yaml' })?.text).toHaveLength(large.text.length);
  expect(again.find({ oid: '5678', path: 'a.yaml' })).toBeUndefined();
  expect(again.find({ oid: '9abc', path: 'a.yaml' })).toEqual(SOUND);
});

test('entries that a process adds do not hide entries that it has found', async () => {
  await leave();
  const files = await open(keyOf('secret')).open();
  files.add('1234', { ...SOUND, path: 'b.yaml' });
  expect(files.find({ oid: '1234', path: 'a.yaml' })).toEqual(SOUND);
});
