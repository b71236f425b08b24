// How the tools of a server are named, filtered and told apart on their way to clients (document 2, MCPToolConfig;
// document 3, AggregationConfig). Pure; knows nothing about who offers them.

/** One tool as clients see it. */
export interface Tool {
  /** What it is, whatever it is called: the same tool before and after a change. */
  readonly origin: string;
  /** What clients call it. */
  readonly name: string;
  /** The workload that offers it; empty for a server of its own, absent where it is none of theirs. */
  readonly member?: string;
  /** True: it stands for all tools of a server whose list is not known. A real one may be called the same. */
  readonly any?: true;
}

/** Name of what stands for all tools of a server whose list is not known. */
export const ANY = '*';
/** The same for a server of its own. */
export const ANY_TOOL: Tool = { origin: ANY, name: ANY, member: '', any: true };

export interface Shown {
  /** Names as clients see them; empty lets all through. */
  readonly filter: readonly string[];
  /** New names by the tools' own. */
  readonly names: Readonly<Record<string, string>>;
}

/** First tools are renamed, then the names that came of it are filtered. Of an unknown list, what settings name is known. */
export function shownTools(tools: readonly Tool[], { filter, names }: Shown): readonly Tool[] {
  const renamed = tools.map((tool) => (tool.any ? tool : { ...tool, name: renamedTo(names, tool.name) }));
  const unknown = renamed.find(({ any }) => any);
  if (unknown === undefined) {
    const wanted = new Set(filter);
    return filter.length === 0 ? renamed : renamed.filter(({ name }) => wanted.has(name));
  }
  const { member } = unknown;
  const known = renamed.filter(({ any }) => !any);
  const said = Object.entries(names).map(([origin, name]) => toolOf(origin, name, member));
  const all = distinctTools([...known, ...said]);
  if (filter.length === 0) return [...all, unknown];
  const byName = new Map(all.toReversed().map((tool) => [tool.name, tool]));
  return filter.map((name) => byName.get(name) ?? toolOf(name, name, member));
}

function toolOf(origin: string, name: string, member: string | undefined): Tool {
  return { origin, name, ...(member === undefined ? {} : { member }) };
}

function renamedTo(names: Shown['names'], name: string): string {
  return Object.hasOwn(names, name) ? (names[name] ?? name) : name;
}

function distinctTools(tools: readonly Tool[]): readonly Tool[] {
  return [...new Map(tools.map((tool) => [tool.origin, tool])).values()];
}

export interface MemberTools extends Shown {
  readonly workload: string;
  /** As the member itself offers them. */
  readonly tools: readonly Tool[];
  /** Clients see none of them. */
  readonly hidden: boolean;
}

export interface ConflictResolution {
  readonly strategy: 'prefix' | 'priority' | 'manual';
  readonly prefixFormat: string;
  readonly priorityOrder: readonly string[];
}

export interface Aggregated {
  readonly tools: readonly Tool[];
  /** Names that several members want and nobody may have: with `manual` the server does not start. */
  readonly clashes: readonly string[];
}

/** The tools of several members as those of one server. Hidden ones are told apart from nobody. */
export function aggregatedTools(members: readonly MemberTools[], resolution: ConflictResolution): Aggregated {
  const seen = inOrder(
    members.filter(({ hidden }) => !hidden),
    resolution,
  ).flatMap((member) =>
    shownTools(member.tools, member).map((tool) => ({
      ...tool,
      origin: `${member.workload}/${tool.origin}`,
      name: shownName(member.workload, tool.name, resolution),
      member: member.workload,
    })),
  );
  // Nobody knows whether unknown ones have equal names.
  const key = ({ any, origin, name }: Tool) => (any ? `any ${origin}` : `name ${name}`);
  const groups = [...Map.groupBy(seen, key).values()];
  const tools = groups.flatMap(([first]) => first ?? []);
  const clashes = groups.filter(({ length }) => length > 1).flatMap(([first]) => first?.name ?? []);
  return { tools, clashes: resolution.strategy === 'priority' ? [] : clashes };
}

/** For `priority` the first of the order wins; whoever is not in it comes after, by name. */
function inOrder(
  members: readonly MemberTools[],
  { strategy, priorityOrder }: ConflictResolution,
): readonly MemberTools[] {
  const byName = members.toSorted((a, b) => (a.workload < b.workload ? -1 : 1));
  if (strategy !== 'priority') return byName;
  const rank = ({ workload }: MemberTools): number => {
    const index = priorityOrder.indexOf(workload);
    return index < 0 ? priorityOrder.length : index;
  };
  return byName.toSorted((a, b) => rank(a) - rank(b));
}

function shownName(workload: string, name: string, { strategy, prefixFormat }: ConflictResolution): string {
  return strategy === 'prefix' ? prefixFormat.replaceAll('{workload}', workload) + name : name;
}
