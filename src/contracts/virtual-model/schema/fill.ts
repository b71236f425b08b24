// Adds the defaults of a JSON Schema to a value.

import { isObject, type Json, type JsonObject } from '#std/json.ts';
import { referred } from './fit.ts';

const DEPTH_MAX = 20;

/**
 * Returns the value with the defaults of missing properties. A missing object is added only if its schema has a
 * default.
 */
export function fillDefaults(schema: JsonObject, value: Json): Json {
  return fillAt(schema, schema, value, 0);
}

function fillAt(root: JsonObject, schema: Json | undefined, value: Json, depth: number): Json {
  if (!isObject(schema) || depth > DEPTH_MAX) return value;
  const { $ref, properties, items, allOf } = schema;
  let filled = typeof $ref === 'string' ? fillAt(root, referred(root, $ref), value, depth + 1) : value;
  for (const each of Array.isArray(allOf) ? allOf : []) filled = fillAt(root, each, filled, depth + 1);
  if (Array.isArray(filled) && isObject(items)) return filled.map((item) => fillAt(root, items, item, depth + 1));
  if (!isObject(filled) || !isObject(properties)) return filled;
  const copy: JsonObject = { ...filled };
  for (const [name, property] of Object.entries(properties)) {
    const given = Object.hasOwn(copy, name) ? copy[name] : defaultOf(property);
    if (given !== undefined) copy[name] = fillAt(root, property, given, depth + 1);
  }
  return copy;
}

function defaultOf(schema: Json | undefined): Json | undefined {
  return isObject(schema) ? schema.default : undefined;
}
