import { expect, test } from 'vitest';
import { ofMostFrequent } from './of-most-frequent.ts';

test.each([
  [[], []],
  [['a1'], ['a1']],
  [
    ['a1', 'b1', 'b2'],
    ['b1', 'b2'],
  ],
  [
    ['b1', 'a1', 'a2', 'b2'],
    ['b1', 'b2'],
  ],
] as const)('of %j the owner with most has %j', (items, expected) => {
  expect(ofMostFrequent<string>(items, ([owner]) => owner)).toEqual(expected);
});
