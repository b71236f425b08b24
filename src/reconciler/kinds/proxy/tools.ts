// Reads the tools that a proxy offers, and their names, from an MCPToolConfig.

import type { RunConfig } from '#contracts/run-config.ts';
import type { ToolOverride } from '#contracts/tool-override.ts';
import { isObject } from '#std/json.ts';
import type { Static } from '#std/schema.ts';
import type { Finding, View } from '../kind.ts';
import { toolFindings } from './tool-override.ts';

type Blocks = Pick<RunConfig, 'tools_filter' | 'tools_override'>;
type Overrides = Readonly<Record<string, Static<typeof ToolOverride>>>;
type Ref = { readonly name: string } | undefined;

/** Pointer of the field with which servers and proxies name their MCPToolConfig. */
const POINTER = '/spec/toolConfigRef/name';

export function toolBlocks(ref: Ref, view: View): Blocks {
  const { filter, overrides } = selectedTools(ref, view);
  const shown = shownOverrides(overrides);
  return { ...toolFilter(filter), tools_override: shown };
}

/**
 * Returns the configuration block that offers only the tools with these names. If `names` is empty, all tools are
 * offered.
 */
export function toolFilter(names: readonly string[]): Blocks {
  return names.length === 0 ? {} : { tools_filter: [...names] };
}

/** For `inspect`: finds mistakes that make the MCPToolConfig unusable. Such mistakes keep the children unchanged. */
export function toolConfigFindings(ref: Ref, view: View, pointer = POINTER): readonly Finding[] {
  if (ref === undefined) return [];
  const faults = toolFindings({ ...selectedTools(ref, view), filterField: 'toolsFilter', overridesPointer: '' });
  return faults
    .filter(({ severity }) => severity === 'error')
    .map((fault) => {
      const message = `MCPToolConfig ${ref.name}: ${fault.message}`;
      return { ...fault, pointer, message };
    });
}

/**
 * Returns the filter and overrides of the MCPToolConfig. Ignores values of a wrong type, because a live object may be
 * older than its schema.
 */
export function selectedTools(ref: Ref, view: View): { filter: readonly string[]; overrides: Overrides } {
  const spec = ref === undefined ? undefined : view.find('MCPToolConfig', ref.name)?.spec;
  const { toolsFilter, toolsOverride } = isObject(spec) ? spec : {};
  return {
    filter: Array.isArray(toolsFilter) ? toolsFilter.map(String) : [],
    overrides: isObject(toolsOverride) ? (toolsOverride as Overrides) : {},
  };
}

/**
 * Removes empty names and descriptions, which mean that the original text stays. Returns undefined if no override is
 * declared.
 */
export function shownOverrides(overrides: Overrides): Overrides | undefined {
  const entries = Object.entries(overrides).map(([tool, { name = '', description = '', annotations }]) => [
    tool,
    {
      name: name || undefined,
      description: description || undefined,
      annotations,
    },
  ]);
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}
