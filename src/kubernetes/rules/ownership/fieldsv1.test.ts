// Tests the form in which servers store sets of fields.

import { describe, expect, test } from 'vitest';
import type { JsonObject } from '#std/json.ts';
import { equalSets, paths, setOf } from './fieldset.ts';
import { formatFields, parseFields, surelyHold } from './fieldsv1.ts';

function members(fields: JsonObject): string[] | undefined {
  const set = parseFields(fields);
  return set && paths(set).map((path) => path.join(' '));
}

const PARSED: readonly { fields: JsonObject; members: string[] | undefined; reason: string }[] = [
  { fields: {}, members: [], reason: 'nothing is owned' },
  { fields: { 'f:a': {} }, members: ['f:a'], reason: '{} is a member' },
  { fields: { 'f:a': { 'f:b': {} } }, members: ['f:a f:b'], reason: 'a parent is not a member' },
  { fields: { 'f:a': { '.': {}, 'f:b': {} } }, members: ['f:a', 'f:a f:b'], reason: 'unless it has a dot' },
  { fields: { 'f:a': { '.': {} } }, members: ['f:a'], reason: 'a dot alone is a member without children' },
  { fields: { 'f:.': {} }, members: ['f:.'], reason: 'a field may be called dot' },
  { fields: { 'f:': {} }, members: ['f:'], reason: 'a field may have no name' },
  { fields: { 'k:{"b":1,"a":"x"}': {} }, members: ['k:{"a":"x","b":1}'], reason: 'names of keys are sorted' },
  { fields: { 'k:{ "a" : "x" }': {} }, members: ['k:{"a":"x"}'], reason: 'white space in JSON does not matter' },
  { fields: { 'k:{"a":"\\u003cb\\u003e"}': {} }, members: ['k:{"a":"<b>"}'], reason: 'Go escapes < and >' },
  { fields: { 'v:"a\\u0026b"': {} }, members: ['v:"a&b"'], reason: 'Go escapes & in values too' },
  { fields: { 'v:1': {}, 'v:true': {}, 'i:2': {} }, members: ['v:1', 'v:true', 'i:2'], reason: 'other elements' },
  { fields: { 'x:new': {}, 'f:a': {} }, members: ['f:a'], reason: 'an element of an unknown kind is left out' },
  { fields: { 'f:a': { 'x:new': {} } }, members: ['f:a'], reason: 'an element with only unknown children is a member' },
  { fields: { 'f:a': 7 }, members: ['f:a'], reason: 'anything but an object has no children' },
  { fields: { 'k:{"a"': {} }, members: undefined, reason: 'broken JSON' },
  { fields: { 'f:a': { 'v:x': {} } }, members: undefined, reason: 'broken JSON further down' },
];

test.each(PARSED)('$fields has $members: $reason', ({ fields, members: expected }) => {
  expect(members(fields)).toEqual(expected);
});

/** Sets exactly as the API server writes them. */
const STORED: readonly { text: string; reason: string }[] = [
  { text: '{"f:metadata":{"f:labels":{".":{},"f:app":{}}}}', reason: 'the dot comes first' },
  { text: '{"f:a":{},"f:b":{"f:c":{}},"f:d":{}}', reason: 'members and parents in one order' },
  {
    text: '{"k:{\\"containerPort\\":80,\\"protocol\\":\\"TCP\\"}":{".":{},"f:containerPort":{}},"k:{\\"containerPort\\":8080,\\"protocol\\":\\"TCP\\"}":{}}',
    reason: 'numbers in keys sort as numbers',
  },
  { text: '{"k:{\\"name\\":\\"A\\\\u003c\\\\u0026\\\\u003e\\"}":{}}', reason: 'HTML characters are escaped twice' },
  { text: '{"k:{\\"name\\":\\"a\\\\u2028b\\"}":{}}', reason: 'line separators are escaped' },
  { text: '{"k:{\\"name\\":\\"a\\\\u0008b\\\\u000cc\\\\nd\\"}":{}}', reason: 'backspace and form feed in long form' },
  { text: '{"k:{\\"name\\":\\"a\\\\\\\\b\\"}":{}}', reason: 'a backslash before a letter is not an escape' },
  { text: '{"f:<&>":{}}', reason: 'field names are not escaped' },
  { text: '{"v:1":{},"v:10":{},"v:\\"a\\"":{},"v:true":{}}', reason: 'numbers, strings, booleans' },
  { text: '{"f:z":{},"k:{\\"a\\":1}":{},"v:1":{},"i:0":{}}', reason: 'fields, keys, values, positions' },
  { text: '{"k:{\\"a\\":1}":{},"k:{\\"a\\":1,\\"b\\":1}":{},"k:{\\"b\\":0}":{}}', reason: 'shorter keys first' },
];

describe('formatting', () => {
  test.each(STORED)('$text is unchanged after parsing and formatting: $reason', ({ text }) => {
    const set = parseFields(JSON.parse(text) as JsonObject);
    expect(set && JSON.stringify(formatFields(set))).toBe(text);
  });

  test('siblings are sorted', () => {
    const set = parseFields({ 'v:2': {}, 'f:b': {}, 'k:{"n":10}': {}, 'f:a': {}, 'k:{"n":9}': {}, 'v:1': {} });
    expect(Object.keys(formatFields(set ?? new Map()))).toEqual([
      'f:a',
      'f:b',
      'k:{"n":9}',
      'k:{"n":10}',
      'v:1',
      'v:2',
    ]);
  });

  test('two notations of a set are equal', () => {
    const a = parseFields({ 'k:{"a":"<","b":1}': { '.': {} } });
    const b = parseFields({ 'k:{"b":1,"a":"\\u003c"}': {} });
    expect(a && b && equalSets(a, b)).toBe(true);
  });
});

describe('comparing without parsing', () => {
  const set = setOf([['f:a'], ['f:b', 'k:{"name":"x"}'], ['f:b', 'k:{"name":"x"}', 'f:name']]);

  test.each<{ fields: JsonObject; surely: boolean; reason: string }>([
    { fields: { 'f:a': {}, 'f:b': { 'k:{"name":"x"}': { '.': {}, 'f:name': {} } } }, surely: true, reason: 'the same' },
    {
      fields: { 'f:b': { 'k:{"name":"x"}': { 'f:name': {}, '.': {} } }, 'f:a': {} },
      surely: true,
      reason: 'any order',
    },
    { fields: { 'f:a': {} }, surely: false, reason: 'less' },
    {
      fields: { 'f:a': {}, 'f:b': { 'k:{"name":"x"}': { '.': {}, 'f:name': {}, 'f:more': {} } } },
      surely: false,
      reason: 'more',
    },
    { fields: { 'f:a': {}, 'f:b': { 'k:{"name":"x"}': { 'f:name': {} } } }, surely: false, reason: 'no member' },
    {
      fields: { 'f:a': {}, 'f:b': { '.': {}, 'k:{"name":"x"}': { '.': {}, 'f:name': {} } } },
      surely: false,
      reason: 'a member too many',
    },
    {
      fields: { 'f:a': {}, 'f:b': { 'k:{ "name": "x" }': { '.': {}, 'f:name': {} } } },
      surely: false,
      reason: 'the same in another spelling: that takes parsing',
    },
    {
      fields: { 'f:a': { 'f:c': {} }, 'f:b': { 'k:{"name":"x"}': { '.': {}, 'f:name': {} } } },
      surely: false,
      reason: 'deeper',
    },
  ])('$fields: $reason', ({ fields, surely }) => {
    expect(surelyHold(fields, set)).toBe(surely);
  });

  test('returns true only for equal sets, for every stored form', () => {
    for (const fields of [...PARSED.map((row) => row.fields), ...STORED.map(({ text }) => JSON.parse(text))]) {
      const own = parseFields(fields);
      for (const other of PARSED.flatMap((row) => parseFields(row.fields) ?? [])) {
        if (surelyHold(fields, other)) expect(own && equalSets(own, other)).toBe(true);
      }
    }
  });
});
