// Defines the tools in a virtual MCP server's configuration: how clients see them, and workflows over them.

import { optional, type Static } from '#std/schema.ts';
import { fileForm } from './file-form.ts';
import { ToolOverrides } from './tool-override.ts';
import { aggregation, WORKLOAD_TOOLS } from './virtual/aggregation.ts';
import { CompositeTool } from './virtual/composite-tool.ts';

/** Selection and names of tools. Workflows can also call tools that are hidden from clients. */
export const AGGREGATION = fileForm(aggregation({ ...WORKLOAD_TOOLS, overrides: optional(ToolOverrides) }));
export const COMPOSITE_TOOL = fileForm(CompositeTool);

export type Aggregation = Static<typeof AGGREGATION>;
export type CompositeToolConfig = Static<typeof COMPOSITE_TOOL>;
