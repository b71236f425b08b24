// Which tools of a server clients may see and call, and under which names: filter and overrides of its configuration. Lists
// and calls follow from one function, so that what is shown is what can be called.

import type { ToolOverride } from '#contracts/tool-override.ts';
import type { Static } from '#std/json-schema.ts';
import type { Denial } from './codes.ts';

export type Override = Static<typeof ToolOverride>;

/** `tools_filter` and `tools_override` of the configuration. */
export interface ToolSettings {
  /** By the names that clients see. Absent or empty: all. */
  readonly tools_filter?: readonly string[];
  /** By the tools' own names. */
  readonly tools_override?: Readonly<Record<string, Override>>;
}

export interface ToolRules {
  /** Own name of the tool that clients call so; undefined where there is none. */
  ownName(clientName: string): string | undefined;
  /** Name under which clients see the tool; undefined where they do not. */
  clientName(ownName: string): string | undefined;
  overrideOf(ownName: string): Override | undefined;
  /** Tools that are not shown because another one has been given the same name: for the operator. */
  readonly clashes: readonly ToolClash[];
}

interface ToolClash {
  readonly name: string;
  /** Own names; the first one has the name. */
  readonly tools: readonly string[];
}

/** Undefined where all tools pass as they are. */
export function toolRules({ tools_filter = [], tools_override = {} }: ToolSettings): ToolRules | undefined {
  const overrides = new Map(Object.entries(tools_override));
  if (tools_filter.length === 0 && overrides.size === 0) return undefined;
  const filter = tools_filter.length === 0 ? undefined : new Set(tools_filter);
  const renames = renamedTools(overrides);
  const renamed = new Set([...renames.values()].flat());

  function ownName(clientName: string): string | undefined {
    if (filter !== undefined && !filter.has(clientName)) return undefined;
    const [own] = renames.get(clientName) ?? [];
    // The old name of a renamed tool is no one's.
    return own ?? (renamed.has(clientName) ? undefined : clientName);
  }

  function clientName(own: string): string | undefined {
    const name = overrides.get(own)?.name ?? own;
    return ownName(name) === own ? name : undefined;
  }

  const clashes = [...renames].flatMap(([name, tools]) => (tools.length > 1 ? [{ name, tools }] : []));
  return { ownName, clientName, overrideOf: (own) => overrides.get(own), clashes };
}

/** Own names of the tools that are renamed, by their new name; of several the first by own name comes first. */
function renamedTools(overrides: ReadonlyMap<string, Override>): ReadonlyMap<string, readonly string[]> {
  const renamed = [...overrides.keys()].filter((own) => (overrides.get(own)?.name ?? own) !== own).sort();
  return Map.groupBy(renamed, (own) => overrides.get(own)?.name ?? own);
}

const NAME_SHOWN = 200;

/**
 * For a call of what is no tool. Servers answer it with HTTP 200 in both eras (MCP 2025-11-25 and 2026-07-28, tools, Error
 * Handling: unknown tools are protocol errors, -32602).
 */
export function unknownTool(name: string): Denial {
  return {
    httpStatus: 200,
    rpcCode: -32602,
    code: 'tool-unknown',
    message: `Unknown tool: ${name.slice(0, NAME_SHOWN)}`,
  };
}
