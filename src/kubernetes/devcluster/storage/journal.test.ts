import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { KubeObject } from '../../rules/object.ts';
import { openJournal } from './journal.ts';
import { openStore, type Store } from './store.ts';

let dir: string;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'journal-'));
});

afterEach(() => rmSync(dir, { recursive: true, force: true }));

const MAPS = '/configmaps';

function map(name: string, value = '1'): KubeObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'n' }, data: { value } };
}

function key(name: string) {
  return { collection: MAPS, namespace: 'n', name };
}

function names(store: Store): string[] {
  return store.list(MAPS).map((object) => object.metadata.name);
}

test('a reopened journal has the written objects, their revisions and their history', () => {
  const first = openStore(openJournal(dir));
  first.put(MAPS, map('b'));
  first.put(MAPS, map('a'));
  first.put(MAPS, map('a', '2'));
  first.remove(key('b'));
  first.close();
  const again = openStore(openJournal(dir));
  expect([again.revision(), names(again)]).toEqual([4, ['a']]);
  expect(again.get(key('a'))).toMatchObject({ data: { value: '2' }, metadata: { resourceVersion: '3' } });
  expect(again.listAt(2, MAPS).map((object) => object.metadata.name)).toEqual(['a', 'b']);
  expect(again.changesSince(2, MAPS).map(({ type }) => type)).toEqual(['MODIFIED', 'DELETED']);
  again.close();
});

test('an incomplete last line is ignored, and the next write follows the last complete line', () => {
  const first = openStore(openJournal(dir));
  first.put(MAPS, map('a'));
  first.close();
  appendFileSync(join(dir, 'state.jsonl'), `{"type":"ADDED","collection":"/configm${'x'.repeat(2_000)}`);
  const again = openStore(openJournal(dir));
  again.put(MAPS, map('b'));
  again.close();
  expect(names(openStore(openJournal(dir)))).toEqual(['a', 'b']);
});

test('a broken line before the end is a Failure that names file and line', () => {
  const first = openStore(openJournal(dir));
  first.put(MAPS, map('a'));
  first.close();
  const path = join(dir, 'state.jsonl');
  writeFileSync(path, `${readFileSync(path, 'utf8')}nonsense\n`);
  expect(() => openJournal(dir)).toThrow(
    expect.objectContaining({ code: 'devcluster-state-broken', data: { path, line: 3 } }),
  );
});

test('a file of another format is a Failure', () => {
  writeFileSync(join(dir, 'state.jsonl'), '{"journal":"other","version":1,"revision":0}\n');
  expect(() => openJournal(dir)).toThrow(expect.objectContaining({ code: 'devcluster-state-broken' }));
});

test('a journal with mostly outdated lines is rewritten with the same content', () => {
  const first = openStore(openJournal(dir));
  first.put(MAPS, map('kept'));
  for (let round = 0; round < 5_100; round += 1) first.put(MAPS, map('busy', String(round)));
  first.close();
  const lines = readFileSync(join(dir, 'state.jsonl'), 'utf8').split('\n').length;
  expect(lines).toBeLessThan(1_000);
  const again = openStore(openJournal(dir));
  expect([again.revision(), names(again)]).toEqual([5_101, ['busy', 'kept']]);
  expect(again.oldest()).toBeGreaterThan(0);
  again.close();
});
