// What a sample MCP server is: tools, resources and prompts as functions. The servers run in the sample fleet of `skep dev`,
// in processes of their own like any other server.

import type { JsonObject } from '#std/json.ts';

export interface SampleServer {
  readonly name: string;
  readonly title: string;
  /** How a model should use it. */
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
  /** Of `structured` in its answers. */
  readonly outputSchema?: JsonObject;
  readonly call: (given: Arguments, caller: Caller) => Promise<Answer>;
}

/** A parameter is required unless it says otherwise. */
export interface Parameter {
  readonly type: 'string' | 'integer';
  readonly description: string;
  readonly optional?: boolean;
  readonly choices?: readonly string[];
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
}

/** Checked against the parameters. Text of an absent one is ''. */
export interface Arguments {
  readonly text: (name: string) => string;
  readonly integer: (name: string, otherwise: number) => number;
}

export interface Answer {
  readonly text: string;
  readonly structured?: JsonObject;
  /** What was asked for cannot be done; the text says why. */
  readonly failed?: boolean;
}

/** The client that waits for the answer. */
export interface Caller {
  readonly progress: (done: number, total: number, message: string) => void;
  /** Asks the person in front of the client. `unable`: the client has no way to ask; `unanswered`: the question got lost. */
  readonly confirm: (question: string) => Promise<'yes' | 'no' | 'unable' | 'unanswered'>;
}

export interface Resources {
  readonly list: () => Promise<readonly Resource[]>;
  /** Undefined where there is none of this URI. */
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
