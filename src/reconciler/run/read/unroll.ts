// Returns the objects of one document: the document itself, or the items of a `List`.

import { isObject, type Json, type JsonObject } from '#std/json.ts';

export interface Unrolled {
  /** Place in the document; empty for the document itself. */
  readonly pointer: string;
  readonly value: Json;
}

/** `kind: List` and typed lists (`ConfigMapList`) stand for their items, as in kubectl; lists of lists too. */
export function unroll(value: Json, pointer = ''): Unrolled[] {
  if (!isObject(value) || !isKubernetesList(value)) return [{ pointer, value }];
  const { items } = value;
  if (!Array.isArray(items)) return [];
  return items.flatMap((item, index) => unroll(typed(value, item), `${pointer}/items/${index}`));
}

function isKubernetesList({ kind, items, metadata }: JsonObject): boolean {
  // Without `items` it is a mistake (`item:`), and its intended content is not known.
  if (kind === 'List') return Array.isArray(items) || items === null;
  // An object of another kind that ends in "List" has a name.
  return typeof kind === 'string' && kind.endsWith('List') && Array.isArray(items) && !hasName(metadata);
}

function hasName(metadata: Json | undefined): boolean {
  return isObject(metadata) && metadata.name !== undefined;
}

/** Items of a typed list may leave out fields that the list has for all of them. */
function typed(list: JsonObject, item: Json): Json {
  if (!isObject(item) || item.kind !== undefined || list.kind === 'List' || typeof list.kind !== 'string') return item;
  return { apiVersion: list.apiVersion, kind: list.kind.slice(0, -'List'.length), ...item };
}
