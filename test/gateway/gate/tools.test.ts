// Tests which tools clients see and can call: listed tools are exactly the callable tools, and previews show these
// tools.

import { describe, expect, it, test } from 'vitest';
import { shownTools } from '#contracts/virtual-model/tools.ts';
import { createKnownTools } from '#gateway/gate/known-tools.ts';
import { filterList } from '#gateway/gate/lists.ts';
import { type ToolSettings, toolRules, unknownTool } from '#gateway/gate/tools.ts';
import { scanMessage } from '#gateway/wire/scan.ts';
import { type Random, seeded } from '../../harness/random.ts';
import { policiesOf } from './policies.ts';

function rulesOf(settings: ToolSettings) {
  const rules = toolRules(settings);
  if (rules === undefined) throw new Error('no rules');
  return rules;
}

describe('calls', () => {
  const rename = { tools_override: { read: { name: 'read_file' }, drop: { description: 'Drops.' } } };

  test.each<readonly [reason: string, settings: ToolSettings, name: string, own: string | undefined]>([
    ['a renamed tool by its new name', rename, 'read_file', 'read'],
    ['a renamed tool by its old name', rename, 'read', undefined],
    ['a tool with another description', rename, 'drop', 'drop'],
    ['a tool without settings', rename, 'other', 'other'],
    ['a tool in the filter', { tools_filter: ['a'] }, 'a', 'a'],
    ['a tool that is not', { tools_filter: ['a'] }, 'b', undefined],
    ['a filter by the new name', { ...rename, tools_filter: ['read_file'] }, 'read_file', 'read'],
    ['a filter by the old name', { ...rename, tools_filter: ['read'] }, 'read_file', undefined],
    ['the old name in the filter', { ...rename, tools_filter: ['read'] }, 'read', undefined],
    ['an empty filter', { ...rename, tools_filter: [] }, 'other', 'other'],
    ['names that change places', { tools_override: { a: { name: 'b' }, b: { name: 'a' } } }, 'a', 'b'],
    ['a name that another tool has', { tools_override: { a: { name: 'b' } } }, 'b', 'a'],
    ['two tools with one name', { tools_override: { z: { name: 'x' }, a: { name: 'x' } } }, 'x', 'a'],
    ['a new name that is the old one', { tools_override: { a: { name: 'a' } } }, 'a', 'a'],
    ['a name of every object', { tools_override: { a: { name: 'b' } } }, 'constructor', 'constructor'],
  ])('%s', (_reason, settings, name, own) => {
    expect(rulesOf(settings).ownName(name)).toBe(own);
  });

  it('reports tools that are hidden because of a duplicate name', () => {
    expect(rulesOf({ tools_override: { z: { name: 'x' }, a: { name: 'x' }, b: { name: 'y' } } }).clashes).toEqual([
      { name: 'x', tools: ['a', 'z'] },
    ]);
  });

  it('needs no rules if all tools pass unchanged', () => {
    expect(toolRules({})).toBeUndefined();
    expect(toolRules({ tools_filter: [], tools_override: {} })).toBeUndefined();
  });

  it('responds to a call of an unknown tool as servers do, with a text of limited length', () => {
    expect(unknownTool('drop')).toEqual({
      httpStatus: 200,
      rpcCode: -32602,
      code: 'tool-unknown',
      message: 'Unknown tool: drop',
    });
    expect(unknownTool('x'.repeat(100_000)).message.length).toBeLessThan(300);
  });
});

function settings(random: Random, names: readonly string[]): ToolSettings {
  const some = names.filter(() => random.chance(0.5));
  const targets = [...names, 'n1', 'n2'].toSorted(() => (random.chance(0.5) ? 1 : -1));
  const override = Object.fromEntries(
    some.map((own) => [own, random.chance(0.7) ? { name: targets.pop() ?? own } : { description: 'd' }]),
  );
  return {
    tools_filter: random.chance(0.5) ? [...names, 'n1'].filter(() => random.chance(0.5)) : undefined,
    tools_override: override,
  };
}

it.each(Array.from({ length: 200 }, (_, seed) => seed))('lists and calls the tools in previews, seed %i', (seed) => {
  const random = seeded(seed);
  const tools = ['a', 'b', 'c', 'd'].map((name) => ({ origin: name, name }));
  const given = settings(random, ['a', 'b', 'c', 'd', 'gone']);
  const rules = toolRules(given);
  const names = Object.fromEntries(
    Object.entries(given.tools_override ?? {}).flatMap(([own, { name }]) => (name === undefined ? [] : [[own, name]])),
  );
  const shown = shownTools(tools, { filter: given.tools_filter ?? [], names });
  const renamed = new Set(Object.entries(names).flatMap(([own, name]) => (own === name ? [] : [name])));
  for (const { origin, name } of shown) {
    // If a tool is renamed to the name of another tool, previews show both tools. Clients see only the renamed tool.
    const hidden = renamed.has(name) && (names[origin] ?? origin) === origin;
    expect(rules === undefined ? name : rules.clientName(origin), JSON.stringify(given)).toBe(
      hidden ? undefined : name,
    );
    if (!hidden) expect(rules === undefined ? name : rules.ownName(name), JSON.stringify(given)).toBe(origin);
  }
  const visible = new Set(shown.map(({ origin }) => origin));
  for (const { origin } of tools.filter(({ origin: own }) => !visible.has(own))) {
    expect(rules?.clientName(origin), JSON.stringify(given)).toBeUndefined();
  }
});

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
