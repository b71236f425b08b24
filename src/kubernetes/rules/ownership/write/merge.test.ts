// Tests the structured merge, especially the order of items.

import { expect, test } from 'vitest';
import type { Json } from '#std/json.ts';
import { typeOf } from '../../../../../test/kubernetes/rules/thing.ts';
import { keyType, type MergeType } from '../../openapi.ts';
import { mergeValues } from './merge.ts';

const SPEC = field(typeOf({ apiVersion: 'things.example/v1', kind: 'Thing' }), 'spec');

function field(type: MergeType, key: string): MergeType {
  const found = type.map && keyType(type.map, key);
  if (found === undefined) throw new Error(`no field ${key}`);
  return found;
}

const VALUES: readonly { live: Json; applied: Json; merged: Json; reason: string }[] = [
  { live: { replicas: 1 }, applied: { replicas: 2 }, merged: { replicas: 2 }, reason: 'scalars are replaced' },
  { live: { replicas: 1 }, applied: { image: 'i' }, merged: { replicas: 1, image: 'i' }, reason: 'others stay' },
  { live: { image: 'i' }, applied: { image: null }, merged: { image: null }, reason: 'null replaces a scalar' },
  {
    live: { nested: { x: 1 } },
    applied: { nested: { y: 'b' } },
    merged: { nested: { x: 1, y: 'b' } },
    reason: 'granular maps merge',
  },
  { live: { nested: { x: 1 } }, applied: { nested: null }, merged: { nested: { x: 1 } }, reason: 'null leaves them' },
  { live: { nested: { x: 1 } }, applied: { nested: {} }, merged: { nested: { x: 1 } }, reason: '{} leaves them' },
  { live: { nested: {} }, applied: { nested: null }, merged: { nested: null }, reason: 'null replaces an empty map' },
  {
    live: { selector: { a: '1' } },
    applied: { selector: { b: '2' } },
    merged: { selector: { b: '2' } },
    reason: 'atomic maps are replaced',
  },
  {
    live: { steps: [{ name: 'a' }] },
    applied: { steps: [] },
    merged: { steps: [] },
    reason: 'atomic lists are replaced',
  },
  { live: { tags: ['a'] }, applied: { tags: [] }, merged: { tags: ['a'] }, reason: 'sets are not emptied' },
  {
    live: { free: { a: [1], b: { c: 1 } } },
    applied: { free: { a: [2], b: { d: 2 } } },
    merged: { free: { a: [2], b: { c: 1, d: 2 } } },
    reason: 'free-form: lists are atomic, maps merge',
  },
  {
    live: { free: { a: 1 } },
    applied: { free: { a: { b: 2 } } },
    merged: { free: { a: { b: 2 } } },
    reason: 'a new shape',
  },
  {
    live: { ports: [{ port: 80, name: 'a' }] },
    applied: { ports: [{ port: 80, protocol: 'TCP' }] },
    merged: { ports: [{ port: 80, name: 'a', protocol: 'TCP' }] },
    reason: 'items match by the default of an absent key',
  },
  {
    live: { gone: 1 },
    applied: { image: 'i' },
    merged: { gone: 1, image: 'i' },
    reason: 'undeclared living keys stay',
  },
];

test.each(VALUES)('$live with $applied is $merged: $reason', ({ live, applied, merged }) => {
  expect(mergeValues(live, applied, SPEC)).toEqual(merged);
});

/** Each text is a set of words. The same rule orders lists with keys. */
const ORDERS: readonly { live: string; applied: string; merged: string; reason: string }[] = [
  { live: 'a b c', applied: 'a c', merged: 'a b c', reason: 'living items stay between their neighbours' },
  { live: 'a b c', applied: 'c a', merged: 'b c a', reason: 'the applied order wins' },
  { live: 'a b', applied: 'x a', merged: 'x a b', reason: 'a new item before a shared one' },
  { live: 'a b', applied: 'a x', merged: 'a b x', reason: 'a new item after a shared one comes after living ones' },
  { live: 'a b', applied: 'x', merged: 'a b x', reason: 'a new item without a shared one comes last' },
  { live: '', applied: 'b a', merged: 'b a', reason: 'nothing lives' },
  { live: 'b a', applied: '', merged: 'b a', reason: 'nothing is applied' },
  { live: 'a b c d', applied: 'd x b', merged: 'a c d x b', reason: 'moved items, a new one and living ones' },
  { live: 'a b c', applied: 'x a y b', merged: 'x a y b c', reason: 'new items before shared ones' },
  { live: 'a b c', applied: 'c b a', merged: 'c b a', reason: 'reversed' },
];

test.each(ORDERS)('"$live" with "$applied" is "$merged": $reason', ({ live, applied, merged }) => {
  const words = (text: string): string[] => text.split(' ').filter(Boolean);
  expect(mergeValues(words(live), words(applied), field(SPEC, 'tags'))).toEqual(words(merged));
});

test('an applied item replaces an item that exists twice, without a merge', () => {
  const live = [
    { port: 80, name: 'first' },
    { port: 80, name: 'second' },
    { port: 81, name: 'other' },
  ];
  expect(mergeValues(live, [{ port: 80 }], field(SPEC, 'ports'))).toEqual([{ port: 80 }, { port: 81, name: 'other' }]);
});

test('items that exist twice and are not applied are both kept', () => {
  expect(mergeValues(['a', 'a', 'b'], ['b', 'c'], field(SPEC, 'tags'))).toEqual(['a', 'a', 'b', 'c']);
});
