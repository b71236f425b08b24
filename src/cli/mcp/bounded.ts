// Limits the size of results, and escapes hidden characters in them. A model reads the results, which contain
// descriptions, messages and log lines of other authors.

import { visible } from '#reconciler/report/visible.ts';
import { Failure } from '#std/failure.ts';
import { isObject, type Json, type JsonObject, pointerToken, unicodeEscape } from '#std/json.ts';
import type { Data } from './tool.ts';

/** Maximum bytes of a result as JSON: about 20,000 tokens, which today's clients accept. */
export const RESULT_BYTES_MAX = 64 * 1024;
/** Maximum number of items in each list. `boundedData` halves the number until the result is small enough. */
export const ITEMS_MAX = 200;
const TEXT_MAX = 4000;
const DEPTH_MAX = 40;

/**
 * Invisible characters in addition to control characters: tags, variation selectors, joiners, line separators. They can
 * hide text from a person but not from a model.
 */
const HIDDEN = /[\p{Cf}\p{Zl}\p{Zp}\p{Variation_Selector}\p{Co}\p{Cn}]/gu;

/**
 * Returns the text with hidden characters as escapes, such as `\u202e`. Keeps line breaks and tabs. Cuts a long text.
 */
export function plainText(text: string): string {
  const escaped = visible(text.toWellFormed()).replaceAll(HIDDEN, (found) =>
    found.split('').map(unicodeEscape).join(''),
  );
  const more = escaped.length - TEXT_MAX;
  return more <= 0 ? escaped : `${escaped.slice(0, TEXT_MAX)}... (${more} more characters)`;
}

/** Returns the text as one line. */
export function plainLine(text: string): string {
  return plainText(text.replaceAll(/\s+/g, ' '));
}

/**
 * Returns the data with shortened lists. `omitted` contains the number of missing items by JSON pointer of the list.
 * Throws Failure `mcp-result-too-large`.
 */
export function boundedData({ shown }: Data): JsonObject {
  for (let items = ITEMS_MAX; items >= 1; items = Math.floor(items / 2)) {
    const omitted: Record<string, number> = {};
    const value = bounded(JSON.parse(JSON.stringify(shown(items))), '', { items, omitted });
    const whole = isObject(value) && Object.keys(omitted).length > 0 ? { ...value, omitted } : value;
    if (isObject(whole) && Buffer.byteLength(JSON.stringify(whole)) <= RESULT_BYTES_MAX) return whole;
  }
  throw new Failure('mcp-result-too-large', `the result has more than ${RESULT_BYTES_MAX} bytes; ask for a part of it`);
}

interface Bounds {
  readonly items: number;
  readonly omitted: Record<string, number>;
}

function bounded(value: Json, pointer: string, bounds: Bounds): Json {
  if (typeof value === 'string') return plainText(value);
  if (typeof value !== 'object' || value === null) return value;
  if (pointer.split('/').length > DEPTH_MAX) return plainText(JSON.stringify(value));
  if (Array.isArray(value)) {
    const more = value.length - bounds.items;
    if (more > 0) bounds.omitted[plainText(pointer)] = more;
    return value.slice(0, bounds.items).map((item, index) => bounded(item, `${pointer}/${index}`, bounds));
  }
  const members = Object.entries(value).flatMap(([key, each]): [string, Json][] => {
    return each === undefined ? [] : [[plainText(key), bounded(each, `${pointer}/${pointerToken(key)}`, bounds)]];
  });
  return Object.fromEntries(members);
}

/** Adds `omitted`, and the fields in `more`, to the JSON Schema of a command's output. */
export function boundedSchema(schema: JsonObject, more: JsonObject = {}): JsonObject {
  const { $schema: _dialect, oneOf, properties, ...rest } = schema;
  const added = { omitted: OMITTED, ...more };
  if (Array.isArray(oneOf)) {
    const branches = oneOf.filter(isObject).map((each) => boundedSchema(each, more));
    return { ...rest, type: 'object', oneOf: branches };
  }
  return { ...rest, type: 'object', properties: { ...(isObject(properties) ? properties : {}), ...added } };
}

const OMITTED: JsonObject = {
  type: 'object',
  additionalProperties: { type: 'integer', minimum: 1 },
  description: 'Number of items that a list lacks because the result would be too large, by JSON pointer of the list.',
};
