// Finds fields and words that are still read but should no longer be written. Knows schemas, not kinds.

import { isObject, type Json, type JsonObject, jsonEquals, pointerToken } from '../std/json.ts';
import { DEPRECATED, OLD_WORDS, oldWord } from '../std/schema.ts';
import type { Finding } from './kind.ts';

/**
 * One warning per deprecated field that holds something else than its default: defaults are filled in before we look,
 * so a field at its default says nothing about what the author wrote.
 */
export function deprecatedFields(schema: JsonObject, value: unknown, pointer: string): readonly Finding[] {
  const deprecation = schema[DEPRECATED];
  if (isObject(deprecation) && value !== undefined && !jsonEquals(value, schema.default)) {
    return [warning(pointer.slice(pointer.lastIndexOf('/') + 1), deprecation, pointer)];
  }
  const { properties, items, additionalProperties } = schema;
  const use = instead(schema, value);
  if (use !== undefined) return [warning(String(value), { ...oldWord(use) }, pointer)];
  if (Array.isArray(value) && isObject(items)) {
    return value.flatMap((item, index) => deprecatedFields(items, item, `${pointer}/${index}`));
  }
  if (!isObject(value)) return [];
  if (isObject(additionalProperties)) {
    return Object.entries(value).flatMap(([key, item]) =>
      deprecatedFields(additionalProperties, item, `${pointer}/${pointerToken(key)}`),
    );
  }
  if (!isObject(properties)) return [];
  return Object.entries(properties).flatMap(([key, field]) =>
    isObject(field) ? deprecatedFields(field, value[key], `${pointer}/${pointerToken(key)}`) : [],
  );
}

/** The word of today, where the value is an old one. */
function instead(schema: JsonObject, value: unknown): string | undefined {
  const words = schema[OLD_WORDS];
  const use: Json | undefined = isObject(words) && typeof value === 'string' ? words[value] : undefined;
  return typeof use === 'string' ? use : undefined;
}

function warning(name: string, { use, until }: JsonObject, pointer: string): Finding {
  const message = `${name} is deprecated: use ${use} instead; it goes with ${until}`;
  return { code: 'deprecated-field', severity: 'warning', pointer, message };
}
