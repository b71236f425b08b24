import { expect, it } from 'vitest';
import { listElements, objectMembers } from '../../wire/json-walk.ts';
import { addMembers, applyPatches, changeMembers, dropElements } from './edit.ts';

function change(text: string, dropped: readonly string[], added: readonly string[] = []): string {
  const bytes = Buffer.from(text);
  const patches = changeMembers(bytes, 0, (key) => dropped.includes(key), added);
  return patches === undefined ? 'no object' : applyPatches(bytes, patches).toString();
}

it.each([
  { text: '{}', dropped: ['a'], added: [], result: '{}' },
  { text: '{"a":1}', dropped: ['a'], added: [], result: '{}' },
  { text: '{"a":1,"b":2}', dropped: ['a'], added: [], result: '{"b":2}' },
  { text: '{"a":1,"b":2}', dropped: ['b'], added: [], result: '{"a":1}' },
  { text: '{"a":1, "b":2 , "c":3}', dropped: ['b', 'c'], added: [], result: '{"a":1}' },
  { text: '{"a":1,"b":2,"c":3}', dropped: ['a', 'c'], added: [], result: '{"b":2}' },
  { text: '{"a":1,"b":2,"c":3}', dropped: ['a', 'b', 'c'], added: [], result: '{}' },
  { text: '{ "a" : {"x":"}"} , "b":[1,"]"] }', dropped: ['a'], added: ['"n":1'], result: '{"n":1, "b":[1,"]"] }' },
  { text: '{"a":1}', dropped: ['a'], added: ['"n":1', '"m":2'], result: '{"n":1,"m":2}' },
  { text: '{}', dropped: [], added: ['"n":1'], result: '{"n":1}' },
  { text: '{"a":1', dropped: [], added: [], result: 'no object' },
  { text: '[1]', dropped: [], added: [], result: 'no object' },
])('removes $dropped from $text and adds $added', ({ text, dropped, added, result }) => {
  expect(change(text, dropped, added)).toBe(result);
});

it('gives valid JSON with the expected members for every subset of dropped members', () => {
  const text = '{"a":"x\\"}", "b":[{}], "c":{"d":[1, 2]},"e":-1.5e3 ,"\\u0066":null}';
  const whole: Record<string, unknown> = JSON.parse(text);
  const keys = Object.keys(whole);
  for (let mask = 0; mask < 2 ** keys.length; mask += 1) {
    const dropped = keys.filter((_, index) => (mask >> index) % 2 === 1);
    const expected = Object.fromEntries(Object.entries(whole).filter(([key]) => !dropped.includes(key)));
    expect(JSON.parse(change(text, dropped))).toEqual(expected);
    expect(JSON.parse(change(text, dropped, ['"new":1']))).toEqual({ new: 1, ...expected });
  }
});

it('drops elements of a list with their commas', () => {
  const bytes = Buffer.from('[1, {"a":[2]} ,"x",4]');
  const elements = listElements(bytes, 0) ?? [];
  expect(elements).toHaveLength(4);
  for (let mask = 0; mask < 16; mask += 1) {
    const patches = dropElements(elements, (index) => (mask >> index) % 2 === 1);
    const kept = [1, { a: [2] }, 'x', 4].filter((_, index) => (mask >> index) % 2 === 0);
    expect(JSON.parse(applyPatches(bytes, patches).toString())).toEqual(kept);
  }
});

it('inserts into an object that contains only white space', () => {
  const bytes = Buffer.from('{ \n}');
  expect(applyPatches(bytes, [addMembers(bytes, 0, '"a":1')]).toString()).toBe('{"a":1 \n}');
});

it('reads keys with escapes and refuses bytes that are not a JSON object', () => {
  expect(objectMembers(Buffer.from('{"\\u0061":1}'), 0)?.map(({ key }) => key)).toEqual(['a']);
  for (const text of ['', '{', '{"a"}', '{"a":}', '{"a":1,}', '{"a":1 "b":2}', '{"a":[1}', '{"a":"x}']) {
    expect(objectMembers(Buffer.from(text), 0), text).toBeUndefined();
  }
});
