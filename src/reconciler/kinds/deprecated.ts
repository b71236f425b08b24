// Finds deprecated fields and words in an object, for the object's API version. skep still reads such fields and words.

import { isObject, type JsonObject, pointerToken } from '#std/json.ts';
import { type Deprecation, deprecationOf, NEW_WORDS, NEXT_VERSION, OLD_WORDS, REFERENCE } from '#std/schema/marks.ts';
import type { Finding } from './kind.ts';

/** A value, its pointer and the API version of its object. */
interface VersionedValue {
  readonly version: string;
  readonly value: unknown;
  readonly pointer: string;
}

/**
 * Returns one warning per deprecated field or word. `written` must have no defaults, because defaults would be reported
 * as well.
 */
export function deprecatedFields(schema: JsonObject, written: VersionedValue): readonly Finding[] {
  const { value, version, pointer } = written;
  if (value === undefined || value === null) return [];
  const deprecation = deprecationOf(schema) ?? valueDeprecation(schema, value);
  if (deprecation !== undefined && (deprecation.since ?? version) === version) {
    const name = deprecationOf(schema) === undefined ? String(value) : pointer.slice(pointer.lastIndexOf('/') + 1);
    return [warning(name, deprecation, written)];
  }
  if (schema[REFERENCE] === true && typeof value === 'string') return plainName(value, written);
  const { fields, items, values } = insideOf(schema);
  const below = (inner: JsonObject, child: unknown, key: string | number) =>
    deprecatedFields(inner, { version, value: child, pointer: `${pointer}/${pointerToken(key)}` });
  if (Array.isArray(value)) {
    return items === undefined ? [] : value.flatMap((item, index) => below(items, item, index));
  }
  if (!isObject(value)) return [];
  if (values !== undefined) return Object.entries(value).flatMap(([key, item]) => below(values, item, key));
  return fields.flatMap(([key, field]) => (value[key] === undefined ? [] : below(field, value[key], key)));
}

/** Parts of a schema to check: deprecated parts, and parts that contain deprecated parts. */
interface Inside {
  readonly fields: readonly (readonly [string, JsonObject])[];
  /** Schema of the items of a list. */
  readonly items: JsonObject | undefined;
  /** Schema of the values of a map. */
  readonly values: JsonObject | undefined;
}

/** Results by schema. Schemas are constants of the program, so each schema is searched once. */
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
  const own = deprecationOf(schema) !== undefined || schema[OLD_WORDS] !== undefined || schema[REFERENCE] === true;
  return own || fields.length > 0 || items !== undefined || values !== undefined;
}

/** Returns the deprecation of a word: an old word, or a word with another spelling in `NEXT_VERSION`. */
function valueDeprecation(schema: JsonObject, value: unknown): Deprecation | undefined {
  if (typeof value !== 'string') return undefined;
  const [old, news] = [schema[OLD_WORDS], schema[NEW_WORDS]];
  const spelling = isObject(news) ? news[value] : undefined;
  if (typeof spelling === 'string') return { use: spelling, since: NEXT_VERSION };
  const use = isObject(old) ? old[value] : undefined;
  const isSpelling = isObject(news) && Object.values(news).includes(value);
  return typeof use === 'string' && !isSpelling ? { use } : undefined;
}

function warning(name: string, { use, since }: Deprecation, { pointer }: VersionedValue): Finding {
  const message =
    since === undefined
      ? `${name} is deprecated: use ${use} instead`
      : `${name} is deprecated in ${since}: use ${use} instead`;
  return { code: 'deprecated-field', severity: 'warning', pointer, message };
}

function plainName(value: string, { version, pointer }: VersionedValue): readonly Finding[] {
  if (version !== NEXT_VERSION) return [];
  const name = pointer.slice(pointer.lastIndexOf('/') + 1);
  const message = `${name} as a plain name is deprecated in ${version}: write {name: ${value}} instead`;
  return [{ code: 'deprecated-field', severity: 'warning', pointer, message }];
}
