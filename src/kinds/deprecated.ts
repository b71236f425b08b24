// Finds fields that are still read but should no longer be written. Knows schemas, not kinds.

import { isObject, type JsonObject, jsonEquals, pointerToken } from '../std/json.ts';
import { DEPRECATED } from '../std/schema.ts';
import type { Finding } from './kind.ts';

/**
 * One warning per deprecated field that holds something else than its default: defaults are filled in before we look,
 * so a field at its default says nothing about what the author wrote.
 */
export function deprecatedFields(schema: JsonObject, value: unknown, pointer: string): readonly Finding[] {
  const replacement = schema[DEPRECATED];
  if (typeof replacement === 'string' && value !== undefined && !jsonEquals(value, schema.default)) {
    const field = pointer.slice(pointer.lastIndexOf('/') + 1);
    const message = `${field} is deprecated: use ${replacement} instead`;
    return [{ code: 'deprecated-field', severity: 'warning', pointer, message }];
  }
  const { properties, items } = schema;
  if (Array.isArray(value) && isObject(items)) {
    return value.flatMap((item, index) => deprecatedFields(items, item, `${pointer}/${index}`));
  }
  if (!isObject(value) || !isObject(properties)) return [];
  return Object.entries(properties).flatMap(([key, field]) =>
    isObject(field) ? deprecatedFields(field, value[key], `${pointer}/${pointerToken(key)}`) : [],
  );
}
