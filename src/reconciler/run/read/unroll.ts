// Returns the objects of one document: the document itself, or the items of a `List`.

import { isObject, type Json, type JsonObject } from '#std/json.ts';

export interface Unrolled {
  /** Pointer in the document; empty for the document itself. */
  readonly pointer: string;
  readonly value: Json;
}

/** Returns the items of `kind: List` and of typed lists (`ConfigMapList`), as kubectl does, also of lists in lists. */
export function unroll(value: Json, pointer = ''): Unrolled[] {
  if (!isObject(value) || !isKubernetesList(value)) return [{ pointer, value }];
  const { items } = value;
  if (!Array.isArray(items)) return [];
  return items.flatMap((item, index) => unroll(typed(value, item), `${pointer}/items/${index}`));
}

function isKubernetesList({ kind, items, metadata }: JsonObject): boolean {
  // A `List` without `items` is a mistake (such as `item:`), and its intended content is unknown.
  if (kind === 'List') return Array.isArray(items) || items === null;
  // A kind that ends in "List" may also be an ordinary kind: then the object has a name.
  return typeof kind === 'string' && kind.endsWith('List') && Array.isArray(items) && !hasName(metadata);
}

function hasName(metadata: Json | undefined): boolean {
  return isObject(metadata) && metadata.name !== undefined;
}

/** Adds apiVersion and kind of the list to an item of a typed list, which may lack them. */
function typed(list: JsonObject, item: Json): Json {
  if (!isObject(item) || item.kind !== undefined || list.kind === 'List' || typeof list.kind !== 'string') return item;
  return { apiVersion: list.apiVersion, kind: list.kind.slice(0, -'List'.length), ...item };
}
