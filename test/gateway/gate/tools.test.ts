// Tests lists of tools as clients see them: the filter, the overrides, and the hints that are stored for policies.

import { describe, expect, it } from 'vitest';
import { createKnownTools } from '#gateway/gate/known-tools.ts';
import { filterList } from '#gateway/gate/lists.ts';
import { type ToolSettings, toolRules } from '#gateway/gate/tools.ts';
import { scanMessage } from '#gateway/wire/scan.ts';
import { policiesOf } from './policies.ts';

const LIST = `{"jsonrpc":"2.0","id":1,"result":{"tools":[
  {"name":"read","title":"Read","description":"Reads.","inputSchema":{"type":"object","big":9007199254740993},"annotations":{"title":"R","readOnlyHint":true,"x":1}},
  {"inputSchema":{}, "name" : "drop" , "_meta":{"name":"meta"}},
  {"annotations":null,"name":"odd","description":null}
],"nextCursor":"c"}}`;

function filtered(body: string, given: ToolSettings): string {
  const bytes = Buffer.from(body);
  const scanned = scanMessage(bytes);
  if (!scanned.ok || scanned.message.kind !== 'response' || scanned.message.result === undefined)
    throw new Error('no result');
  const list = filterList(bytes, scanned.message.result, 'tools', { claims: {}, rules: toolRules(given) });
  return list.ok ? list.body.toString() : `refused: ${list.detail}`;
}

function toolsIn(body: string) {
  return JSON.parse(body).result.tools;
}

describe('lists', () => {
  it('passes the bytes if nothing changes', () => {
    expect(filtered(LIST, {})).toBe(LIST);
    expect(filtered(LIST, { tools_filter: ['read', 'drop', 'odd'] })).toBe(LIST);
  });

  it('changes the fields of an override and keeps all other bytes', () => {
    const override = {
      name: 'read_file',
      description: 'Reads "a" file.\n',
      annotations: { title: '', readOnlyHint: false, openWorldHint: true },
    };
    const body = filtered(LIST, { tools_override: { read: override } });
    expect(body).toContain('"big":9007199254740993');
    expect(body).toContain('"nextCursor":"c"');
    expect(toolsIn(body)[0]).toEqual({
      name: 'read_file',
      title: 'Read',
      description: 'Reads "a" file.\n',
      inputSchema: { type: 'object', big: 9007199254740992 },
      annotations: { title: '', readOnlyHint: false, openWorldHint: true, x: 1 },
    });
    expect(toolsIn(body).slice(1)).toEqual(toolsIn(LIST).slice(1));
  });

  it('adds fields of an override that the tool lacks', () => {
    const override = { description: 'Drops.', annotations: { destructiveHint: true } };
    const [, drop, odd] = toolsIn(
      filtered(LIST, { tools_override: { drop: { ...override, name: 'remove' }, odd: override } }),
    );
    expect(drop).toEqual({
      name: 'remove',
      description: 'Drops.',
      annotations: { destructiveHint: true },
      inputSchema: {},
      _meta: { name: 'meta' },
    });
    expect(odd).toEqual({ name: 'odd', description: 'Drops.', annotations: { destructiveHint: true } });
  });

  it('an override of a tool that does not exist changes nothing', () => {
    expect(filtered(LIST, { tools_override: { gone: { name: 'here', description: 'x' } } })).toBe(LIST);
  });

  it('hides a tool whose name now belongs to a renamed tool', () => {
    const tools = toolsIn(filtered(LIST, { tools_override: { read: { name: 'drop' } } }));
    expect(
      tools.map(({ name, inputSchema }: { name: string; inputSchema?: { type?: string } }) => [
        name,
        inputSchema?.type,
      ]),
    ).toEqual([
      ['drop', 'object'],
      ['odd', undefined],
    ]);
  });

  it.each([
    ['a duplicate name', '{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"read","name":"drop"}]}}'],
    ['a name in another case', '{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"read","Name":"drop"}]}}'],
    ['tools twice', '{"jsonrpc":"2.0","id":1,"result":{"tools":[],"tools":[{"name":"drop"}]}}'],
    ['no tools', '{"jsonrpc":"2.0","id":1,"result":{}}'],
    ['tools that are no list', '{"jsonrpc":"2.0","id":1,"result":{"tools":{"name":"drop"}}}'],
    ['an item that is not an object', '{"jsonrpc":"2.0","id":1,"result":{"tools":["drop"]}}'],
    ['a name that is not a text', '{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":["drop"]}]}}'],
  ])('refuses a list with %s', (_reason, body) => {
    expect(filtered(body, { tools_filter: ['read'] })).toMatch(/^refused|-32/);
  });

  it('leaves out a tool without a name', () => {
    expect(
      toolsIn(
        filtered('{"jsonrpc":"2.0","id":1,"result":{"tools":[{"title":"x"},{"name":"read"}]}}', {
          tools_filter: ['read'],
        }),
      ),
    ).toEqual([{ name: 'read' }]);
  });
});

describe('hints', () => {
  function learn(body: string, given: ToolSettings, policy: string) {
    const known = createKnownTools();
    const bytes = Buffer.from(body);
    const scanned = scanMessage(bytes);
    if (!scanned.ok || scanned.message.kind !== 'response' || scanned.message.result === undefined)
      throw new Error('no result');
    const view = { claims: { sub: 'alice' }, rules: toolRules(given), policies: policiesOf([policy]), known };
    const list = filterList(bytes, scanned.message.result, 'tools', view);
    return { known, list };
  }
  const READ_ONLY = 'permit(principal, action, resource) when { resource has readOnlyHint && resource.readOnlyHint };';

  it('stores hints as clients see them, including hints of hidden tools', () => {
    const { known, list } = learn(
      LIST,
      { tools_override: { drop: { name: 'remove', annotations: { readOnlyHint: false } } } },
      READ_ONLY,
    );
    expect(known.hintsOf('read')).toEqual({ readOnlyHint: true });
    expect(known.hintsOf('remove')).toEqual({ readOnlyHint: false });
    expect(known.hintsOf('odd')).toEqual({});
    expect(known.hintsOf('drop')).toBeUndefined();
    expect(list.ok && toolsIn(list.body.toString()).map(({ name }: { name: string }) => name)).toEqual(['read']);
  });

  it('stores hints that the current policies do not read', () => {
    const { known } = learn(LIST, {}, 'permit(principal, action, resource);');
    expect(known.hintsOf('read')).toEqual({ readOnlyHint: true });
  });

  it('ignores hints that are not booleans', () => {
    const { known } = learn(
      '{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"a","annotations":{"readOnlyHint":"true","idempotentHint":true}}]}}',
      {},
      READ_ONLY,
    );
    expect(known.hintsOf('a')).toEqual({ idempotentHint: true });
  });

  it('reports whether another page follows', () => {
    expect(learn(LIST, {}, READ_ONLY).list).toMatchObject({ lastPage: false });
    expect(learn(LIST.replace(',"nextCursor":"c"', ''), {}, READ_ONLY).list).toMatchObject({ lastPage: true });
  });

  it('a list for one caller is not cached for other callers', () => {
    const cached = '{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"a"}],"ttlMs":1000,"cacheScope":"public"}}';
    const { list } = learn(cached, {}, 'permit(principal, action, resource);');
    expect(list.ok && JSON.parse(list.body.toString()).result).toEqual({
      tools: [{ name: 'a' }],
      ttlMs: 1000,
      cacheScope: 'private',
    });
  });

  it('knows when the list must be requested', () => {
    const known = createKnownTools();
    expect(known.complete).toBe(false);
    known.learn('a', { readOnlyHint: true });
    known.markComplete();
    expect(known.complete).toBe(true);
    known.markStale();
    expect(known.complete).toBe(false);
    expect(known.hintsOf('a')).toEqual({ readOnlyHint: true });
  });
});
