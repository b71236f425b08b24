import { expect, test } from 'vitest';
import { assignSlots } from './slots.ts';

test.each([
  { reason: 'a first start goes by name', before: [], now: ['b', 'a'], slots: ['a', 'b'] },
  { reason: 'a later one takes the next place', before: ['b'], now: ['a', 'b'], slots: ['b', 'a'] },
  {
    reason: 'one that is gone keeps its place until another needs it',
    before: ['a', 'b'],
    now: ['b'],
    slots: ['a', 'b'],
  },
  { reason: 'a new one takes the place of one that is gone', before: ['a', 'b'], now: ['b', 'c'], slots: ['c', 'b'] },
])('$reason', ({ before, now, slots }) => {
  expect(assignSlots(before, now)).toEqual(slots);
});
