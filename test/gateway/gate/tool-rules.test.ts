// Tests the rules for names of tools: the names that clients can call, and the same names in previews.

import { describe, expect, it, test } from 'vitest';
import { shownTools } from '#contracts/virtual-model/tools.ts';
import { type ToolSettings, toolRules, unknownTool } from '#gateway/gate/tools.ts';
import { type Random, seeded } from '../../harness/random.ts';

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
