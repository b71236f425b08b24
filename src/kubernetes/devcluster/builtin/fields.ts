// Reads fields of JSON objects and sets defaults.

import { isObject, type Json, type JsonObject } from '#std/json.ts';

/** Returns the value with defaults for fields that are absent, null or empty text. */
export function fill(value: JsonObject, defaults: JsonObject): JsonObject {
  const filled: JsonObject = { ...value };
  for (const [key, standard] of Object.entries(defaults)) {
    if (isUnset(filled[key])) filled[key] = standard;
  }
  return filled;
}

export function isUnset(value: Json | undefined): boolean {
  return value === undefined || value === null || value === '';
}

/** Returns the object in the field. Returns an empty object if the field is not an object. */
export function objectAt(value: JsonObject, key: string): JsonObject {
  const field = value[key];
  return isObject(field) ? field : {};
}

/** Returns the objects of a list field. Empty if the field is absent. */
export function itemsAt(value: JsonObject, key: string): readonly JsonObject[] {
  const field = value[key];
  return Array.isArray(field) ? field.filter(isObject) : [];
}
