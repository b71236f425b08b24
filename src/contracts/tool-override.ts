// Defines names and descriptions of tools for clients, in a spec and in the configurations of proxies and virtual
// servers.

import { bool, list, map, object, optional, text } from '#std/schema.ts';
import { fileForm, filled } from './file-form.ts';

/**
 * Returns a field with the name of a tool. Commas are refused, because names are also sent in comma-separated lists.
 */
export function toolName(description: string) {
  return text(description, { minLength: 1, maxLength: 256, pattern: '^[^,\\r\\n]+$' });
}

/** Field with the tools that a proxy offers. */
export const ToolsFilter = list(
  toolName('Name of a tool, as clients see it.'),
  'Tools that clients see. If empty, all.',
  { maxItems: 1024 },
);

const ANNOTATIONS = {
  title: optional(text('Title for people.')),
  readOnlyHint: optional(bool('True: the tool changes nothing.')),
  destructiveHint: optional(bool('True: the tool may destroy existing data.')),
  idempotentHint: optional(bool('True: calling it again with the same arguments changes nothing more.')),
  openWorldHint: optional(bool('True: the tool reaches beyond a closed set of things, such as the web.')),
};

const ToolAnnotations = object(
  ANNOTATIONS,
  'MCP annotations of the tool. Values that are set here win, even if false or empty. Others stay as they are.',
);

/** Field with the annotations of a workflow's tool. */
export const WorkflowAnnotations = object(
  ANNOTATIONS,
  'MCP annotations of the tool. A hint that is left out is the least that the steps promise. A tool that promises more than its steps (readOnlyHint true, destructiveHint or openWorldHint false) is not offered.',
);

export const ToolOverride = object(
  {
    name: optional(
      text("Name that clients see. If empty, the tool's own.", { maxLength: 256, pattern: '^[^,\\r\\n]*$' }),
    ),
    description: optional(text("Description that clients see. If empty, the tool's own.", { maxLength: 65536 })),
    annotations: optional(ToolAnnotations),
  },
  'How one tool is shown to clients.',
  {
    validations: [
      {
        rule: '(has(self.name) && self.name.size() > 0) || (has(self.description) && self.description.size() > 0)',
        message: 'name or description must be set, and not empty',
      },
    ],
  },
);

/** Returns a field with overrides by the original names of tools. */
export function toolOverrides(description: string) {
  return map(ToolOverride, description, { maxProperties: 1024 });
}

const { name, description, annotations } = ToolOverride.properties;

/** Overrides in the form for files. */
export const ToolOverrides = fileForm(
  map(
    object(
      { name: optional(filled(name)), description: optional(filled(description)), annotations },
      'How one tool is shown to clients.',
    ),
    "Overrides by the tool's own name.",
    { maxProperties: 1024 },
  ),
);
