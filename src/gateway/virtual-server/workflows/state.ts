// What a run of a workflow has come to: its steps, and what templates see of them.

import type { Json, JsonObject } from '#std/json.ts';
import type { Workflow } from './definition.ts';
import type { RunPorts } from './ports.ts';
import type { StepStatus } from './schedule.ts';

export interface Run {
  readonly id: string;
  readonly workflow: Workflow;
  readonly params: JsonObject;
  readonly ports: RunPorts;
  /** Aborted when the run ends, whatever ends it. */
  readonly signal: AbortSignal;
  readonly startedAt: number;
  readonly steps: Map<string, StepState>;
  /** Characters of the results that are kept. */
  size: number;
}

export interface StepState {
  status: StepStatus;
  output: Json;
  /** Texts, images and resources of a tool's result, by their kind and number. */
  content?: JsonObject;
  error?: string;
}

/** All results of a run together. */
const SIZE_MAX = 64 * 2 ** 20;

/** False: they become too much. */
export function keepResult(run: Run, output: Json): boolean {
  run.size += JSON.stringify(output).length;
  return run.size <= SIZE_MAX;
}

/** What templates see. A step that is not done is not there. */
export function templateData(run: Run, item?: JsonObject): JsonObject {
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
