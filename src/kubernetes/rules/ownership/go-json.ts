// Writes JSON texts as Go does, for places in which a server keeps JSON inside a string.

import { canonicalJson } from '#std/json.ts';

const ESCAPES: Readonly<Record<string, string>> = {
  '<': '\\u003c',
  '>': '\\u003e',
  '&': '\\u0026',
  '\u2028': '\\u2028',
  '\u2029': '\\u2029',
  '\\b': '\\u0008',
  '\\f': '\\u000c',
};

/** Writes JSON with sorted keys and escaped HTML characters (encoding/json, SetEscapeHTML). */
export function goJson(value: unknown): string {
  return goEscapes(canonicalJson(value));
}

/** Adds the escapes of Go to a JSON text. */
export function goEscapes(json: string): string {
  // The first alternative steps over escaped backslashes, so that `\\b` is not taken for a backspace.
  return json.replace(/\\\\|\\[bf]|[<>&\u2028\u2029]/g, (found) => ESCAPES[found] ?? found);
}
