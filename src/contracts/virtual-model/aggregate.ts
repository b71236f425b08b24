// Combines the tools of several servers: renames them, handles equal names, and then selects the tools that clients
// see. Tools that clients do not see are also renamed and can have a conflicting name. Previews and the running virtual
// server use this code.

import { fitName } from './short-names.ts';
import { renamedTools, type ShownTools, shownTools, type Tool } from './tools.ts';

export interface MemberTools extends ShownTools {
  readonly workload: string;
  /** The tools of the member with their original names. */
  readonly tools: readonly Tool[];
  /** True if clients see no tool of the member. */
  readonly hidden: boolean;
}

export interface ConflictResolution {
  readonly strategy: 'prefix' | 'priority' | 'manual';
  readonly prefixFormat: string;
  readonly priorityOrder: readonly string[];
}

/** A tool of a member, with its final name. */
export interface RoutedTool extends Tool {
  readonly member: string;
  /** Name of the tool on the member. */
  readonly own: string;
  /** True if clients see the tool. Workflows can also call tools that clients do not see. */
  readonly advertised: boolean;
}

export interface Aggregated {
  /** The tools that clients see, in the order of members. */
  readonly tools: readonly Tool[];
  /**
   * Names that several tools have, if clients would see one of these tools. Always empty for `priority`. For `manual`,
   * no tool gets the name. For `prefix`, the first tool gets the name.
   */
  readonly clashes: readonly string[];
}

export interface Routes extends Aggregated {
  readonly routed: readonly RoutedTool[];
  /** Tools that were left out because several tools have the same name. */
  readonly outdone: readonly RoutedTool[];
}

export function aggregatedTools(members: readonly MemberTools[], resolution: ConflictResolution): Aggregated {
  const { tools, clashes } = routeTools(members, resolution);
  return { tools, clashes };
}

export function routeTools(members: readonly MemberTools[], resolution: ConflictResolution): Routes {
  const named = inOrder(members, resolution).flatMap((member) => namedTools(member, resolution));
  // An entry for a server whose list of tools is unknown has no conflict, because the names are unknown.
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
 * Returns the tools of one member with their final names. If a tool gets the name of another tool of the member, the
 * other tool is left out, unless it is renamed too.
 */
function namedTools(member: MemberTools, resolution: ConflictResolution): readonly RoutedTool[] {
  const { workload, tools, names, filter, hidden } = member;
  const renamed = renamedTools(tools, names);
  const given = new Set(Object.entries(names).flatMap(([own, name]) => (own === name ? [] : [name])));
  const left = renamed.filter(({ any, origin, name }) => any || origin !== name || !given.has(name));
  const shown = shownTools(tools, member);
  const seen = new Set(hidden ? [] : shown.map(({ origin }) => origin));
  // If the list of tools is unknown, each name in the filter becomes a tool.
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

/** Sorts members by name. For `priority`, members in `priorityOrder` come first, in its order. */
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

/** Returns the name, with a prefix if the strategy is `prefix`. Also used for prompts. */
export function conflictName(
  workload: string,
  name: string,
  { strategy, prefixFormat }: Pick<ConflictResolution, 'strategy' | 'prefixFormat'>,
): string {
  return strategy === 'prefix' ? prefixFormat.replaceAll('{workload}', workload) + name : name;
}
