// Finds unknown fields of a reference that may be a name or an object. The schema of such a reference has no type, so
// an API server stores unknown fields, and no code would read them.

import type { Finding } from '#kubernetes/rules/finding.ts';
import { didYouMean } from '#std/closest.ts';
import { isObject, type JsonObject, pointerToken } from '#std/json.ts';
import { REFERENCE } from '#std/schema/marks.ts';

/** `value`: the reference, text or object, that the author wrote at `pointer`. */
export function unknownReferenceFields(schema: JsonObject, value: unknown, pointer: string): readonly Finding[] {
  const { properties } = schema;
  if (!isObject(value) || !isObject(properties)) return [];
  if (schema[REFERENCE] === true) {
    const known = Object.keys(properties);
    const where = pointer.slice(1).replaceAll('/', '.');
    return Object.keys(value).flatMap((name): readonly Finding[] => {
      if (known.includes(name)) return [];
      const message = `${where} has no field "${name}", so it would be ignored.${didYouMean(name, known)}`;
      const at = `${pointer}/${pointerToken(name)}`;
      return [{ code: 'schema-unknown-field', severity: 'error', pointer: at, at: 'key', message }];
    });
  }
  return Object.entries(properties).flatMap(([name, field]) =>
    isObject(field) ? unknownReferenceFields(field, value[name], `${pointer}/${pointerToken(name)}`) : [],
  );
}
