// How the tools of one server are named and filtered on their way to clients. Pure.

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
const ANY = '*';
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
  const renamed = renamedTools(tools, names);
  const unknown = renamed.find(({ any }) => any);
  if (filter.length === 0) return renamed;
  const wanted = new Set(filter);
  if (unknown === undefined) return renamed.filter(({ name }) => wanted.has(name));
  const byName = new Map(renamed.toReversed().map((tool) => [tool.name, tool]));
  return filter.map((name) => byName.get(name) ?? toolOf(name, name, unknown.member));
}

/** Under their new names, none filtered. */
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
