// Returns the objects of one document: the document itself, or the items of a `List`.

import { isObject, type Json, type JsonObject } from '#std/json.ts';

export interface Unrolled {
  /** Pointer in the document; empty for the document itself. */
  readonly pointer: string;
  readonly value: Json;
}

/**
 * Returns the items of `List` and of typed lists such as `ConfigMapList`, like kubectl. Also unrolls lists in lists.
 */
export function unroll(value: Json, pointer = ''): Unrolled[] {
  if (!isObject(value) || !isKubernetesList(value)) return [{ pointer, value }];
  const { items } = value;
  if (!Array.isArray(items)) return [];
  return items.flatMap((item, index) => unroll(typed(value, item), `${pointer}/items/${index}`));
}

function isKubernetesList({ kind, items, metadata }: JsonObject): boolean {
  // A `List` without `items`, for example with the typo `item`, is not unrolled. The `List` itself is then reported.
  if (kind === 'List') return Array.isArray(items) || items === null;
  // The name of an ordinary kind may also end in "List". Unlike a list, an object of such a kind has a name.
  return typeof kind === 'string' && kind.endsWith('List') && Array.isArray(items) && !hasName(metadata);
}

function hasName(metadata: Json | undefined): boolean {
  return isObject(metadata) && metadata.name !== undefined;
}

/** Adds apiVersion and kind to an item of a typed list, because such an item may lack them. */
function typed(list: JsonObject, item: Json): Json {
  if (!isObject(item) || item.kind !== undefined || list.kind === 'List' || typeof list.kind !== 'string') return item;
  return { apiVersion: list.apiVersion, kind: list.kind.slice(0, -'List'.length), ...item };
}
