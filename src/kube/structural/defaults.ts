// Fills in the defaults of a schema as an API server does. Knows nothing about validity.
// Source: CustomResourceDefinitions, "Defaulting" and "Defaulting and Nullable".

import { isObject, type Json, type JsonObject } from '../../std/json.ts';
import type { SchemaNode } from './schema.ts';

/** A copy; parts without defaults below them are shared with the argument. */
export function withDefaults(node: SchemaNode, object: JsonObject): JsonObject {
  return defaultedObject(node, object);
}

function defaulted(node: SchemaNode, value: Json): Json {
  if (Array.isArray(value)) return defaultedList(node, value);
  return isObject(value) ? defaultedObject(node, value) : value;
}

function defaultedList(node: SchemaNode, list: Json[]): Json[] {
  const { items } = node;
  if (items === undefined) return list;
  // A null that is not allowed stands for the default, where items have one.
  return list.map((item) => defaulted(items, item === null && !items.nullable ? (items.default ?? null) : item));
}

function defaultedObject(node: SchemaNode, object: JsonObject): JsonObject {
  const result: JsonObject = {};
  for (const [name, value] of Object.entries(object)) {
    if (value === undefined) continue;
    const field = fieldOf(node, name);
    if (field === undefined) {
      result[name] = value;
      continue;
    }
    if (value !== null || field.nullable) {
      result[name] = defaulted(field, value);
      continue;
    }
    // A null that is not allowed is dropped, or gives way to the default.
    if (field.default !== undefined) result[name] = defaulted(field, structuredClone(field.default));
  }
  for (const [name, field] of node.properties) {
    if (field.default === undefined || Object.hasOwn(result, name)) continue;
    result[name] = defaulted(field, structuredClone(field.default));
  }
  return result;
}

/** The schema of one field of an object or entry of a map. */
export function fieldOf(node: SchemaNode, name: string): SchemaNode | undefined {
  const { additional } = node;
  return node.properties.get(name) ?? (additional === 'any' ? undefined : additional);
}
