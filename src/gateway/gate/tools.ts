// Applies the filter and the overrides of the configuration to tools. Lists and calls use the same function, so clients
// can call exactly the tools that they see.

import type { ToolOverride } from '#contracts/tool-override.ts';
import type { Static } from '#std/json-schema.ts';
import type { Denial } from './codes.ts';

export type Override = Static<typeof ToolOverride>;

/** Settings `tools_filter` and `tools_override` of the configuration. */
export interface ToolSettings {
  /** Names under which clients get the permitted tools. If absent or empty, clients get all tools. */
  readonly tools_filter?: readonly string[];
  /** Overrides by the server's own names of the tools. */
  readonly tools_override?: Readonly<Record<string, Override>>;
}

export interface ToolRules {
  /** Returns the server's name of the tool that clients call `clientName`. undefined if no tool has this name. */
  ownName(clientName: string): string | undefined;
  /** Returns the clients' name of the tool. undefined if the tool is hidden. */
  clientName(ownName: string): string | undefined;
  overrideOf(ownName: string): Override | undefined;
  /** Tools that are hidden because another tool has the same name, for the operator. */
  readonly clashes: readonly ToolClash[];
}

interface ToolClash {
  readonly name: string;
  /** The server's own names. The first tool is visible under the name. */
  readonly tools: readonly string[];
}

/** Returns the rules. undefined if all tools pass unchanged. */
export function toolRules({ tools_filter = [], tools_override = {} }: ToolSettings): ToolRules | undefined {
  const overrides = new Map(Object.entries(tools_override));
  if (tools_filter.length === 0 && overrides.size === 0) return undefined;
  const filter = tools_filter.length === 0 ? undefined : new Set(tools_filter);
  const renames = renamedTools(overrides);
  const renamed = new Set([...renames.values()].flat());

  function ownName(clientName: string): string | undefined {
    if (filter !== undefined && !filter.has(clientName)) return undefined;
    const [own] = renames.get(clientName) ?? [];
    // The old name of a renamed tool does not exist for clients.
    return own ?? (renamed.has(clientName) ? undefined : clientName);
  }

  function clientName(own: string): string | undefined {
    const name = overrides.get(own)?.name ?? own;
    return ownName(name) === own ? name : undefined;
  }

  const clashes = [...renames].flatMap(([name, tools]) => (tools.length > 1 ? [{ name, tools }] : []));
  return { ownName, clientName, overrideOf: (own) => overrides.get(own), clashes };
}

/** Returns the own names of renamed tools by their new name. The own names are sorted. */
function renamedTools(overrides: ReadonlyMap<string, Override>): ReadonlyMap<string, readonly string[]> {
  const renamed = [...overrides.keys()].filter((own) => (overrides.get(own)?.name ?? own) !== own).sort();
  return Map.groupBy(renamed, (own) => overrides.get(own)?.name ?? own);
}

const NAME_SHOWN = 200;

/**
 * Returns the refusal of a call of an unknown tool. Servers answer such a call with HTTP 200 in all protocol versions
 * (MCP 2025-11-25 and 2026-07-28, tools, Error Handling: unknown tools are protocol errors, -32602).
 */
export function unknownTool(name: string): Denial {
  return {
    httpStatus: 200,
    rpcCode: -32602,
    code: 'tool-unknown',
    message: `Unknown tool: ${name.slice(0, NAME_SHOWN)}`,
  };
}
