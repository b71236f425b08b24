// Implements the functions of lists. Source: Kubernetes CEL, "Kubernetes list library"; cel-go ext/lists, version 3;
// ext/sets.

import { spend } from '../cost.ts';
import { equals } from '../equality.ts';
import { optionalOf } from '../package.ts';
import { CelDuration, CelTimestamp, taggedType } from '../tagged.ts';
import { fail, itemsOf, type Library, OURS } from './library.ts';

type Comparable = bigint | number | string | boolean | Uint8Array | CelDuration | CelTimestamp | { valueOf(): bigint };
type List = Iterable<unknown>;

/** Receivers of `sets.contains` and `lists.range`. */
const Sets = taggedType<string>();
const Lists = taggedType<string>();

export const LIST_LIBRARY: Library = {
  types: { setsfunctions: Sets, listsfunctions: Lists },
  constants: { sets: ['setsfunctions', new Sets('sets')], lists: ['listsfunctions', new Lists('lists')] },
  functions: {
    'list.isSorted(): bool': (list: Iterable<Comparable>) =>
      itemsOf(list).every((item, index, all) => index === 0 || compareItems(all[index - 1] ?? item, item) <= 0),
    'list<int>.sum(): int': (list: Iterable<bigint>) => checked(itemsOf(list).reduce((sum, item) => sum + item, 0n)),
    'list<double>.sum(): double': (list: Iterable<number>) => itemsOf(list).reduce((sum, item) => sum + item, 0),
    'list<duration>.sum(): duration': (list: Iterable<CelDuration>) =>
      new CelDuration(itemsOf(list).reduce((sum, { value }) => sum + value, 0n)),
    'list<A>.min(): A': (list: Iterable<Comparable>) => extreme('min', list, -1),
    'list<A>.max(): A': (list: Iterable<Comparable>) => extreme('max', list, 1),
    [`list<A>.indexOf${OURS}(A): int`]: (list: List, item: unknown) =>
      BigInt(itemsOf(list).findIndex((each) => equals(each, item))),
    [`list<A>.lastIndexOf${OURS}(A): int`]: (list: List, item: unknown) =>
      BigInt(itemsOf(list).findLastIndex((each) => equals(each, item))),
    'list<A>.sort(): list<A>': (list: Iterable<Comparable>) => itemsOf(list).toSorted(compareItems),
    'list<A>.distinct(): list<A>': distinctItems,
    'list<A>.reverse(): list<A>': (list: List) => itemsOf(list).toReversed(),
    'list<A>.slice(int, int): list<A>': slice,
    'list<A>.first(): optional<A>': (list: List) => optionalOf(itemsOf(list)[0]),
    'list<A>.last(): optional<A>': (list: List) => optionalOf(itemsOf(list).at(-1)),
    'list<list<A>>.flatten(): list<A>': (list: List) => flatten(list, 1n),
    'list<dyn>.flatten(int): list<dyn>': flatten,
    'listsfunctions.range(int): list<int>': (_: unknown, count: bigint) => range(Math.max(Number(count), 0)),
    'setsfunctions.contains(list<A>, list<A>): bool': (_: unknown, list: List, sub: List) => contains(list, sub),
    'setsfunctions.intersects(list<A>, list<A>): bool': (_: unknown, list: List, other: List) =>
      itemsOf(other).some((item) => contains(list, [item])),
    'setsfunctions.equivalent(list<A>, list<A>): bool': (_: unknown, list: List, other: List) =>
      contains(list, other) && contains(other, list),
  },
};

function range(length: number): bigint[] {
  spend(length);
  return Array.from({ length }, (_, index) => BigInt(index));
}

function checked(value: bigint): bigint {
  return BigInt.asIntN(64, value) === value ? value : fail('integer overflow');
}

/** Returns a negative number if `a` comes first. Strings are compared by code point. */
export function compareItems(a: Comparable, b: Comparable): number {
  if (a instanceof CelDuration && b instanceof CelDuration) return sign(a.value, b.value);
  if (a instanceof CelTimestamp && b instanceof CelTimestamp) return sign(a.value, b.value);
  if (a instanceof Uint8Array && b instanceof Uint8Array) return Buffer.compare(a, b);
  if (typeof a === 'string' && typeof b === 'string') {
    return a === b ? 0 : Buffer.compare(Buffer.from(a, 'utf8'), Buffer.from(b, 'utf8'));
  }
  return sign(a.valueOf() as bigint, b.valueOf() as bigint);
}

function sign(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function extreme(name: string, list: Iterable<Comparable>, direction: 1 | -1): Comparable {
  const [first, ...rest] = itemsOf(list);
  if (first === undefined) fail(`${name} called on empty list`);
  return rest.reduce((best, item) => (compareItems(item, best) * direction > 0 ? item : best), first);
}

function distinctItems(list: List): unknown[] {
  const kept: unknown[] = [];
  for (const item of list) {
    spend(kept.length);
    if (!kept.some((each) => equals(each, item))) kept.push(item);
  }
  return kept;
}

function slice(list: List, start: bigint, end: bigint): readonly unknown[] {
  const items = itemsOf(list);
  if (start < 0n || end < 0n) fail(`cannot slice(${start}, ${end}), negative indexes not supported`);
  if (start > end) fail(`cannot slice(${start}, ${end}), start index must be less than or equal to end index`);
  if (end > BigInt(items.length)) fail(`cannot slice(${start}, ${end}), list is length ${items.length}`);
  return items.slice(Number(start), Number(end));
}

function flatten(list: List, depth: bigint): unknown[] {
  if (depth < 0n) fail('level must be non-negative');
  return itemsOf(list).flatMap((item) => (depth > 0n && isList(item) ? flatten(item, depth - 1n) : [item]));
}

function isList(value: unknown): value is List {
  return Array.isArray(value) || value instanceof Set;
}

function contains(list: List, sub: List): boolean {
  const items = itemsOf(list);
  return itemsOf(sub).every((item) => {
    spend(items.length);
    return items.some((each) => equals(each, item));
  });
}
