import { expect, test } from 'vitest';
import type { Json } from '#std/json.ts';
import { mergePatch } from './merge-patch.ts';

/** The examples of RFC 7386, appendix A, and cases that follow from its text. */
const rows: readonly { reason: string; target: Json; patch: Json; result: Json }[] = [
  { reason: 'a member is replaced', target: { a: 'b' }, patch: { a: 'c' }, result: { a: 'c' } },
  { reason: 'a member is added', target: { a: 'b' }, patch: { b: 'c' }, result: { a: 'b', b: 'c' } },
  { reason: 'null removes', target: { a: 'b', b: 'c' }, patch: { a: null }, result: { b: 'c' } },
  { reason: 'a list is replaced', target: { a: [1, 2] }, patch: { a: [3] }, result: { a: [3] } },
  {
    reason: 'objects merge below',
    target: { a: { b: 1, c: 2 } },
    patch: { a: { b: null, d: 3 } },
    result: { a: { c: 2, d: 3 } },
  },
  { reason: 'nulls inside a new object are not kept', target: {}, patch: { a: { b: null } }, result: { a: {} } },
  { reason: 'a list becomes an object', target: { a: [1] }, patch: { a: { b: 1 } }, result: { a: { b: 1 } } },
  { reason: 'null inside a list is a value', target: {}, patch: { a: [null] }, result: { a: [null] } },
  { reason: 'a patch that is not an object replaces everything', target: { a: 1 }, patch: ['b'], result: ['b'] },
];

test.each(rows)('$reason', ({ target, patch, result }) => {
  expect(mergePatch(target, patch)).toEqual(result);
});
