// Tests the combination of several servers: names, conflicts, then hidden tools.

import { describe, expect, it } from 'vitest';
import { type ConflictResolution, type MemberTools, routeTools } from '#contracts/virtual-model/aggregate.ts';
import { NAME_MAX } from '#contracts/virtual-model/short-names.ts';
import { ANY_TOOL } from '#contracts/virtual-model/tools.ts';

function member(workload: string, names: readonly string[], more: Partial<MemberTools> = {}): MemberTools {
  const tools = names.map((name) => ({ origin: name, name, member: '' }));
  return { workload, tools, filter: [], names: {}, hidden: false, ...more };
}

function resolution(strategy: ConflictResolution['strategy'], priorityOrder: readonly string[] = []) {
  return { strategy, prefixFormat: '{workload}_', priorityOrder };
}

function seen(members: readonly MemberTools[], how: ConflictResolution): readonly string[] {
  return routeTools(members, how).tools.map(({ name, origin }) => `${name} = ${origin}`);
}

describe('equal names', () => {
  const members = [member('wiki', ['find', 'read']), member('mail', ['find', 'send'])];

  it('get a prefix', () => {
    expect(seen(members, resolution('prefix'))).toEqual([
      'mail_find = mail/find',
      'mail_send = mail/send',
      'wiki_find = wiki/find',
      'wiki_read = wiki/read',
    ]);
  });

  it('go to the first in the order, and then by name', () => {
    expect(seen(members, resolution('priority', ['wiki']))).toEqual([
      'find = wiki/find',
      'read = wiki/read',
      'send = mail/send',
    ]);
    expect(seen(members, resolution('priority', ['other']))).toContain('find = mail/find');
  });

  it('belong to no tool if overrides do not resolve them', () => {
    const routes = routeTools(members, resolution('manual'));
    expect(routes.tools.map(({ name }) => name)).toEqual(['send', 'read']);
    expect(routes.clashes).toEqual(['find']);
    expect(routes.outdone.map(({ origin }) => origin)).toEqual(['mail/find', 'wiki/find']);
  });

  it('are resolved after overrides', () => {
    const [wiki, mail] = [member('wiki', ['find'], { names: { find: 'search' } }), member('mail', ['find'])];
    expect(seen([wiki, mail], resolution('manual'))).toEqual(['find = mail/find', 'search = wiki/find']);
  });

  it('of hidden tools count as well', () => {
    const [wiki, mail] = [member('wiki', ['find'], { hidden: true }), member('mail', ['find', 'send'])];
    const routes = routeTools([wiki, mail], resolution('priority', ['wiki']));
    expect(routes.tools.map(({ name }) => name)).toEqual(['send']);
    expect(routes.routed.map(({ name, origin, advertised }) => [name, origin, advertised])).toEqual([
      ['find', 'wiki/find', false],
      ['send', 'mail/send', true],
    ]);
  });
});

it('a filter uses the names after overrides, and hides the other tools from clients only', () => {
  const wiki = member('wiki', ['find', 'read'], { names: { find: 'search' }, filter: ['search'] });
  const routes = routeTools([wiki], resolution('prefix'));
  expect(routes.tools.map(({ name }) => name)).toEqual(['wiki_search']);
  expect(routes.routed.map(({ name, own }) => [name, own])).toEqual([
    ['wiki_search', 'find'],
    ['wiki_read', 'read'],
  ]);
});

it('a tool that takes the name of another one hides it', () => {
  const wiki = member('wiki', ['find', 'read'], { names: { find: 'read' } });
  expect(seen([wiki], resolution('priority'))).toEqual(['read = wiki/find']);
});

it('if a list is unknown, only the tools that settings name are known', () => {
  const unknown = member('wiki', [], { tools: [ANY_TOOL], names: { find: 'search' }, filter: ['search', 'read'] });
  expect(seen([unknown], resolution('prefix'))).toEqual(['wiki_search = wiki/find', 'wiki_read = wiki/read']);
  const open = member('wiki', [], { tools: [ANY_TOOL], names: { find: 'search' } });
  expect(seen([open], resolution('prefix'))).toEqual(['wiki_search = wiki/find', 'wiki_* = wiki/*']);
});

it('long names are shortened the same way each time, and stay different', () => {
  const long = 'x'.repeat(60);
  const names = routeTools([member('wiki', [`${long}a`, `${long}b`])], resolution('prefix')).tools.map(
    ({ name }) => name,
  );
  expect(new Set(names).size).toBe(2);
  expect(names.every((name) => name.length === NAME_MAX && name.startsWith('wiki_xxx'))).toBe(true);
  const again = routeTools([member('wiki', [`${long}a`])], resolution('prefix')).tools.map(({ name }) => name);
  expect(again).toEqual(names.slice(0, 1));
});
