// Works out the annotations of a workflow: annotations that its author declares, and the least that its steps promise for the others.

import type { CompositeToolConfig } from '#contracts/vmcp-config-tools.ts';
import { hintsFrom } from '../../gate/known-tools.ts';
import type { ToolHints } from '../../gate/policy/request.ts';

type Declared = NonNullable<CompositeToolConfig['annotations']>;

/** `steps`: hints of the tools of the steps; undefined for a tool that is not known. */
export type Annotated =
  | { readonly annotations: Declared }
  /** A hint that promises more than a step does. */
  | { readonly contradicted: keyof ToolHints };

export function annotateWorkflow(declared: Declared, steps: readonly (ToolHints | undefined)[]): Annotated {
  if (steps.length === 0) return { annotations: declared };
  const least = leastHints(steps);
  const { readOnlyHint, destructiveHint, openWorldHint } = declared;
  if (readOnlyHint === true && !least.readOnlyHint) return { contradicted: 'readOnlyHint' };
  if (destructiveHint === false && least.destructiveHint) return { contradicted: 'destructiveHint' };
  if (openWorldHint === false && least.openWorldHint) return { contradicted: 'openWorldHint' };
  return { annotations: { ...least, ...declared } };
}

/** A hint that a tool does not give has the default of the protocol (MCP 2025-11-25, ToolAnnotations): the tool may do anything. */
function leastHints(steps: readonly (ToolHints | undefined)[]) {
  return {
    readOnlyHint: steps.every((hints) => hints?.readOnlyHint === true),
    destructiveHint: steps.some((hints) => hints?.destructiveHint !== false),
    openWorldHint: steps.some((hints) => hints?.openWorldHint !== false),
  };
}

/** Hints of a tool out of its definition, as JSON. */
export function hintsOfDefinition(definition: Buffer): ToolHints {
  return hintsFrom(JSON.parse(definition.toString()).annotations);
}
