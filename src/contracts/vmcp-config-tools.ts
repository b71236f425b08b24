// Defines the parts of a virtual MCP server's configuration about tools: how they are shown, and workflows over them.

import { optional, type Static } from '#std/schema.ts';
import { fileForm } from './file-form.ts';
import { ToolOverrides } from './tool-override.ts';
import { aggregation, WORKLOAD_TOOLS } from './virtual/aggregation.ts';
import { CompositeTool } from './virtual/composite-tool.ts';

/** Workflows can still call tools that are hidden from clients. */
export const AGGREGATION = fileForm(aggregation({ ...WORKLOAD_TOOLS, overrides: optional(ToolOverrides) }));
export const COMPOSITE_TOOL = fileForm(CompositeTool);

export type Aggregation = Static<typeof AGGREGATION>;
export type CompositeToolConfig = Static<typeof COMPOSITE_TOOL>;
