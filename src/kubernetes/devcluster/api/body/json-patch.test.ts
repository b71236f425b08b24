import { expect, test } from 'vitest';
import type { Json } from '#std/json.ts';
import { jsonPatch } from './json-patch.ts';

interface Row {
  readonly reason: string;
  readonly target: Json;
  readonly patch: Json[];
  /** The expected result. If absent, the patch must be refused. */
  readonly result?: Json;
}

const rows: readonly Row[] = [
  {
    reason: 'add sets a member',
    target: { a: 1 },
    patch: [{ op: 'add', path: '/b', value: 2 }],
    result: { a: 1, b: 2 },
  },
  {
    reason: 'add inserts into a list',
    target: [1, 3],
    patch: [{ op: 'add', path: '/1', value: 2 }],
    result: [1, 2, 3],
  },
  { reason: 'a dash appends', target: [1], patch: [{ op: 'add', path: '/-', value: 2 }], result: [1, 2] },
  { reason: 'the empty path is the whole', target: { a: 1 }, patch: [{ op: 'add', path: '', value: 5 }], result: 5 },
  { reason: 'null is a value', target: {}, patch: [{ op: 'add', path: '/a', value: null }], result: { a: null } },
  { reason: 'tokens are unescaped', target: { 'a/b': 1 }, patch: [{ op: 'remove', path: '/a~1b' }], result: {} },
  {
    reason: 'move removes and adds',
    target: { a: 1 },
    patch: [{ op: 'move', from: '/a', path: '/b' }],
    result: { b: 1 },
  },
  {
    reason: 'copy keeps the source',
    target: { a: [1] },
    patch: [{ op: 'copy', from: '/a', path: '/b' }],
    result: { a: [1], b: [1] },
  },
  {
    reason: 'operations after a successful test are applied',
    target: { a: 1 },
    patch: [{ op: 'test', path: '/a', value: 1 }],
    result: { a: 1 },
  },
  { reason: 'a failed test refuses the patch', target: { a: 1 }, patch: [{ op: 'test', path: '/a', value: 2 }] },
  { reason: 'replace needs an existing value', target: {}, patch: [{ op: 'replace', path: '/a', value: 1 }] },
  { reason: 'remove needs an existing value', target: {}, patch: [{ op: 'remove', path: '/a' }] },
  { reason: 'a missing parent is not created', target: {}, patch: [{ op: 'add', path: '/a/b', value: 1 }] },
  { reason: 'an index beyond the end is refused', target: [1], patch: [{ op: 'add', path: '/3', value: 1 }] },
  { reason: 'an index with a leading zero is refused', target: [1, 2], patch: [{ op: 'remove', path: '/01' }] },
  { reason: 'a value is not moved into itself', target: { a: {} }, patch: [{ op: 'move', from: '/a', path: '/a/b' }] },
  { reason: 'an unknown operation is refused', target: {}, patch: [{ op: 'increment', path: '/a' }] },
  { reason: 'add without a value is refused', target: {}, patch: [{ op: 'add', path: '/a' }] },
];

test.each(rows)('$reason', ({ target, patch, result }) => {
  const before = structuredClone(target);
  const outcome = jsonPatch(target, patch);
  if (result === undefined) expect(outcome).toHaveProperty('refused');
  else expect(outcome).toEqual({ value: result });
  expect(target).toEqual(before);
});
