// Tests the operations on field sets. A set is written as a string: paths separated by spaces, steps by dots.

import { describe, expect, test } from 'vitest';
import {
  difference,
  differenceBelow,
  equalSets,
  type FieldSet,
  has,
  intersection,
  leaves,
  paths,
  setOf,
  union,
} from './fieldset.ts';

function set(text: string): FieldSet {
  return setOf(text.split(' ').filter(Boolean).map(path));
}

function path(text: string): string[] {
  return text.split('.').map((step) => `f:${step}`);
}

function text(fields: FieldSet): string {
  return paths(fields)
    .map((steps) => steps.map((step) => step.slice(2)).join('.'))
    .join(' ');
}

const OPERATIONS = { union, intersection, difference, differenceBelow };

const ROWS: readonly { a: string; op: keyof typeof OPERATIONS; b: string; is: string; reason: string }[] = [
  { a: 'a', op: 'union', b: 'b', is: 'a b', reason: 'members of both' },
  { a: 'a.b', op: 'union', b: 'a', is: 'a a.b', reason: 'a parent becomes a member next to its child' },
  { a: 'a.b', op: 'union', b: 'a.c', is: 'a.b a.c', reason: 'a common parent does not become a member' },
  { a: 'a a.b c', op: 'intersection', b: 'a.b c', is: 'c a.b', reason: 'the parent is a member of one only' },
  { a: 'a.b', op: 'intersection', b: 'a.c', is: '', reason: 'a common parent alone is nothing' },
  { a: 'a a.b', op: 'difference', b: 'a', is: 'a.b', reason: 'a member takes away itself, not its children' },
  { a: 'a a.b', op: 'difference', b: 'a.b', is: 'a', reason: 'the parent stays' },
  { a: 'a.b', op: 'difference', b: 'a.b', is: '', reason: 'an emptied parent is removed' },
  { a: 'a a.b c', op: 'differenceBelow', b: 'a', is: 'c', reason: 'a member takes all below with it' },
  { a: 'a a.b a.c', op: 'differenceBelow', b: 'a.b', is: 'a a.c', reason: 'only paths below the member' },
];

test.each(ROWS)('$a $op $b is "$is": $reason', ({ a, op, b, is }) => {
  expect(text(OPERATIONS[op](set(a), set(b)))).toBe(is);
});

describe('leaves', () => {
  test('members that contain other members are omitted', () => {
    expect(text(leaves(set('a a.b c d.e d.e.f')))).toBe('c a.b d.e.f');
  });
});

describe('equality', () => {
  test('does not depend on the order of insertion', () => {
    expect(equalSets(set('a b.c'), set('b.c a'))).toBe(true);
  });

  test.each([
    ['a', 'a.b'],
    ['a a.b', 'a.b'],
    ['a', 'a b'],
    ['a.b', 'a.c'],
  ])('%s is not equal to %s', (a, b) => {
    expect(equalSets(set(a), set(b))).toBe(false);
  });
});

describe('membership', () => {
  test.each([
    ['a.b', true],
    ['a', false],
    ['a.b.c', false],
    ['x', false],
  ])('%s in {a.b}: %s', (member, expected) => {
    expect(has(set('a.b'), path(member))).toBe(expected);
  });

  test('the whole object is never a member', () => {
    expect(has(setOf([[]]), [])).toBe(false);
    expect(setOf([[]]).size).toBe(0);
  });
});
