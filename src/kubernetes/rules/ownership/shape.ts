// Selects one of the shapes that a type allows (map, scalar, list) for a value.

import { isObject, type Json, type JsonObject } from '#std/json.ts';
import type { ListType, MapType, MergeType, ScalarType } from '../openapi.ts';

export type Shape =
  | { readonly is: 'map'; readonly type: MapType }
  | { readonly is: 'scalar'; readonly type: ScalarType }
  | { readonly is: 'list'; readonly type: ListType };

/**
 * Returns the shape of the value if the type allows it. For null, undefined, or a value of another shape, returns the
 * first allowed shape in the order map, scalar, list.
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

/** Never used, because every type has a shape. Callers thus need not handle an impossible case. */
const NO_LIST: ListType = {
  merge: 'atomic',
  keys: [],
  item: () => ({ storage: 'verbatim', scalar: { value: 'any' } }),
};

/** True for `false`, `0`, `""`, `[]`, `{}` and null, which a Go struct cannot distinguish from absent. */
export function isEmptyValue(value: Json | undefined): boolean {
  if (Array.isArray(value)) return value.length === 0;
  if (isObject(value)) return isEmptyMap(value);
  return value === undefined || value === null || value === false || value === 0 || value === '';
}

export function isEmptyMap(map: JsonObject): boolean {
  for (const key in map) if (map[key] !== undefined) return false;
  return true;
}

/** Converts null to undefined. */
export function present(value: Json | undefined): Json | undefined {
  return value ?? undefined;
}
