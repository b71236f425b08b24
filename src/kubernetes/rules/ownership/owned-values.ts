// Reads the values of a live object at the places that a manager owns.

import { isObject, type Json, type JsonObject, jsonEquals } from '#std/json.ts';
import type { KubeObject } from '../object.ts';
import { entryOf } from './entries.ts';

/**
 * Returns the values by element, in the form of `fieldsV1`. Missing places have the value undefined. Empty if the
 * manager has applied nothing. Two objects have equal results if the manager owns the same fields with the same values.
 */
export function ownedValues(live: KubeObject, manager: string): JsonObject {
  const entry = entryOf(live, manager);
  return entry === undefined ? {} : valuesBelow(live as JsonObject, entry.fieldsV1);
}

function valuesBelow(value: Json | undefined, fields: JsonObject): JsonObject {
  const values: JsonObject = {};
  for (const [element, below] of Object.entries(fields)) {
    if (element === '.') continue;
    const found = childAt(value, element);
    const deeper = isObject(below) && Object.keys(below).some((key) => key !== '.');
    values[element] = deeper ? valuesBelow(found, below) : found;
  }
  return values;
}

/**
 * Returns the child at an element of `fieldsV1`: `f:` a field, `k:` an item by its keys, `v:` an item by its value,
 * `i:` an item by its position.
 */
function childAt(value: Json | undefined, element: string): Json | undefined {
  const name = element.slice(2);
  if (element.startsWith('f:')) return isObject(value) ? value[name] : undefined;
  if (!Array.isArray(value)) return undefined;
  if (element.startsWith('i:')) return value[Number(name)];
  const keyValue: Json = JSON.parse(name);
  if (element.startsWith('v:')) return value.find((item) => jsonEquals(item, keyValue));
  return value.find((item) => isObject(item) && isObject(keyValue) && hasKeys(item, keyValue));
}

function hasKeys(item: JsonObject, keys: JsonObject): boolean {
  return Object.entries(keys).every(([key, value]) => jsonEquals(item[key], value));
}
