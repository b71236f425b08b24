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
  /** Absent: it only reads. `destructive`: it can delete objects. */
  readonly acts?: { readonly destructive: boolean };
  /** Throws Failure. */
  call(call: ToolCall): Promise<Data | Question>;
}

export interface ToolCall {
  readonly config: Config;
  /** Arguments, which fit the input schema. */
  readonly args: JsonObject;
  /** Aborted if the client cancels the call, or its time is up. */
  readonly signal: AbortSignal;
  /** Prints a command of skep with the same configuration, for a person. */
  readonly commandOf: CommandOf;
  /** Digest of the question that the user has confirmed, if there was one. */
  readonly confirmed?: string;
  /** Reports to the client that the call goes on. */
  readonly progress: (message: string) => void;
}

/** Creates the data of a result whose lists have at most `items` items. */
export interface Data {
  readonly type: 'data';
  readonly shown: (items: number) => object;
}

/** A question to the user, without whose confirmation nothing is done. */
export interface Question {
  readonly type: 'question';
  /** The whole message that the user reads. */
  readonly message: string;
  /** Label of the box that the user ticks. */
  readonly label: string;
  /** Command with which a person does the same. */
  readonly command: string;
  /** Facts for the audit line. */
  readonly facts: JsonObject;
}

export function data(value: object): Data {
  return { type: 'data', shown: () => value };
}

/** Reads an optional argument; the input schema has checked its type. */
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
