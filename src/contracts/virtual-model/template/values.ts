// Defines the values of a running Go template.

import { isObject, type Json, type JsonObject } from '#std/json.ts';

/**
 * Undefined is a value that does not exist, and its fields are also undefined. Null is an explicit nil, and reading its
 * fields is an error. A bigint is an integer. A number is a float, or a literal that is written as a float.
 */
export type Value = undefined | null | boolean | bigint | number | string | readonly Json[] | JsonObject;

const INTEGERS_END = 2 ** 63;

/** Returns a value from the data of the template. Integers stay integers. ToolHive turns them into floats. */
export function fromData(json: Json | undefined): Value {
  if (typeof json !== 'number' || !Number.isInteger(json) || Math.abs(json) >= INTEGERS_END) return json ?? null;
  return BigInt(json);
}

/** Returns undefined if the key does not exist. */
export function member(object: JsonObject, key: string): Value {
  return Object.hasOwn(object, key) ? fromData(object[key]) : undefined;
}

export function isList(value: Value): value is readonly Json[] {
  return Array.isArray(value);
}

export function isMap(value: Value): value is JsonObject {
  return isObject(value);
}

/** Returns false for values that are false, 0, empty, null or undefined. Used by `if`, `and`, `or` and `not`. */
export function isTruthy(value: Value): boolean {
  if (isList(value)) return value.length > 0;
  if (isMap(value)) return Object.keys(value).length > 0;
  return Boolean(value);
}

/** Returns the name of the value's type in Go. */
export function typeName(value: Value): string {
  switch (typeof value) {
    case 'boolean':
      return 'bool';
    case 'bigint':
      return 'int';
    case 'number':
      return 'float64';
    case 'string':
      return 'string';
    default:
      if (isList(value)) return '[]interface {}';
      return isMap(value) ? 'map[string]interface {}' : '<nil>';
  }
}

/** Compares the UTF-8 bytes of two texts, as Go does. */
export function compareTexts(a: string, b: string): number {
  if (a === b) return 0;
  const length = Math.min(a.length, b.length);
  let at = 0;
  while (at < length && a.charCodeAt(at) === b.charCodeAt(at)) at += 1;
  return rank(a, at) - rank(b, at);
}

/** Returns the sort position of a UTF-16 code unit. In UTF-8, surrogate pairs come after all other characters. */
function rank(text: string, at: number): number {
  const code = at < text.length ? text.charCodeAt(at) : -1;
  return code >= 0xd800 && code < 0xe000 ? code + 0x10000 : code;
}

export function sortedKeys(object: JsonObject): readonly string[] {
  return Object.keys(object).sort(compareTexts);
}
