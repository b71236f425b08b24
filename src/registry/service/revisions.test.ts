import { expect, test } from 'vitest';
import { sharedRevisions } from './revisions.ts';

const KEY = { namespace: 'fleet', registry: 'catalogue', source: 'tools' };

/** Returns a store whose queries respond when the test calls `answer` or `fail`. Revisions count from 1. */
function slowStore() {
  const waiting: { resolve(text: string): void; reject(error: Error): void }[] = [];
  let asked = 0;
  return {
    revision: () => {
      asked += 1;
      return new Promise<string>((resolve, reject) => waiting.push({ resolve, reject }));
    },
    asked: () => asked,
    answer: () => waiting.shift()?.resolve(String(asked)),
    fail: () => waiting.shift()?.reject(new Error(`question ${asked}`)),
  };
}

/** Resolves when all work that can run has run. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

test('requests of one turn share a query, and requests during this query share the next query', async () => {
  const store = slowStore();
  const revision = sharedRevisions(store);
  const first = [revision(KEY), revision(KEY)];
  await settled();
  expect(store.asked()).toBe(1);
  const later = [revision(KEY), revision(KEY), revision(KEY)];
  await settled();
  expect(store.asked()).toBe(1);
  store.answer();
  expect(await Promise.all(first)).toEqual(['1', '1']);
  await settled();
  expect(store.asked()).toBe(2);
  const latest = revision(KEY);
  store.answer();
  expect(await Promise.all(later)).toEqual(['2', '2', '2']);
  await settled();
  store.answer();
  expect(await latest).toBe('3');
});

test('a single request needs only its own query', async () => {
  const store = slowStore();
  const revision = sharedRevisions(store);
  for (const expected of ['1', '2']) {
    const answer = revision(KEY);
    await settled();
    expect(store.asked()).toBe(Number(expected));
    store.answer();
    expect(await answer).toBe(expected);
  }
});

test('requests for different sources share no query', async () => {
  const store = slowStore();
  const revision = sharedRevisions(store);
  void revision(KEY);
  void revision({ ...KEY, source: 'other' });
  await settled();
  expect(store.asked()).toBe(2);
});

test('a failed query fails only the requests that share it', async () => {
  const store = slowStore();
  const revision = sharedRevisions(store);
  const first = revision(KEY);
  await settled();
  const second = revision(KEY);
  store.fail();
  await expect(first).rejects.toThrow('question 1');
  await settled();
  store.answer();
  expect(await second).toBe('2');
  const third = revision(KEY);
  await settled();
  store.fail();
  await expect(third).rejects.toThrow('question 3');
});
