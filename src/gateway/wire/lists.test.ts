// Tests reading and rebuilding the results of list methods by bytes.

import { describe, expect, test } from 'vitest';
import { type ListResult, listItems, rebuildList } from './lists.ts';
import type { Span } from './message.ts';
import type { ListKey } from './methods.ts';
import { jsonString } from './patch.ts';
import { scanMessage } from './scan.ts';

function resultSpan(body: Buffer): Span {
  const scanned = scanMessage(body);
  if (!scanned.ok || scanned.message.kind !== 'response' || scanned.message.result === undefined)
    throw new Error('none');
  return scanned.message.result;
}

function answer(result: string): Buffer {
  return Buffer.from(`{"jsonrpc":"2.0","id":1,"result":${result}}`);
}

function read(body: Buffer, key: ListKey): ListResult {
  const list = listItems(body, resultSpan(body), key);
  if (!list.ok) throw new Error(list.message);
  return list;
}

const TOOLS = answer(
  '{"resultType":"complete","x":9007199254740993,"tools":[ {"name":"a","x":1e400,"description":"first"} ,\n{"title":"B","name":"b\\u00e9",' +
    '"annotations":{"readOnlyHint":true},"inputSchema":{"type":"object"},"y":12345678901234567890.0}, {"name":"c"} ],"ttlMs":5,"nextCursor":"n"}',
);

describe('listItems', () => {
  test('returns the positions of the items and their parts', () => {
    const list = read(TOOLS, 'tools');
    const part = (span: Span | undefined) =>
      span === undefined ? undefined : TOOLS.toString('utf8', span.start, span.end);
    expect(list.items.map(({ name }) => name?.value)).toEqual(['a', 'bé', 'c']);
    expect(part(list.items[0]?.span)).toBe('{"name":"a","x":1e400,"description":"first"}');
    expect(part(list.items[0]?.description)).toBe('"first"');
    expect(part(list.items[1]?.name?.span)).toBe('"b\\u00e9"');
    expect(part(list.items[1]?.title)).toBe('"B"');
    expect(part(list.items[1]?.annotations)).toBe('{"readOnlyHint":true}');
    expect(part(list.items[1]?.inputSchema)).toBe('{"type":"object"}');
    expect(part(list.ttlMs)).toBe('5');
    expect(part(list.nextCursor)).toBe('"n"');
    expect(list.cacheScope).toBeUndefined();
  });

  test('reads prompts, resources, templates and empty lists', () => {
    expect(read(answer('{"prompts":[{"name":"p"}]}'), 'prompts').items[0]?.name?.value).toBe('p');
    expect(read(answer('{"resources":[{"uri":"u","name":"n"}]}'), 'resources').items[0]?.uri?.value).toBe('u');
    const templates = read(answer('{"resourceTemplates":[{"uriTemplate":"u{x}","name":"n"}]}'), 'resourceTemplates');
    expect(templates.items[0]?.uriTemplate?.value).toBe('u{x}');
    expect(read(answer('{"tools":[ ]}'), 'tools').items).toEqual([]);
  });

  const unreadable: readonly (readonly [string, string, string])[] = [
    ['no array', '{}', 'the result has no array tools'],
    ['another type', '{"tools":{}}', 'the result has no array tools'],
    ['a null', '{"tools":null}', 'the result has no array tools'],
    ['a result that is not an object', '[]', 'the result is not an object'],
    ['an item that is not an object', '{"tools":[{"name":"a"},5]}', 'item 1 is not an object'],
    ['a name that is not a string', '{"tools":[{"name":5}]}', 'item 0: its name or URI is not a string'],
    ['a name with half a surrogate pair', '{"tools":[{"name":"\\ud800"}]}', 'item 0: its name or URI is not a string'],
    ['the array twice', '{"tools":[],"tools":[{"name":"a"}]}', 'the result: a key occurs twice'],
    ['the array in another case', '{"tools":[],"Tools":[{"name":"a"}]}', 'the result: a key occurs twice, in another'],
    ['a name twice', '{"tools":[{"name":"a","name":"b"}]}', 'item 0: a key occurs twice'],
    ['a name in another case', '{"tools":[{"name":"a","Name":"b"}]}', 'item 0: a key occurs twice'],
    ['a name with an escape', '{"tools":[{"name":"a","n\\u0061me":"b"}]}', 'item 0: a key occurs twice'],
    ['an unknown key twice', '{"tools":[{"name":"a","x":1,"x":2}]}', 'item 0: a key occurs twice'],
  ];
  for (const [reason, result, message] of unreadable) {
    test(`refuses ${reason}`, () => {
      const body = answer(result);
      const list = listItems(body, resultSpan(body), 'tools');
      expect(list.ok ? 'read' : list.message.slice(0, message.length)).toBe(message);
    });
  }
});

describe('rebuildList', () => {
  function rebuilt(body: Buffer, key: ListKey, keep: (name: string) => boolean, options = { private: false }): string {
    const list = read(body, key);
    const kept = list.items.filter(({ name }) => keep(name?.value ?? '')).map((item) => ({ item }));
    const text = rebuildList(body, list, kept, options).toString();
    JSON.parse(text);
    return text;
  }

  test('drops items and keeps all other bytes, including the digits of large numbers', () => {
    expect(rebuilt(TOOLS, 'tools', (name) => name !== 'c')).toBe(
      '{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","x":9007199254740993,"tools":[' +
        '{"name":"a","x":1e400,"description":"first"},{"title":"B","name":"b\\u00e9","annotations":{"readOnlyHint":true},' +
        '"inputSchema":{"type":"object"},"y":12345678901234567890.0}],"ttlMs":5,"nextCursor":"n"}}',
    );
  });

  test('keeps no item, one item or all items', () => {
    const body = answer('{"tools":[{"name":"a"},{"name":"b"}]}');
    expect(rebuilt(body, 'tools', () => false)).toBe(answer('{"tools":[]}').toString());
    expect(rebuilt(body, 'tools', (name) => name === 'b')).toBe(answer('{"tools":[{"name":"b"}]}').toString());
    expect(rebuilt(body, 'tools', () => true)).toBe(body.toString());
    expect(rebuilt(answer('{"tools":[]}'), 'tools', () => true)).toBe(answer('{"tools":[]}').toString());
  });

  test('patches items in place, in the given order', () => {
    const list = read(TOOLS, 'tools');
    const [first, , third] = list.items;
    if (first?.name === undefined || first.description === undefined || third === undefined)
      throw new Error('no items');
    const patches = [
      { span: first.name.span, bytes: jsonString('renamed "x"') },
      { span: first.description, bytes: jsonString('other') },
    ];
    const text = rebuildList(TOOLS, list, [{ item: third }, { item: first, patches }], { private: false }).toString();
    expect(text).toContain(
      '"tools":[{"name":"c"},{"name":"renamed \\"x\\"","x":1e400,"description":"other"}],"ttlMs":5',
    );
  });

  test('sets the cache scope to private, whether the result already has a cache scope or not', () => {
    const all = () => true;
    expect(rebuilt(answer('{"cacheScope":"public","tools":[]}'), 'tools', all, { private: true })).toBe(
      answer('{"cacheScope":"private","tools":[]}').toString(),
    );
    expect(rebuilt(answer('{"tools":[],"cacheScope" : 5}'), 'tools', all, { private: true })).toBe(
      answer('{"tools":[],"cacheScope" : "private"}').toString(),
    );
    expect(rebuilt(answer('{ "tools":[]}'), 'tools', all, { private: true })).toBe(
      answer('{"cacheScope":"private", "tools":[]}').toString(),
    );
  });
});
