// Defines the interface of sample MCP servers: tools, resources and prompts as functions. In the sample fleet of `skep
// dev` each server is a process of its own.

import type { JsonObject } from '#std/json.ts';

export interface SampleServer {
  readonly name: string;
  readonly title: string;
  /** Instructions for models that use the server. */
  readonly instructions: string;
  readonly tools: readonly Tool[];
  readonly resources?: Resources;
  readonly prompts?: readonly Prompt[];
}

export interface Tool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly parameters: Readonly<Record<string, Parameter>>;
  readonly annotations: Readonly<Record<string, boolean>>;
  /** JSON Schema of `structured` in the results. */
  readonly outputSchema?: JsonObject;
  readonly call: (given: Arguments, caller: WaitingClient) => Promise<SampleAnswer>;
}

/** A parameter of a tool or prompt. Required unless `optional` is true. */
export interface Parameter {
  readonly type: 'string' | 'integer';
  readonly description: string;
  readonly optional?: boolean;
  readonly choices?: readonly string[];
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
}

/** Checked arguments of a call. `text` returns '' for an absent argument. */
export interface Arguments {
  readonly text: (name: string) => string;
  readonly integer: (name: string, otherwise: number) => number;
}

export interface SampleAnswer {
  readonly text: string;
  readonly structured?: JsonObject;
  /** True if the call failed. The text then says why. */
  readonly failed?: boolean;
}

/** The client that waits for the result. */
export interface WaitingClient {
  readonly progress: (done: number, total: number, message: string) => void;
  /**
   * Asks the client's user. `unable`: the client supports no such requests. `unanswered`: the request got no answer
   * from the user.
   */
  readonly confirm: (question: string) => Promise<'yes' | 'no' | 'unable' | 'unanswered'>;
}

export interface Resources {
  readonly list: () => Promise<readonly Resource[]>;
  /** Returns undefined if the resource does not exist. */
  readonly read: (uri: string) => Promise<{ readonly mimeType: string; readonly text: string } | undefined>;
}

interface Resource {
  readonly uri: string;
  readonly name: string;
  readonly mimeType: string;
}

export interface Prompt {
  readonly name: string;
  readonly description: string;
  readonly parameters: Readonly<Record<string, Pick<Parameter, 'description' | 'optional'>>>;
  readonly write: (given: Arguments) => Promise<string>;
}
