// Defines the names and descriptions of tools for clients: in a spec, and in the configuration of a proxy and of a
// virtual server.

import { bool, list, map, object, optional, text } from '#std/schema.ts';
import { fileForm, filled } from './file-form.ts';

/** Returns a field for the name of a tool. Names are also sent in comma-separated lists. */
export function toolName(description: string) {
  return text(description, { minLength: 1, maxLength: 256, pattern: '^[^,\\r\\n]+$' });
}

/** The filter of a proxy. */
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

/** The annotations of a workflow. */
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

/** Returns a field for overrides, whose keys are the tools' own names. */
export function toolOverrides(description: string) {
  return map(ToolOverride, description, { maxProperties: 1024 });
}

const { name, description, annotations } = ToolOverride.properties;

/** Overrides in the form of a file. */
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
