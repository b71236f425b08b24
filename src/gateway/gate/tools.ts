// Decides which tools of a server clients may see and call, and under which names, by the filter and overrides of its
// configuration. Lists and calls use the same function, so that clients can call exactly the tools that they see.

import type { ToolOverride } from '#contracts/tool-override.ts';
import type { Static } from '#std/json-schema.ts';
import type { Denial } from './codes.ts';

export type Override = Static<typeof ToolOverride>;

/** Settings `tools_filter` and `tools_override` of the configuration. */
export interface ToolSettings {
  /** Names that clients see. If absent or empty, clients see all tools. */
  readonly tools_filter?: readonly string[];
  /** Overrides by the tools' own names. */
  readonly tools_override?: Readonly<Record<string, Override>>;
}

export interface ToolRules {
  /** Returns the own name of the tool that clients call by `clientName`, or undefined if no tool has this name. */
  ownName(clientName: string): string | undefined;
  /** Returns the name under which clients see the tool, or undefined if the tool is hidden from them. */
  clientName(ownName: string): string | undefined;
  overrideOf(ownName: string): Override | undefined;
  /** Tools that are hidden because another tool has the same name, for the operator. */
  readonly clashes: readonly ToolClash[];
}

interface ToolClash {
  readonly name: string;
  /** Own names; the first tool keeps the name. */
  readonly tools: readonly string[];
}

/** Returns the rules, or undefined if all tools pass unchanged. */
export function toolRules({ tools_filter = [], tools_override = {} }: ToolSettings): ToolRules | undefined {
  const overrides = new Map(Object.entries(tools_override));
  if (tools_filter.length === 0 && overrides.size === 0) return undefined;
  const filter = tools_filter.length === 0 ? undefined : new Set(tools_filter);
  const renames = renamedTools(overrides);
  const renamed = new Set([...renames.values()].flat());

  function ownName(clientName: string): string | undefined {
    if (filter !== undefined && !filter.has(clientName)) return undefined;
    const [own] = renames.get(clientName) ?? [];
    // The old name of a renamed tool is not in use.
    return own ?? (renamed.has(clientName) ? undefined : clientName);
  }

  function clientName(own: string): string | undefined {
    const name = overrides.get(own)?.name ?? own;
    return ownName(name) === own ? name : undefined;
  }

  const clashes = [...renames].flatMap(([name, tools]) => (tools.length > 1 ? [{ name, tools }] : []));
  return { ownName, clientName, overrideOf: (own) => overrides.get(own), clashes };
}

/** Returns the own names of renamed tools by their new name, sorted. */
function renamedTools(overrides: ReadonlyMap<string, Override>): ReadonlyMap<string, readonly string[]> {
  const renamed = [...overrides.keys()].filter((own) => (overrides.get(own)?.name ?? own) !== own).sort();
  return Map.groupBy(renamed, (own) => overrides.get(own)?.name ?? own);
}

const NAME_SHOWN = 200;

/**
 * Refuses a call of an unknown tool. Servers answer such a call with HTTP 200 in both eras (MCP 2025-11-25 and
 * 2026-07-28, tools, Error Handling: unknown tools are protocol errors, -32602).
 */
export function unknownTool(name: string): Denial {
  return {
    httpStatus: 200,
    rpcCode: -32602,
    code: 'tool-unknown',
    message: `Unknown tool: ${name.slice(0, NAME_SHOWN)}`,
  };
}
