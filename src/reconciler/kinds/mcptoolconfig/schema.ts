// Defines every field of MCPToolConfig.

import { ToolsFilter, toolOverrides } from '#contracts/tool-override.ts';
import { integer, object, optional } from '#std/schema.ts';
import { ConfigStatus } from '../config-status.ts';

export const MCPToolConfigSpec = object(
  {
    toolsFilter: optional(ToolsFilter),
    toolsOverride: optional(toolOverrides("How tools are shown to clients, by the tools' own names.")),
  },
  'Tools that clients see, and their names.',
);

export const MCPToolConfigStatus = object(
  {
    ...ConfigStatus.properties,
    // A printer column can show a field, but cannot count list entries.
    filterCount: optional(integer('Number of listed tools that clients see; 0: all.', { minimum: 0 })),
    overrideCount: optional(integer('Number of tools with an override.', { minimum: 0 })),
  },
  'The last observed state of the configuration.',
);
