import { expect, test } from 'vitest';
import { mostFrequent } from './most-frequent.ts';

test.each([
  [[], undefined],
  [['a'], 'a'],
  [['a', 'b', 'b'], 'b'],
  [['b', 'a', 'a', 'b'], 'b'],
] as const)('the most frequent of %j is %j', (values, expected) => {
  expect(mostFrequent<string>(values)).toBe(expected);
});
