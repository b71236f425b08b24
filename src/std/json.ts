// Defines JSON values as types, and functions on JSON values.

export type Json = null | boolean | number | string | Json[] | JsonObject;

export interface JsonObject {
  [key: string]: Json | undefined;
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the objects in a list. Returns [] if the value is not a list. */
export function objectsIn(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** Returns the texts in a list. Returns [] if the value is not a list. */
export function textsIn(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}

/**
 * Returns a scalar as text, and a noun for a list or an object. `String` can throw for such values: `toString` may be a
 * number, or the list may have a thousand levels.
 */
export function shownText(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' && value !== null ? 'an object' : String(value);
}

/** Returns undefined if the text is not JSON. */
export function parseJson(text: string): Json | undefined {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Returns JSON with sorted keys and without `undefined`. Equal values have equal texts. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(sorted(value));
}

/**
 * Copies the value with sorted keys. A replacer function would be called for each text and number, which takes twice as
 * long.
 */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value) || typeof value.toJSON === 'function') return value;
  const copy: Record<string, unknown> = Object.create(null);
  for (const key of Object.keys(value).sort()) copy[key] = sorted(value[key]);
  return copy;
}

/**
 * Returns whether two JSON values are equal. The order of keys does not count, and a key with the value `undefined`
 * counts as absent.
 */
export function jsonEquals(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((item, index) => jsonEquals(item, b[index]));
  }
  if (!isObject(a) || !isObject(b)) return false;
  const keys = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...keys].every((key) => jsonEquals(a[key], b[key]));
}

/** Returns a UTF-16 code unit as escape sequence of a JSON string, such as `\u2028` (RFC 8259 section 7). */
export function unicodeEscape(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** Escapes a reference token of a JSON pointer (RFC 6901 section 3). */
export function pointerToken(key: string | number): string {
  const text = String(key);
  // Most keys need no escaping, and this runs in the innermost loops.
  return text.includes('~') || text.includes('/') ? text.replaceAll('~', '~0').replaceAll('/', '~1') : text;
}

/** Returns the unescaped reference tokens of a JSON pointer (RFC 6901 section 4). */
export function pointerTokens(pointer: string): string[] {
  if (pointer === '') return [];
  return pointer
    .slice(1)
    .split('/')
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** Returns the value at a JSON pointer (RFC 6901 section 4). Returns undefined if the value does not exist. */
export function valueAtPointer(value: Json | undefined, pointer: string): Json | undefined {
  return pointerTokens(pointer).reduce<Json | undefined>((container, token) => {
    if (Array.isArray(container)) return container[Number(token)];
    return isObject(container) ? container[token] : undefined;
  }, value);
}
