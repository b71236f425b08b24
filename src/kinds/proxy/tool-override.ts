// Fields that say how a tool is shown to clients, and what is wrong with several of them. Knows nothing about which
// tools there are.

import { pointerToken } from '../../std/json.ts';
import { bool, map, object, optional, type Static, text } from '../../std/schema.ts';
import type { Finding } from '../kind.ts';

/** The name of one tool. Names travel in comma-separated lists. */
export function toolName(description: string) {
  return text(description, { minLength: 1, maxLength: 256, pattern: '^[^,\\r\\n]+$' });
}

const ToolAnnotations = object(
  {
    title: optional(text('Title for people.')),
    readOnlyHint: optional(bool('True: the tool changes nothing.')),
    destructiveHint: optional(bool('True: what the tool changes may be lost.')),
    idempotentHint: optional(bool('True: calling it again with the same arguments changes nothing more.')),
    openWorldHint: optional(bool('True: the tool reaches beyond a closed set of things, such as the web.')),
  },
  'MCP annotations of the tool. What is set here wins, also where it is false or empty; the rest passes through.',
);

/** ToolOverride. */
export const ToolOverride = object(
  {
    name: optional(
      text("Name that clients see. The tool's own when empty.", { maxLength: 256, pattern: '^[^,\\r\\n]*$' }),
    ),
    description: optional(text("Description that clients see. The tool's own when empty.", { maxLength: 65536 })),
    annotations: optional(ToolAnnotations),
  },
  'How one tool is shown to clients.',
  {
    validations: [
      {
        // Document 2, Errors 3.
        rule: '(has(self.name) && self.name.size() > 0) || (has(self.description) && self.description.size() > 0)',
        message: 'name or description must be set, and not empty',
      },
    ],
  },
);

/** Overrides by the tools' own names. */
export function toolOverrides(description: string) {
  return map(ToolOverride, description, { maxProperties: 1024 });
}

type Override = Static<typeof ToolOverride>;

/** Which tools are let through, and what they are called, with the places of both. */
export interface ToolSelection {
  /** Names that clients see; all when empty. */
  readonly filter: readonly string[];
  /** By the tools' own names. */
  readonly overrides: Readonly<Record<string, Override>>;
  readonly filterField: string;
  readonly overridesPointer: string;
}

export function toolFindings(selection: ToolSelection): readonly Finding[] {
  return [...takenNames(selection), ...hiddenOverrides(selection)];
}

/** An override without a name leaves the tool its own. */
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
    const whose = other === name ? 'the one that has this name' : `${other}, which is renamed to it too`;
    const message = `clients would see two tools named "${name}": this one, and ${whose}`;
    return [{ code: 'tool-name-taken', severity: 'error', pointer, message }];
  });
}

function hiddenOverrides({ filter, overrides, filterField, overridesPointer }: ToolSelection): readonly Finding[] {
  if (filter.length === 0) return [];
  return Object.entries(overrides).flatMap(([tool, override]): readonly Finding[] => {
    const name = shownName(tool, override);
    if (filter.includes(name)) return [];
    const hint = filter.includes(tool) ? `: write "${name}" instead of "${tool}", for it goes by what clients see` : '';
    const message = `the override has no effect, because ${filterField} lacks "${name}"${hint}`;
    const pointer = `${overridesPointer}/${pointerToken(tool)}`;
    return [{ code: 'tool-override-hidden', severity: 'warning', pointer, message }];
  });
}
