// Fills in the defaults of a schema as an API server does. Source: CustomResourceDefinitions, "Defaulting" and
// "Defaulting and Nullable".

import { isObject, type Json, type JsonObject } from '#std/json.ts';
import type { SchemaNode } from './schema.ts';

/** Returns the object itself if nothing changes. Otherwise returns a copy that shares its unchanged parts. */
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
  let copy: Json[] | undefined;
  for (let index = 0; index < list.length; index++) {
    const item = list[index] ?? null;
    // The default of the items' schema replaces a null that is not allowed.
    const filled = defaulted(items, item === null && !items.nullable ? fresh(items.default ?? null) : item);
    if (filled === item) continue;
    copy ??= [...list];
    copy[index] = filled;
  }
  return copy ?? list;
}

function defaultedObject(node: SchemaNode, object: JsonObject): JsonObject {
  let copy: JsonObject | undefined;
  for (const name of Object.keys(object)) {
    const filled = defaultedField(node, name, object[name]);
    if (filled === object[name] && filled !== undefined) continue;
    copy ??= { ...object };
    if (filled === undefined) delete copy[name];
    else copy[name] = filled;
  }
  for (const [name, field] of node.withDefault) {
    if (field.default === undefined || Object.hasOwn(copy ?? object, name)) continue;
    copy ??= { ...object };
    copy[name] = defaulted(field, fresh(field.default));
  }
  return copy ?? object;
}

/** Returns undefined if the field is removed. */
function defaultedField(node: SchemaNode, name: string, value: Json | undefined): Json | undefined {
  if (value === undefined) return undefined;
  const field = fieldOf(node, name);
  if (field === undefined) return value;
  if (value !== null || field.nullable) return defaulted(field, value);
  // A null that is not allowed is removed, or replaced by the default.
  return field.default === undefined ? undefined : defaulted(field, fresh(field.default));
}

/** Returns a copy, because callers may change the result. */
function fresh(value: Json): Json {
  return typeof value === 'object' ? structuredClone(value) : value;
}

/** Returns the schema of a field of an object or of an entry of a map. */
export function fieldOf(node: SchemaNode, name: string): SchemaNode | undefined {
  const { additional } = node;
  return node.properties.get(name) ?? (additional === 'any' ? undefined : additional);
}
