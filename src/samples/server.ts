// Defines a sample MCP server: tools, resources and prompts as functions. In the sample fleet of `skep dev` each server
// runs in its own process.

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
  /** The schema of `structured` in the tool's results. */
  readonly outputSchema?: JsonObject;
  readonly call: (given: Arguments, caller: Caller) => Promise<Answer>;
}

/** A parameter, which is required unless it is marked as optional. */
export interface Parameter {
  readonly type: 'string' | 'integer';
  readonly description: string;
  readonly optional?: boolean;
  readonly choices?: readonly string[];
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
}

/** The arguments, checked against the parameters. The text of an absent argument is ''. */
export interface Arguments {
  readonly text: (name: string) => string;
  readonly integer: (name: string, otherwise: number) => number;
}

export interface Answer {
  readonly text: string;
  readonly structured?: JsonObject;
  /** If set, the request failed, and the text says why. */
  readonly failed?: boolean;
}

/** The client that waits for the result. */
export interface Caller {
  readonly progress: (done: number, total: number, message: string) => void;
  /**
   * Asks the user of the client. `unable`: the client does not support questions. `unanswered`: the question was lost.
   */
  readonly confirm: (question: string) => Promise<'yes' | 'no' | 'unable' | 'unanswered'>;
}

export interface Resources {
  readonly list: () => Promise<readonly Resource[]>;
  /** Returns undefined if there is no resource with this URI. */
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
