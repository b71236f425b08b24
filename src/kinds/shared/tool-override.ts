// Fields that say how a tool is shown to clients (document 2, ToolOverride). Knows nothing about which tools there are.

import { bool, map, object, optional, text } from '../../std/schema.ts';

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
