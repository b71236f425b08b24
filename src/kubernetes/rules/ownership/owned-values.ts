// The values that a living object has at the places a manager owns.

import { isObject, type Json, type JsonObject, jsonEquals } from '#std/json.ts';
import type { KubeObject } from '../object.ts';
import { entryOf } from './entries.ts';

/**
 * By element, as `fieldsV1` spells them; what is owned and not there has no value. Empty where the manager has applied
 * nothing. Equal for two objects of which the manager owns the same fields with the same values.
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

/** FieldsV1: `f:` a field, `k:` an item by its keys, `v:` an item by its value, `i:` an item by its position. */
function childAt(value: Json | undefined, element: string): Json | undefined {
  const name = element.slice(2);
  if (element.startsWith('f:')) return isObject(value) ? value[name] : undefined;
  if (!Array.isArray(value)) return undefined;
  if (element.startsWith('i:')) return value[Number(name)];
  const wanted: Json = JSON.parse(name);
  if (element.startsWith('v:')) return value.find((item) => jsonEquals(item, wanted));
  return value.find((item) => isObject(item) && isObject(wanted) && hasKeys(item, wanted));
}

function hasKeys(item: JsonObject, keys: JsonObject): boolean {
  return Object.entries(keys).every(([key, value]) => jsonEquals(item[key], value));
}
