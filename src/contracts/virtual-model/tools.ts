// Names and filters the tools of one server for clients.

/** A tool as clients see it. */
export interface Tool {
  /** The identity of the tool, which is the same before and after a change of its name. */
  readonly origin: string;
  /** Name of the tool for clients. */
  readonly name: string;
  /**
   * The workload that offers the tool. Empty for a server outside virtual servers, absent if the tool belongs to no
   * workload.
   */
  readonly member?: string;
  /** If set, the entry stands for all tools of a server whose list is unknown. A real tool may have the same name. */
  readonly any?: true;
}

/** The name of the entry for all tools of a server whose list is unknown. */
const ANY = '*';
/** The entry for a server outside virtual servers. */
export const ANY_TOOL: Tool = { origin: ANY, name: ANY, member: '', any: true };

export interface Shown {
  /** Names for clients. If empty, all tools are shown. */
  readonly filter: readonly string[];
  /** New names by the tools' own names. */
  readonly names: Readonly<Record<string, string>>;
}

/**
 * Renames tools, then filters the resulting names. For an unknown list, only the tools that the settings name are
 * returned by name.
 */
export function shownTools(tools: readonly Tool[], { filter, names }: Shown): readonly Tool[] {
  const renamed = renamedTools(tools, names);
  const unknown = renamed.find(({ any }) => any);
  if (filter.length === 0) return renamed;
  const listed = new Set(filter);
  if (unknown === undefined) return renamed.filter(({ name }) => listed.has(name));
  const byName = new Map(renamed.toReversed().map((tool) => [tool.name, tool]));
  return filter.map((name) => byName.get(name) ?? toolOf(name, name, unknown.member));
}

/** Returns the tools with their new names, unfiltered. */
export function renamedTools(tools: readonly Tool[], names: Shown['names']): readonly Tool[] {
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

function renamedTo(names: Shown['names'], name: string): string {
  return Object.hasOwn(names, name) ? (names[name] ?? name) : name;
}

function distinctTools(tools: readonly Tool[]): readonly Tool[] {
  return [...new Map(tools.map((tool) => [tool.origin, tool])).values()];
}
