import { expect, test } from 'vitest';
import { openLoadCache } from './load-cache.ts';

test('the file that was used longest ago makes room', () => {
  const cache = openLoadCache(2);
  cache.set('a', 1);
  cache.set('b', 2);
  expect(cache.get('a')).toBe(1);
  cache.set('c', 3);
  expect(['a', 'b', 'c'].map((key) => cache.get(key))).toEqual([1, undefined, 3]);
});
