// Defines the ports of a workflow run: tools, the person at the client, time, and observers.

import type { Json, JsonObject } from '#std/json.ts';
import type { InnerResult } from '../own-tools/ports.ts';

export interface WorkflowClock {
  now(): number;
  monotonic(): number;
  after(ms: number, task: () => void): () => void;
  random(size: number): Buffer;
}

export type PersonAnswer =
  | { readonly action: 'accept'; readonly content: JsonObject }
  | { readonly action: 'decline' | 'cancel' }
  /** The client cannot ask its user, or reports a failure. */
  | { readonly action: 'failed'; readonly message: string };

export interface RunPorts {
  readonly clock: WorkflowClock;
  /** Calls a tool for the step. Never rejects. Returns `aborted` once the signal is aborted. */
  callTool(step: string, tool: string, given: JsonObject, signal: AbortSignal): Promise<InnerResult>;
  /** Returns the JSON Schema of the tool's arguments. Returns undefined if no schema is known. */
  inputSchema(tool: string): Promise<JsonObject | undefined>;
  /**
   * Asks the person. Never rejects. When the signal is aborted, cancels the request at the client and returns `cancel`.
   */
  askPerson(message: string, schema: JsonObject, signal: AbortSignal): Promise<PersonAnswer>;
  observe(event: RunEvent): void;
}

export type StepEnd = 'completed' | 'failed' | 'skipped' | 'cancelled';

export type RunEvent =
  | { readonly kind: 'started'; readonly run: string }
  | { readonly kind: 'ended'; readonly result: RunResult }
  | { readonly kind: 'step-started'; readonly step: string }
  /** An item of a forEach step is done. `share` is the done fraction of the step. */
  | { readonly kind: 'step-progress'; readonly step: string; readonly share: number }
  | { readonly kind: 'step-retried'; readonly step: string }
  | { readonly kind: 'step-ended'; readonly step: string; readonly end: StepEnd; readonly message?: string };

export type RunResult =
  | { readonly kind: 'completed'; readonly output: Json }
  | { readonly kind: 'failed' | 'timed-out'; readonly message: string }
  | { readonly kind: 'cancelled' };
