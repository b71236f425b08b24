import { describe, expect, test } from 'vitest';
import { jsonFault, jsonFind, jsonMembers, linePlaces } from './json-place.ts';

describe('finds the first mistake of a text that JSON.parse refuses', () => {
  test.each([
    { text: '', at: 'the end', reason: 'an empty text is not JSON' },
    { text: '<html></html>', at: 0, reason: 'HTML is not JSON' },
    { text: '{"a":1,}', at: 7, reason: 'a comma must be followed by a member' },
    { text: '[1,]', at: 3, reason: 'a comma must be followed by an item' },
    { text: '[1 2]', at: 3, reason: 'items are separated by commas' },
    { text: '{"a" 1}', at: 5, reason: 'a name is followed by a colon' },
    { text: "{'a':1}", at: 1, reason: 'names need double quotes' },
    { text: '{"a":', at: 'the end', reason: 'the value is missing' },
    { text: '{"a":[1', at: 'the end', reason: 'brackets must be closed' },
    { text: '"abc', at: 'the end', reason: 'strings must be closed' },
    { text: '"a\nb"', at: 2, reason: 'control characters must be escaped' },
    { text: '"a\\x"', at: 2, reason: 'the escape is unknown' },
    { text: '"\\u12"', at: 1, reason: 'a Unicode escape has four digits' },
    { text: '{"a": 01}', at: 6, reason: 'numbers have no leading zero' },
    { text: '{"a": tru}', at: 6, reason: 'the word is unknown' },
    { text: '{} x', at: 3, reason: 'a text contains one value' },
  ])('$text: $reason', ({ text, at }) => {
    expect(() => JSON.parse(text)).toThrow(SyntaxError);
    expect(jsonFault(text)?.offset).toBe(at === 'the end' ? text.length : at);
  });

  test.each(['{}', ' [] ', '{"a":[1,-2.5e+3,true,false,null,"\\u00e9\\n"],"b":{"c":{}}}', '"x"', '0'])(
    'finds no mistake in %s',
    (text) => {
      expect(JSON.parse(text)).toBeDefined();
      expect(jsonFault(text)).toBeUndefined();
    },
  );

  test('reports a deeply nested text instead of a stack overflow', () => {
    expect(jsonFault('['.repeat(200_000))?.message).toContain('nested deeper');
  });
});

describe('lists members in the order of the text', () => {
  test('lists all members with a repeated name, with the places of their values', () => {
    const text = '{ "a": {"x": "}"}, "b\\n": [1, 2] , "a":3 }';
    expect(jsonMembers(text).map(({ key, valueStart, valueEnd }) => [key, text.slice(valueStart, valueEnd)])).toEqual([
      ['a', '{"x": "}"}'],
      ['b\n', '[1, 2]'],
      ['a', '3'],
    ]);
  });

  test('uses the index as key of a list item', () => {
    const text = '["a", {"b":1}, -1.5]';
    expect(jsonMembers(text).map(({ key, offset }) => [key, offset])).toEqual([
      ['0', 1],
      ['1', 6],
      ['2', 15],
    ]);
  });

  test('lists no members of scalars and of empty values', () => {
    expect([jsonMembers('"x"'), jsonMembers('{ }'), jsonMembers('[]')]).toEqual([[], [], []]);
  });

  test('skips a value that is nested deeper than the stack', () => {
    const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;
    expect(jsonMembers(`{"a":${deep},"b":1}`).map(({ key }) => key)).toEqual(['a', 'b']);
  });
});

describe('finds the offset of a pointer', () => {
  const text = '{\n  "a/b": [\n    {"c": 1},\n    {"d": 2}\n  ]\n}';

  test.each([
    { pointer: '', place: '1:1', reason: 'the whole text' },
    { pointer: '/a~1b', place: '2:3', reason: 'the name of a member' },
    { pointer: '/a~1b/1', place: '4:5', reason: 'an item' },
    { pointer: '/a~1b/1/d', place: '4:6', reason: 'a member inside' },
    { pointer: '/a~1b/1/x/y', place: '4:5', reason: 'the object that lacks the member' },
    { pointer: '/x', place: '1:1', reason: 'the object that lacks the member' },
  ])('$pointer is at $place: $reason', ({ pointer, place }) => {
    const { line, column } = linePlaces(text)(jsonFind(text, pointer).offset);
    expect(`${line}:${column}`).toBe(place);
  });
});
