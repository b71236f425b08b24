// Returns the annotations of a workflow: the author's annotations, and for missing hints the weakest hint of all steps.

import type { CompositeToolConfig } from '#contracts/vmcp-config-tools.ts';
import { hintsFrom } from '../../gate/known-tools.ts';
import type { ToolHints } from '../../gate/policy/request.ts';

type AuthorAnnotations = NonNullable<CompositeToolConfig['annotations']>;

/** The annotations, or the author's hint that contradicts the tool of a step. */
export type Annotated =
  | { readonly annotations: AuthorAnnotations }
  /** Hint of the author that promises more than a step's tool. */
  | { readonly contradicted: keyof ToolHints };

export function annotateWorkflow(declared: AuthorAnnotations, steps: readonly (ToolHints | undefined)[]): Annotated {
  if (steps.length === 0) return { annotations: declared };
  const least = leastHints(steps);
  const { readOnlyHint, destructiveHint, openWorldHint } = declared;
  if (readOnlyHint === true && !least.readOnlyHint) return { contradicted: 'readOnlyHint' };
  if (destructiveHint === false && least.destructiveHint) return { contradicted: 'destructiveHint' };
  if (openWorldHint === false && least.openWorldHint) return { contradicted: 'openWorldHint' };
  return { annotations: { ...least, ...declared } };
}

/**
 * Combines the hints of all steps. A missing hint has the protocol's default: the tool may do anything (MCP 2025-11-25,
 * ToolAnnotations).
 */
function leastHints(steps: readonly (ToolHints | undefined)[]) {
  return {
    readOnlyHint: steps.every((hints) => hints?.readOnlyHint === true),
    destructiveHint: steps.some((hints) => hints?.destructiveHint !== false),
    openWorldHint: steps.some((hints) => hints?.openWorldHint !== false),
  };
}

/** Reads the hints from the JSON definition of a tool. */
export function hintsOfDefinition(definition: Buffer): ToolHints {
  return hintsFrom(JSON.parse(definition.toString()).annotations);
}
