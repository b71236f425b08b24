// Compiles a workflow once per configuration: parses templates, converts durations and fills in defaults.

import type { Template } from '#contracts/virtual-model/template/nodes.ts';
import { parseTemplate } from '#contracts/virtual-model/template/parse.ts';
import type { CompositeToolConfig } from '#contracts/vmcp-config-tools.ts';
import { parseDuration } from '#std/duration.ts';
import { isObject, type Json, type JsonObject } from '#std/json.ts';

/** A template that is evaluated during a run. */
export interface Expression {
  readonly template: Template;
  /** Text of the template, for messages. */
  readonly source: string;
}

/** A fixed value, or a template for a value. */
export type Argument = { readonly value: Json } | { readonly expression: Expression };

export interface Retry {
  readonly count: number;
  readonly delayMs: number;
}

interface Common {
  readonly condition: Expression | undefined;
  readonly timeoutMs: number;
  readonly action: 'abort' | 'continue' | 'retry';
  /** undefined if a failed call is not retried. */
  readonly retry: Retry | undefined;
  /** Output of a step that is skipped, or that fails with onError continue (WorkflowStepConfig). */
  readonly defaultResults: JsonObject | undefined;
}

export interface CompiledCall extends Common {
  readonly tool: string;
  readonly arguments: readonly (readonly [name: string, Argument])[];
}

export type AnswerAction = 'skip_remaining' | 'abort' | 'continue';

interface StepOrder {
  readonly id: string;
  readonly dependsOn: readonly string[];
}

type ToolStep = StepOrder & CompiledCall & { readonly type: 'tool' };

export type ElicitationStep = StepOrder &
  Common & {
    readonly type: 'elicitation';
    readonly message: Expression;
    readonly schema: JsonObject;
    /** Action if the person declines. undefined if the step then fails. */
    readonly onDecline: AnswerAction | undefined;
    readonly onCancel: AnswerAction | undefined;
  };

export type ForEachStep = StepOrder &
  Common & {
    readonly type: 'forEach';
    readonly collection: Expression;
    readonly itemVar: string;
    readonly maxParallel: number;
    readonly maxIterations: number;
    readonly inner: CompiledCall;
    /** Declared action of the inner step. With `abort`, a failed item fails the step. */
    readonly innerAction: CompiledCall['action'] | undefined;
  };

export type CompiledStep = ToolStep | ElicitationStep | ForEachStep;

export interface OutputProperty {
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'object' | 'array';
  readonly value: Expression | undefined;
  readonly properties: readonly (readonly [name: string, OutputProperty])[];
  readonly fallback: Json | undefined;
}

export interface Workflow {
  readonly name: string;
  readonly parameters: JsonObject | undefined;
  readonly timeoutMs: number;
  readonly steps: readonly CompiledStep[];
  /** undefined if the output of the last step is the result. */
  readonly output:
    | {
        readonly properties: readonly (readonly [name: string, OutputProperty])[];
        readonly required: readonly string[];
      }
    | undefined;
}

/** Defaults and limits of the configuration model. */
const WORKFLOW_MS = 30 * 60_000;
const STEP_MS = 5 * 60_000;
const PERSON_MAX_MS = 10 * 60_000;
const RETRIES_MAX = 10;
const RETRY_MS = 1000;
const PARALLEL = 10;
const PARALLEL_MAX = 50;
const ITERATIONS = 100;
const ITERATIONS_MAX = 1000;

/** Compiles a workflow that `workflowFaults` has checked. */
export function defineWorkflow({ name, parameters, timeout, steps, output }: CompositeToolConfig): Workflow {
  return {
    name,
    parameters,
    timeoutMs: durationMs(timeout, WORKFLOW_MS),
    steps: steps.map(defineStep),
    output: output && { properties: outputProperties(output.properties), required: output.required ?? [] },
  };
}

type StepConfig = CompositeToolConfig['steps'][number];
type CallConfig = Pick<StepConfig, 'condition' | 'timeout' | 'onError' | 'defaultResults' | 'arguments'>;

function defineStep(config: StepConfig): CompiledStep {
  const { id, type, dependsOn = [], tool = '', step } = config;
  const common = { id, dependsOn, ...defineCommon(config) };
  switch (type) {
    case 'tool':
      return { ...common, type, tool, arguments: defineArguments(config) };
    case 'elicitation': {
      const { message = '', schema = { type: 'object', properties: {} }, onDecline, onCancel } = config;
      const actions = { onDecline: onDecline?.action, onCancel: onCancel?.action };
      const timeoutMs = Math.min(common.timeoutMs, PERSON_MAX_MS);
      return { ...common, type, timeoutMs, message: defineExpression(message), schema, ...actions };
    }
    case 'forEach': {
      const { collection = '', itemVar = 'item', maxParallel = PARALLEL, maxIterations = ITERATIONS } = config;
      const inner: CompiledCall = {
        ...defineCommon(step ?? {}),
        tool: step?.tool ?? '',
        arguments: defineArguments(step ?? {}),
      };
      return {
        ...{ ...common, type, itemVar, inner, innerAction: step?.onError?.action },
        collection: defineExpression(collection),
        maxParallel: Math.min(maxParallel, PARALLEL_MAX),
        maxIterations: Math.min(maxIterations, ITERATIONS_MAX),
      };
    }
  }
}

function defineCommon({ condition, timeout, onError, defaultResults }: CallConfig): Common {
  const { action = 'abort', retryCount = 0, retryDelay } = onError ?? {};
  const retry = { count: Math.min(retryCount, RETRIES_MAX), delayMs: durationMs(retryDelay, RETRY_MS) };
  return {
    condition: condition === undefined ? undefined : defineExpression(condition),
    timeoutMs: durationMs(timeout, STEP_MS),
    action,
    retry: action === 'retry' ? retry : undefined,
    defaultResults,
  };
}

/** Compiles arguments. Only texts at the first level can be templates (WorkflowStepConfig). */
function defineArguments({ arguments: given = {} }: CallConfig): CompiledCall['arguments'] {
  return Object.entries(given).map(([name, value = null]) => [
    name,
    typeof value === 'string' && value.includes('{{') ? { expression: defineExpression(value) } : { value },
  ]);
}

function defineExpression(source: string): Expression {
  const parsed = parseTemplate(source);
  return { source, template: 'template' in parsed ? parsed.template : { nodes: [], definitions: new Map() } };
}

/** Converts properties, including nested properties. */
function outputProperties(properties: object): readonly (readonly [string, OutputProperty])[] {
  return Object.entries(properties).map(([name, property]) => {
    const { type, value, properties: inner, default: fallback } = property as JsonObject;
    return [
      name,
      {
        type: type as OutputProperty['type'],
        value: typeof value === 'string' ? defineExpression(value) : undefined,
        properties: isObject(inner) ? outputProperties(inner) : [],
        fallback,
      },
    ];
  });
}

function durationMs(text: string | undefined, usual: number): number {
  return text === undefined ? usual : Math.max(1, Math.ceil(parseDuration(text) ?? usual));
}
