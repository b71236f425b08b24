// Defines the types of a composite tool whose shape was checked and whose defaults were filled in.

import type { Json, JsonObject } from '#std/json.ts';
import type { Severity } from '#std/problem.ts';
import type { VirtualCode } from '../codes.ts';

export interface Workflow {
  readonly description?: string;
  readonly parameters?: JsonObject;
  readonly steps: readonly WorkflowStep[];
  readonly output?: { readonly properties: Readonly<Record<string, OutputProperty>> };
}

interface StepCall {
  readonly arguments?: JsonObject;
  readonly condition?: string;
  readonly onError?: ErrorHandling;
  readonly defaultResults?: JsonObject;
}

export interface ErrorHandling {
  readonly action: 'abort' | 'continue' | 'retry';
  readonly retryCount?: number;
  readonly retryDelay?: string;
}

export interface WorkflowStep extends StepCall {
  readonly id: string;
  readonly type: 'tool' | 'elicitation' | 'forEach';
  readonly dependsOn?: readonly string[];
  readonly message?: string;
  readonly schema?: JsonObject;
  readonly collection?: string;
  readonly itemVar?: string;
  /** The inner step of forEach. */
  readonly step?: StepCall;
}

interface OutputProperty {
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'object' | 'array';
  readonly value?: string;
  /** Nested properties with the same fields. Their shape is not checked yet. */
  readonly properties?: Readonly<Record<string, JsonObject>>;
  readonly default?: Json;
}

export interface WorkflowFinding {
  readonly code: VirtualCode;
  readonly severity: Severity;
  /** JSON pointer. It begins with the pointer of the workflow. */
  readonly pointer: string;
  readonly message: string;
}

export function problem(code: VirtualCode, pointer: string, message: string): WorkflowFinding {
  return { code, severity: 'error', pointer, message };
}

export function warning(code: VirtualCode, pointer: string, message: string): WorkflowFinding {
  return { code, severity: 'warning', pointer, message };
}
