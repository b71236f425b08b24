// Finds the earlier state of a part of an object.

import { isObject, type Json, jsonEquals } from '#std/json.ts';
import type { SchemaNode } from './schema.ts';

/**
 * Returns the value in `old` that corresponds to `next`, under a field or an index. Entries of lists are matched by
 * their keys only.
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
