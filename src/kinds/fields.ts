// A kind's schema as a flat list of fields, for documentation, explanation and tests that must not miss one.
// Knows nothing about how they are printed.

import { isObject, type Json, type JsonObject } from '../std/json.ts';
import { DEPRECATED } from '../std/schema.ts';

export interface Field {
  /** `spec.registries[].git.branch`; keys of maps are `{}`. */
  readonly path: string;
  /** `string`, `integer`, `boolean`, `object`, with `[]` behind for lists and `{}` for maps. */
  readonly type: string;
  readonly description: string;
  readonly required: boolean;
  readonly default?: Json;
  /** What to write instead. */
  readonly deprecated?: string;
  /** True where nothing below it is described. */
  readonly leaf: boolean;
  readonly schema: JsonObject;
}

/** The fields of an object schema, parents before children. */
export function fieldsOf(schema: JsonObject, path: string): readonly Field[] {
  const { properties, required } = schema;
  if (!isObject(properties)) return [];
  const needed = Array.isArray(required) ? required : [];
  return Object.entries(properties).flatMap(([key, field]) => {
    return isObject(field) ? described(field, `${path}.${key}`, needed.includes(key)) : [];
  });
}

function described(schema: JsonObject, path: string, required: boolean): readonly Field[] {
  const inner = innermost(schema);
  const below = fieldsOf(inner.schema, `${path}${inner.suffix}`);
  const { default: fallback, description } = schema;
  const deprecated = schema[DEPRECATED];
  const field: Field = {
    path,
    type: `${inner.schema.type}${inner.suffix}`,
    description: typeof description === 'string' ? description : '',
    required: required && fallback === undefined,
    ...(fallback === undefined ? {} : { default: fallback }),
    ...(typeof deprecated === 'string' ? { deprecated } : {}),
    leaf: below.length === 0,
    schema,
  };
  return [field, ...below];
}

/** Through lists and maps to what they hold. */
function innermost(schema: JsonObject): { readonly schema: JsonObject; readonly suffix: string } {
  const { items, additionalProperties } = schema;
  if (isObject(items)) {
    const inner = innermost(items);
    return { schema: inner.schema, suffix: `[]${inner.suffix}` };
  }
  if (!isObject(additionalProperties)) return { schema, suffix: '' };
  const inner = innermost(additionalProperties);
  return { schema: inner.schema, suffix: `{}${inner.suffix}` };
}
