// Builds the JSON Schema of a tool's parameters, and checks the arguments of calls.

import { isObject, type JsonObject } from '#std/json.ts';
import type { Arguments, Parameter } from './server.ts';

type Parameters = Readonly<Record<string, Parameter>>;

export function inputSchema(parameters: Parameters): JsonObject {
  const entries = Object.entries(parameters);
  const properties = entries.map(([name, { type, description, choices, pattern, minimum, maximum }]) => {
    const enumeration = choices === undefined ? undefined : [...choices];
    return [name, { type, description, enum: enumeration, pattern, minimum, maximum }];
  });
  const required = entries.filter(([, { optional }]) => optional !== true).map(([name]) => name);
  return { type: 'object', properties: Object.fromEntries(properties), required, additionalProperties: false };
}

/** Returns the arguments, or the fault as a sentence. */
export function readArguments(parameters: Parameters, given: unknown): Arguments | string {
  const values = given === undefined ? {} : given;
  if (!isObject(values)) return 'arguments has to be an object';
  const unknown = Object.keys(values).find((name) => parameters[name] === undefined);
  if (unknown !== undefined) return `there is no argument ${unknown}; known are ${Object.keys(parameters).join(', ')}`;
  for (const [name, parameter] of Object.entries(parameters)) {
    const fault = faultOf(values[name], parameter);
    if (fault !== undefined) return `${name} ${fault}`;
  }
  return {
    text: (name) => String(values[name] ?? ''),
    integer: (name, otherwise) => Number(values[name] ?? otherwise),
  };
}

function faultOf(
  value: unknown,
  { type, optional, choices, pattern, minimum, maximum }: Parameter,
): string | undefined {
  if (value === undefined) return optional === true ? undefined : 'is missing';
  if (type === 'integer') {
    if (typeof value !== 'number' || !Number.isInteger(value)) return 'has to be an integer';
    if (minimum !== undefined && value < minimum) return `has to be ${minimum} or more`;
    return maximum !== undefined && value > maximum ? `has to be ${maximum} or less` : undefined;
  }
  if (typeof value !== 'string') return 'has to be a text';
  if (choices !== undefined && !choices.includes(value)) return `has to be one of ${choices.join(', ')}`;
  if (pattern !== undefined && !new RegExp(pattern, 'u').test(value)) return `has to match ${pattern}`;
  return undefined;
}
