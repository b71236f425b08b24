// Tests replaced values and the conversion of their pointers.

import { expect, test } from 'vitest';
import { writtenAt } from './replace.ts';

const COMMENTS = ['/list/0', '/list/2', '/list/3', '/list/5/inner/0'];

test.each([
  { pointer: '/list/0', written: '/list/1', reason: 'one comment before it' },
  { pointer: '/list/1/name', written: '/list/4/name', reason: 'three comments before it' },
  { pointer: '/list/2/inner/0', written: '/list/5/inner/1', reason: 'lists in lists' },
  { pointer: '/other/0', written: '/other/0', reason: 'a list without comments' },
  { pointer: '/data/007', written: '/data/007', reason: 'a key that looks like an index' },
  {
    pointer: '/data/99999999999999999999',
    written: '/data/99999999999999999999',
    reason: 'a key that looks like a huge index',
  },
])('$pointer is written at $written: $reason', ({ pointer, written }) => {
  expect(writtenAt(pointer, COMMENTS)).toBe(written);
});
