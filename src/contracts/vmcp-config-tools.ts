// The parts of a virtual MCP server's configuration that are about tools: how they are shown, and workflows over them.

import { optional, type Static } from '#std/schema.ts';
import { fileForm } from './file-form.ts';
import { ToolOverrides } from './tool-override.ts';
import { aggregation, WORKLOAD_TOOLS } from './virtual/aggregation.ts';
import { CompositeTool } from './virtual/composite-tool.ts';

/** What is hidden from clients can still be called by workflows. */
export const AGGREGATION = fileForm(aggregation({ ...WORKLOAD_TOOLS, overrides: optional(ToolOverrides) }));
export const COMPOSITE_TOOL = fileForm(CompositeTool);

export type Aggregation = Static<typeof AGGREGATION>;
export type CompositeToolConfig = Static<typeof COMPOSITE_TOOL>;
