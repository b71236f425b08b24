// Renames the tools of one server, and selects the tools that clients see.

/** A tool as clients see it. */
export interface Tool {
  /** Identifies the tool even if it is renamed. */
  readonly origin: string;
  /** Name of the tool for clients. */
  readonly name: string;
  /**
   * The workload of the tool. Empty for a server outside virtual servers. Not set if the tool belongs to no workload.
   */
  readonly member?: string;
  /**
   * If true, the entry represents all tools of a server whose list is unknown. A tool can have the same name as the
   * entry.
   */
  readonly any?: true;
}

/** The name of an entry that represents all tools of a server. */
const ANY = '*';
/** Represents all tools of a server outside virtual servers. */
export const ANY_TOOL: Tool = { origin: ANY, name: ANY, member: '', any: true };

export interface ShownTools {
  /** Names of the tools that clients see, after renaming. If empty, clients see all tools. */
  readonly filter: readonly string[];
  /** New names, by the original names of the tools. */
  readonly names: Readonly<Record<string, string>>;
}

/**
 * Renames tools, then selects the tools in `filter`. If the list of tools is unknown, returns a tool for each name in
 * `filter`.
 */
export function shownTools(tools: readonly Tool[], { filter, names }: ShownTools): readonly Tool[] {
  const renamed = renamedTools(tools, names);
  const unknown = renamed.find(({ any }) => any);
  if (filter.length === 0) return renamed;
  const listed = new Set(filter);
  if (unknown === undefined) return renamed.filter(({ name }) => listed.has(name));
  const byName = new Map(renamed.toReversed().map((tool) => [tool.name, tool]));
  return filter.map((name) => byName.get(name) ?? toolOf(name, name, unknown.member));
}

/** Renames tools. If the list of tools is unknown, adds the tools that `names` contains. */
export function renamedTools(tools: readonly Tool[], names: ShownTools['names']): readonly Tool[] {
  const renamed = tools.map((tool) => (tool.any ? tool : { ...tool, name: renamedTo(names, tool.name) }));
  const unknown = renamed.find(({ any }) => any);
  if (unknown === undefined) return renamed;
  const known = renamed.filter(({ any }) => !any);
  const said = Object.entries(names).map(([origin, name]) => toolOf(origin, name, unknown.member));
  return [...distinctTools([...known, ...said]), unknown];
}

function toolOf(origin: string, name: string, member: string | undefined): Tool {
  return { origin, name, member };
}

function renamedTo(names: ShownTools['names'], name: string): string {
  return Object.hasOwn(names, name) ? (names[name] ?? name) : name;
}

function distinctTools(tools: readonly Tool[]): readonly Tool[] {
  return [...new Map(tools.map((tool) => [tool.origin, tool])).values()];
}
