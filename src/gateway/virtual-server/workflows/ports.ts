// Defines the ports of a workflow's run: tools, the person at the client, time, and observers.

import type { Json, JsonObject } from '#std/json.ts';
import type { InnerResult } from '../own-tools/ports.ts';

export interface WorkflowClock {
  /** Milliseconds since 1970. */
  now(): number;
  monotonic(): number;
  after(ms: number, task: () => void): () => void;
  random(size: number): Buffer;
}

export type PersonAnswer =
  | { readonly action: 'accept'; readonly content: JsonObject }
  | { readonly action: 'decline' | 'cancel' }
  /** The client has no person to ask, or reports a failure. */
  | { readonly action: 'failed'; readonly message: string };

export interface RunPorts {
  readonly clock: WorkflowClock;
  /** Calls a tool for the step. Never rejects. Returns `aborted` once the signal is aborted. */
  callTool(step: string, tool: string, given: JsonObject, signal: AbortSignal): Promise<InnerResult>;
  /** Returns the JSON Schema of the tool's arguments, if the tool has one. */
  inputSchema(tool: string): Promise<JsonObject | undefined>;
  /** Asks the person. Never rejects. Once the signal is aborted the client is informed, and the answer is `cancel`. */
  askPerson(message: string, schema: JsonObject, signal: AbortSignal): Promise<PersonAnswer>;
  observe(event: RunEvent): void;
}

export type StepEnd = 'completed' | 'failed' | 'skipped' | 'cancelled';

export type RunEvent =
  | { readonly kind: 'started'; readonly run: string }
  | { readonly kind: 'ended'; readonly result: RunResult }
  | { readonly kind: 'step-started'; readonly step: string }
  /** An item of a forEach step is done; `share` is a fraction of the step. */
  | { readonly kind: 'step-progress'; readonly step: string; readonly share: number }
  | { readonly kind: 'step-retried'; readonly step: string }
  | { readonly kind: 'step-ended'; readonly step: string; readonly end: StepEnd; readonly message?: string };

export type RunResult =
  | { readonly kind: 'completed'; readonly output: Json }
  | { readonly kind: 'failed' | 'timed-out'; readonly message: string }
  | { readonly kind: 'cancelled' };
