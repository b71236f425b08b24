// Combines the tools of several servers: renames them, resolves equal names, and then selects the tools that clients
// see. Hidden tools take part in all steps but the last. Previews and the running server share this code.

import { fitName } from './short-names.ts';
import { renamedTools, type Shown, shownTools, type Tool } from './tools.ts';

export interface MemberTools extends Shown {
  readonly workload: string;
  /** The tools that the member offers, unchanged. */
  readonly tools: readonly Tool[];
  /** Whether all tools of the member are hidden from clients. */
  readonly hidden: boolean;
}

export interface ConflictResolution {
  readonly strategy: 'prefix' | 'priority' | 'manual';
  readonly prefixFormat: string;
  readonly priorityOrder: readonly string[];
}

/** A tool with its unique name among the tools of all members. */
export interface RoutedTool extends Tool {
  readonly member: string;
  /** Name of the tool at the member. */
  readonly own: string;
  /** Whether clients see the tool. Workflows can also call hidden tools. */
  readonly advertised: boolean;
}

export interface Aggregated {
  /** The tools that clients see, in the order of members. */
  readonly tools: readonly Tool[];
  /** Conflicting names of several tools. With `manual` no tool gets such a name, otherwise the first tool gets it. */
  readonly clashes: readonly string[];
}

export interface Routes extends Aggregated {
  readonly routed: readonly RoutedTool[];
  /** Tools left out because another tool already has the same name. */
  readonly outdone: readonly RoutedTool[];
}

export function aggregatedTools(members: readonly MemberTools[], resolution: ConflictResolution): Aggregated {
  const { tools, clashes } = routeTools(members, resolution);
  return { tools, clashes };
}

export function routeTools(members: readonly MemberTools[], resolution: ConflictResolution): Routes {
  const named = inOrder(members, resolution).flatMap((member) => namedTools(member, resolution));
  // An entry for an unknown list never conflicts: its tools may have any names.
  const key = ({ any, origin, name }: Tool) => (any ? `any ${origin}` : `name ${name}`);
  const routed: RoutedTool[] = [];
  const outdone: RoutedTool[] = [];
  const clashes: string[] = [];
  for (const group of Map.groupBy(named, key).values()) {
    const [first, ...others] = group;
    if (first === undefined) continue;
    const clash = others.length > 0 && resolution.strategy !== 'priority';
    if (clash && group.some(({ advertised }) => advertised)) clashes.push(first.name);
    if (clash && resolution.strategy === 'manual') outdone.push(...group);
    else {
      routed.push(first);
      outdone.push(...others);
    }
  }
  return { tools: routed.filter(({ advertised }) => advertised), clashes, routed, outdone };
}

/**
 * Returns the tools of one member with their names. If a tool is renamed to the name of another tool, it replaces that
 * tool.
 */
function namedTools(member: MemberTools, resolution: ConflictResolution): readonly RoutedTool[] {
  const { workload, tools, names, filter, hidden } = member;
  const renamed = renamedTools(tools, names);
  const given = new Set(Object.entries(names).flatMap(([own, name]) => (own === name ? [] : [name])));
  const left = renamed.filter(({ any, origin, name }) => any || origin !== name || !given.has(name));
  const shown = shownTools(tools, member);
  const seen = new Set(hidden ? [] : shown.map(({ origin }) => origin));
  // An unknown list may contain any tools that the filter names.
  const known = new Set(left.map(({ origin }) => origin));
  const said = shown.filter(({ origin }) => !known.has(origin) && !given.has(origin));
  return [...left, ...said].map((tool) => ({
    ...tool,
    own: tool.origin,
    origin: `${workload}/${tool.origin}`,
    name: finalName(workload, tool, resolution),
    member: workload,
    advertised: seen.has(tool.origin) && (tool.any !== true || filter.length === 0),
  }));
}

/** Sorts members. For `priority`, members in the given order come first, and the remaining members follow by name. */
function inOrder(
  members: readonly MemberTools[],
  { strategy, priorityOrder }: ConflictResolution,
): readonly MemberTools[] {
  const byName = members.toSorted((a, b) => (a.workload < b.workload ? -1 : 1));
  if (strategy !== 'priority') return byName;
  const ranks = new Map(priorityOrder.map((workload, index) => [workload, index]));
  const rank = ({ workload }: MemberTools) => ranks.get(workload) ?? priorityOrder.length;
  return byName.toSorted((a, b) => rank(a) - rank(b));
}

function finalName(workload: string, { name, any }: Tool, resolution: ConflictResolution): string {
  const full = conflictName(workload, name, resolution);
  return any ? full : fitName(full);
}

/**
 * Returns the name with the prefix of the strategy. It is also for prompts, which have no overrides. The first of
 * several prompts with one name wins.
 */
export function conflictName(
  workload: string,
  name: string,
  { strategy, prefixFormat }: Pick<ConflictResolution, 'strategy' | 'prefixFormat'>,
): string {
  return strategy === 'prefix' ? prefixFormat.replaceAll('{workload}', workload) + name : name;
}
