import { expect, test } from 'vitest';
import { openLoadCache } from './load-cache.ts';

test('entries that the last two runs have not used are dropped', () => {
  const cache = openLoadCache();
  const used = (...keys: readonly string[]) => keys.map((key) => cache.get(key));
  cache.set('a', 1);
  cache.set('b', 2);
  cache.ended();
  expect(used('a')).toEqual([1]);
  cache.set('c', 3);
  cache.ended();
  expect(used('a', 'c')).toEqual([1, 3]);
  cache.ended();
  expect(used('a', 'b', 'c')).toEqual([1, undefined, 3]);
});

test('runs that could not read their sources drop no entries', () => {
  const cache = openLoadCache();
  cache.set('a', 1);
  for (let run = 0; run < 5; run += 1) cache.ended();
  expect(cache.get('a')).toBe(1);
});
