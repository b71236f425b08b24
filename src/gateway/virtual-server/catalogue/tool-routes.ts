// Finds the member and the definition of every tool name.

import type { MemberTools, RoutedTool, Routes } from '#contracts/virtual-model/aggregate.ts';
import { isObject } from '#std/json.ts';
import { objectOf } from '../../backends/bridge/messages.ts';
import { patchTool } from '../../gate/lists.ts';
import { renameAppUris } from '../../wire/extensions/app-marks.ts';
import { OWN_MEMBER } from '../own-tools/own-member.ts';
import type { OwnTools, ReachableTools, ToolRoute } from '../own-tools/ports.ts';
import type { Apps } from './apps.ts';
import type { OfferedItem } from './lists.ts';
import type { AggregationRules, OfferingMember, ShownOverride } from './rules.ts';

export function memberTools({ name, lists }: OfferingMember, { shown }: AggregationRules): MemberTools {
  const { filter, overrides, hidden } = shown(name);
  const names = Object.fromEntries(
    Object.entries(overrides).flatMap(([own, override]) => (override.name === undefined ? [] : [[own, override.name]])),
  );
  const tools = [...byKey(lists.lists.tools).keys()].map((key) => ({ origin: key, name: key, member: '' }));
  return { workload: name, tools, filter, names, hidden };
}

export function createToolRoutes(
  members: readonly OfferingMember[],
  { shown }: AggregationRules,
  { routed, outdone }: Pick<Routes, 'routed' | 'outdone'>,
  apps: Apps,
): ReachableTools {
  const items = new Map(members.map(({ name, lists }) => [name, byKey(lists.lists.tools)]));
  const tools = new Map<string, ToolRoute>();
  const dotted = new Map<string, ToolRoute>();

  function routeOf({ member, own, advertised }: RoutedTool, name: string): ToolRoute | undefined {
    const found = items.get(member)?.get(own);
    if (found === undefined) return undefined;
    const override = shown(member).overrides[own];
    const definition = renameAppUris(definitionOf(found, name, override), (uri) => apps.uriOf({ member, own: uri }));
    const route = { name, member, own, advertised, makesTasks: mayMakeTasks(definition), definition };
    // If an override renames another tool to this name, the renamed tool has precedence.
    if (override?.name !== undefined) dotted.set(`${member}.${override.name}`, route);
    if (!dotted.has(`${member}.${own}`)) dotted.set(`${member}.${own}`, route);
    return route;
  }

  for (const tool of routed) {
    const route = routeOf(tool, tool.name);
    if (route !== undefined) tools.set(tool.name, route);
  }
  for (const tool of outdone) routeOf({ ...tool, advertised: false }, `${tool.member}.${tool.own}`);
  return { tools, find: (name) => tools.get(name) ?? dotted.get(name) };
}

/** Adds the virtual server's own tools, which replace tools of members with the same names. */
export function withOwnTools(
  reachable: ReachableTools,
  own: Pick<OwnTools, 'offer'> | undefined,
): ReadonlyMap<string, ToolRoute> {
  const offered = own?.offer(reachable);
  if (offered === undefined) return reachable.tools;
  const routes = offered.map(({ name, definition }): [string, ToolRoute] => {
    return [name, { name, member: OWN_MEMBER, own: name, advertised: true, makesTasks: false, definition }];
  });
  return new Map([...reachable.tools, ...routes]);
}

function mayMakeTasks(definition: Buffer): boolean {
  if (!definition.includes('"taskSupport"')) return false;
  const { execution } = objectOf(definition, { start: 0, end: definition.length });
  return isObject(execution) && (execution.taskSupport === 'optional' || execution.taskSupport === 'required');
}

/** Returns items by key. Of several items with the same key, uses the first. */
function byKey(items: readonly OfferedItem[]): ReadonlyMap<string, OfferedItem> {
  const map = new Map<string, OfferedItem>();
  for (const item of items) if (!map.has(item.key)) map.set(item.key, item);
  return map;
}

function definitionOf({ page, item, key }: OfferedItem, name: string, override: ShownOverride | undefined): Buffer {
  if (override === undefined && name === key) return page.subarray(item.span.start, item.span.end);
  return patchTool(page, item, name, { ...override, name: name === key ? undefined : name });
}
