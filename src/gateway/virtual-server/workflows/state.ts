// Stores the state of a run: results of its steps, and data for templates.

import type { Json, JsonObject } from '#std/json.ts';
import type { Workflow } from './definition.ts';
import type { RunPorts } from './ports.ts';
import type { StepStatus } from './schedule.ts';

export interface WorkflowRun {
  readonly id: string;
  readonly workflow: Workflow;
  readonly params: JsonObject;
  readonly ports: RunPorts;
  /** Aborted when the run ends. */
  readonly signal: AbortSignal;
  readonly startedAt: number;
  readonly steps: Map<string, StepState>;
  /** Size of the stored results, in characters of JSON. */
  size: number;
}

export interface StepState {
  status: StepStatus;
  output: Json;
  /** Texts, images and other contents of a tool's result, by kind and number. */
  content?: JsonObject;
  error?: string;
}

/** Maximum size of all results of a run together, in characters of JSON. */
const SIZE_MAX = 64 * 2 ** 20;

/** Counts the size of a result. Returns false if all results together are too large. */
export function keepResult(run: WorkflowRun, output: Json): boolean {
  run.size += JSON.stringify(output).length;
  return run.size <= SIZE_MAX;
}

/** Returns the data for templates, with the results of the steps that are done. */
export function templateData(run: WorkflowRun, item?: JsonObject): JsonObject {
  const { workflow, id, params, steps, startedAt, ports } = run;
  const done = [...steps].filter(([, { status }]) => status !== 'pending' && status !== 'running');
  return {
    params,
    steps: Object.fromEntries(done.map(([name, state]) => [name, stepData(state)])),
    workflow: {
      id,
      status: 'running',
      step_count: workflow.steps.length,
      start_time: new Date(startedAt).toISOString(),
      duration_ms: Math.max(0, Math.round(ports.clock.now() - startedAt)),
    },
    ...(item === undefined ? {} : { forEach: item }),
  };
}

function stepData({ status, output, content, error }: StepState): JsonObject {
  return { status, output, ...(content === undefined ? {} : { content }), ...(error === undefined ? {} : { error }) };
}
