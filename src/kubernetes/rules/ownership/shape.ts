// Selects the shape of a value from the shapes that its type allows: map, scalar, list.

import { isObject, type Json, type JsonObject } from '#std/json.ts';
import type { ListType, MapType, MergeType, ScalarType } from '../openapi.ts';

export type Shape =
  | { readonly is: 'map'; readonly type: MapType }
  | { readonly is: 'scalar'; readonly type: ScalarType }
  | { readonly is: 'list'; readonly type: ListType };

/**
 * Returns the shape of the value, if the type allows it. Otherwise, or if the value is null or absent, returns the
 * first shape that the type allows, in the order map, scalar, list.
 */
export function shapeOf(type: MergeType, value: Json | undefined): Shape {
  const { map, scalar, list } = type;
  if (Array.isArray(value)) {
    if (list !== undefined) return { is: 'list', type: list };
  } else if (isObject(value)) {
    if (map !== undefined) return { is: 'map', type: map };
  } else if (value !== null && value !== undefined && scalar !== undefined) {
    return { is: 'scalar', type: scalar };
  }
  if (map !== undefined) return { is: 'map', type: map };
  if (scalar !== undefined) return { is: 'scalar', type: scalar };
  return { is: 'list', type: list ?? NO_LIST };
}

/** A type always has a shape. This constant spares callers an impossible case. */
const NO_LIST: ListType = {
  merge: 'atomic',
  keys: [],
  item: () => ({ storage: 'verbatim', scalar: { value: 'any' } }),
};

/** Whether the value is `false`, `0`, `""`, `[]`, `{}` or null, which a Go struct cannot distinguish from absent. */
export function isEmptyValue(value: Json | undefined): boolean {
  if (Array.isArray(value)) return value.length === 0;
  if (isObject(value)) return isEmptyMap(value);
  return value === undefined || value === null || value === false || value === 0 || value === '';
}

export function isEmptyMap(map: JsonObject): boolean {
  for (const key in map) if (map[key] !== undefined) return false;
  return true;
}

/** Returns the value, or undefined for null. */
export function present(value: Json | undefined): Json | undefined {
  return value ?? undefined;
}
