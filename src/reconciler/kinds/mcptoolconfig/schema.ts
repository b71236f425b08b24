// Every field of MCPToolConfig.

import { ToolsFilter, toolOverrides } from '#contracts/tool-override.ts';
import { integer, object, optional } from '#std/schema.ts';
import { ConfigStatus } from '../config-status.ts';

export const MCPToolConfigSpec = object(
  {
    toolsFilter: optional(ToolsFilter),
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
