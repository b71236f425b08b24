// Finds fields and words that are still read but should no longer be written. Knows schemas, not kinds.

import { isObject, type Json, type JsonObject, pointerToken } from '#std/json.ts';
import { type Deprecation, deprecationOf, OLD_WORDS, oldWord } from '#std/schema.ts';
import type { Finding } from './kind.ts';

/** One warning per deprecated field that an author wrote. Without defaults: those would be reported, too. */
export function deprecatedFields(schema: JsonObject, value: unknown, pointer: string): readonly Finding[] {
  const deprecation = deprecationOf(schema);
  if (value === undefined || value === null) return [];
  if (deprecation !== undefined) {
    return [warning(pointer.slice(pointer.lastIndexOf('/') + 1), deprecation, pointer)];
  }
  const use = instead(schema, value);
  if (use !== undefined) return [warning(String(value), oldWord(use), pointer)];
  const { fields, items, values } = insideOf(schema);
  if (Array.isArray(value)) {
    return items === undefined
      ? []
      : value.flatMap((item, index) => deprecatedFields(items, item, `${pointer}/${index}`));
  }
  if (!isObject(value)) return [];
  if (values !== undefined) {
    return Object.entries(value).flatMap(([key, item]) =>
      deprecatedFields(values, item, `${pointer}/${pointerToken(key)}`),
    );
  }
  return fields.flatMap(([key, field]) =>
    value[key] === undefined ? [] : deprecatedFields(field, value[key], `${pointer}/${pointerToken(key)}`),
  );
}

/** What of a schema has to be looked at: the parts that are deprecated, or hold something that is. */
interface Inside {
  readonly fields: readonly (readonly [string, JsonObject])[];
  /** Of lists. */
  readonly items: JsonObject | undefined;
  /** Of maps. */
  readonly values: JsonObject | undefined;
}

/** Schemas are constants of the program: looked through once. */
const known = new WeakMap<JsonObject, Inside>();

function insideOf(schema: JsonObject): Inside {
  const earlier = known.get(schema);
  if (earlier !== undefined) return earlier;
  const { properties, items, additionalProperties: values } = schema;
  const all = isObject(properties) ? Object.entries(properties) : [];
  const inside = {
    fields: all.flatMap(([key, field]) => (isObject(field) && holdsOld(field) ? [[key, field] as const] : [])),
    items: isObject(items) && holdsOld(items) ? items : undefined,
    values: isObject(values) && holdsOld(values) ? values : undefined,
  };
  known.set(schema, inside);
  return inside;
}

function holdsOld(schema: JsonObject): boolean {
  const { fields, items, values } = insideOf(schema);
  const own = deprecationOf(schema) !== undefined || schema[OLD_WORDS] !== undefined;
  return own || fields.length > 0 || items !== undefined || values !== undefined;
}

/** The word of today, where the value is an old one. */
function instead(schema: JsonObject, value: unknown): string | undefined {
  const words = schema[OLD_WORDS];
  const use: Json | undefined = isObject(words) && typeof value === 'string' ? words[value] : undefined;
  return typeof use === 'string' ? use : undefined;
}

function warning(name: string, { use, until }: Deprecation, pointer: string): Finding {
  const message = `${name} is deprecated: use ${use} instead; it goes with ${until}`;
  return { code: 'deprecated-field', severity: 'warning', pointer, message };
}
