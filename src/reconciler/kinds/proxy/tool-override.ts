// Finds overrides of tools that conflict with other overrides or with the list of offered tools.

import type { ToolOverride } from '#contracts/tool-override.ts';
import { pointerToken } from '#std/json.ts';
import type { Static } from '#std/schema.ts';
import type { Finding } from '../kind.ts';

type Override = Static<typeof ToolOverride>;

/** The offered tools and their names, with the places of these settings in the manifest. */
export interface ToolSelection {
  /** Names of the offered tools, as clients see them. If empty, all tools are offered. */
  readonly filter: readonly string[];
  /** Overrides by the original names of the tools. */
  readonly overrides: Readonly<Record<string, Override>>;
  readonly filterField: string;
  readonly overridesPointer: string;
}

export function toolFindings(selection: ToolSelection): readonly Finding[] {
  return [...takenNames(selection), ...hiddenOverrides(selection)];
}

/** Returns the name that clients see: the override's name, or the tool's original name if the override has none. */
function shownName(tool: string, { name }: Override): string {
  return name === undefined || name === '' ? tool : name;
}

function takenNames({ overrides, overridesPointer }: ToolSelection): readonly Finding[] {
  const first = new Map<string, string>();
  const renamedLast = Object.entries(overrides).sort(([tool, override], [other, another]) => {
    return Number(shownName(tool, override) !== tool) - Number(shownName(other, another) !== other);
  });
  return renamedLast.flatMap(([tool, override]): readonly Finding[] => {
    const name = shownName(tool, override);
    const other = first.get(name);
    if (other === undefined) {
      first.set(name, tool);
      return [];
    }
    const pointer = `${overridesPointer}/${pointerToken(tool)}/name`;
    const whose = other === name ? 'the tool that has this name' : `${other}, which is renamed to it too`;
    const message = `clients would see two tools named "${name}": this one, and ${whose}`;
    return [{ code: 'tool-name-taken', severity: 'error', pointer, message }];
  });
}

function hiddenOverrides({ filter, overrides, filterField, overridesPointer }: ToolSelection): readonly Finding[] {
  if (filter.length === 0) return [];
  return Object.entries(overrides).flatMap(([tool, override]): readonly Finding[] => {
    const name = shownName(tool, override);
    if (filter.includes(name)) return [];
    const hint = filter.includes(tool)
      ? `: write "${name}" instead of "${tool}", because the list has the names that clients see`
      : '';
    const message = `the override has no effect, because ${filterField} lacks "${name}"${hint}`;
    const pointer = `${overridesPointer}/${pointerToken(tool)}`;
    return [{ code: 'tool-override-hidden', severity: 'warning', pointer, message }];
  });
}
