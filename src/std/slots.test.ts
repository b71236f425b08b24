import { expect, it } from 'vitest';
import { createSlots } from './slots.ts';

it('reuses a free slot for the next item', () => {
  const slots = createSlots<string>();
  const first = slots.add('a');
  const second = slots.add('b');
  slots.remove(first);
  expect(slots.add('c')).toBe(first);
  expect(slots.values()).toEqual(['c', 'b']);
  expect(second).not.toBe(first);
});

it('frees a slot only once', () => {
  const slots = createSlots<string>();
  const place = slots.add('a');
  slots.remove(place);
  slots.remove(place);
  expect([slots.add('b'), slots.add('c')]).toEqual([place, place + 1]);
});
