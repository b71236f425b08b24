// Serialises JSON as Go does, for fields in which a server stores JSON as a string.

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

/** Serialises with sorted keys and escaped HTML characters (encoding/json, SetEscapeHTML). */
export function goJson(value: unknown): string {
  return goEscapes(canonicalJson(value));
}

/** Adds Go's escapes to a JSON text. */
export function goEscapes(json: string): string {
  // The first alternative consumes escaped backslashes, so that `\\b` is not mistaken for a backspace.
  return json.replace(/\\\\|\\[bf]|[<>&\u2028\u2029]/g, (found) => ESCAPES[found] ?? found);
}
