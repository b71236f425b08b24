// Every field of MCPToolConfig. Knows nothing about who refers to it.

import { integer, list, object, optional } from '../../std/schema.ts';
import { ConfigStatus } from '../config-status.ts';
import { toolName, toolOverrides } from '../proxy/tool-override.ts';

export const MCPToolConfigSpec = object(
  {
    toolsFilter: optional(
      list(toolName('Name of a tool, as clients see it.'), 'The tools to let through; all when empty.', {
        maxItems: 1024,
      }),
    ),
    toolsOverride: optional(toolOverrides("How tools are shown to clients, by the tools' own names.")),
  },
  'Which tools are let through and what they are called.',
);

export const MCPToolConfigStatus = object(
  {
    ...ConfigStatus.properties,
    // A printer column can show a number, but cannot count.
    filterCount: optional(integer('How many tools are listed to be let through; 0 lets all through.', { minimum: 0 })),
    overrideCount: optional(integer('How many tools are shown differently from what they are.', { minimum: 0 })),
  },
  'The configuration as it was last seen.',
);
