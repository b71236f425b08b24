// Defines a tool of `skep mcp`: its schemas, and a function that returns data or a question to the user.

import type { Config } from '#hosts/config/config.ts';
import type { JsonObject } from '#std/json.ts';
import type { CommandOf } from '#std/words/command-of.ts';

export interface McpTool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
  readonly outputSchema: JsonObject;
  /** Absent if the tool only reads. `destructive` is true if the tool can delete objects. */
  readonly acts?: { readonly destructive: boolean };
  /** Returns data, or a question to the user. Throws Failure. */
  call(call: OperatorToolCall): Promise<Data | ConfirmationQuestion>;
}

export interface OperatorToolCall {
  readonly config: Config;
  /** Arguments that fit the input schema. */
  readonly args: JsonObject;
  /** Aborted if the client cancels the call, or the time limit has passed. */
  readonly signal: AbortSignal;
  /** Returns a command of skep with the same configuration, for a person. */
  readonly commandOf: CommandOf;
  /** Digest of the question that the user has confirmed; absent if the user was not asked. */
  readonly confirmed?: string;
  /** Tells the client that the call is still in progress. */
  readonly progress: (message: string) => void;
}

/** Data of a result. `shown` returns the data with at most `items` items per list. */
export interface Data {
  readonly type: 'data';
  readonly shown: (items: number) => object;
}

/** A question to the user. The tool does nothing until the user has confirmed. */
export interface ConfirmationQuestion {
  readonly type: 'question';
  readonly message: string;
  readonly label: string;
  /** Command of skep with the same effect. */
  readonly command: string;
  /** Facts for the log. */
  readonly facts: JsonObject;
}

export function data(value: object): Data {
  return { type: 'data', shown: () => value };
}

/** Returns an optional text argument. The input schema has checked its type. */
export function textArgument(args: JsonObject, name: string): string | undefined {
  const value = args[name];
  return typeof value === 'string' ? value : undefined;
}

export function numberArgument(args: JsonObject, name: string, otherwise: number): number {
  const value = args[name];
  return typeof value === 'number' ? value : otherwise;
}

export function inputSchema(properties: JsonObject, required: readonly string[] = []): JsonObject {
  return { type: 'object', properties, required: [...required], additionalProperties: false };
}
