// Finds the value of a field or item before a change.

import { isObject, type Json, jsonEquals } from '#std/json.ts';
import type { SchemaNode } from './schema.ts';

/**
 * Returns the value in `old` that corresponds to `next`. `token` is the field name or index of `next`. Items of lists
 * correspond only by their keys.
 */
export function correlated(
  node: SchemaNode,
  old: Json | undefined,
  token: string,
  next: Json | undefined,
): Json | undefined {
  if (isObject(old)) return node.mapAtomic ? undefined : old[token];
  if (!Array.isArray(old) || node.listType !== 'map' || !isObject(next)) return undefined;
  return old.find((each) => isObject(each) && node.listKeys.every((key) => jsonEquals(each[key], next[key])));
}
