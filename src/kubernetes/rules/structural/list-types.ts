// Reports repeated list items: equal items of a set, and items of a map with equal keys. Source:
// x-kubernetes-list-type, x-kubernetes-list-map-keys.

import { canonicalJson, isObject, type Json } from '#std/json.ts';
import { type Report, report } from './report.ts';
import type { SchemaNode } from './schema.ts';

export function reportDuplicateItems(out: Report, node: SchemaNode, list: readonly Json[], pointer: string): void {
  if (node.listType === 'atomic' || list.length < 2) return;
  const first = new Map<string, number>();
  for (const [index, item] of list.entries()) {
    const identity = entryIdentity(node, item);
    if (identity === undefined) continue;
    const earlier = first.get(identity);
    if (earlier === undefined) first.set(identity, index);
    else report(out, 'schema-duplicate-item', `${pointer}/${index}`, explainRepetition(node, earlier));
  }
}

/** Returns undefined if another check reports the type of the item. */
function entryIdentity({ listType, listKeys }: SchemaNode, item: Json): string | undefined {
  if (listType === 'set') return canonicalJson(item);
  if (!isObject(item)) return undefined;
  const [key] = listKeys;
  const only = listKeys.length === 1 && key !== undefined ? item[key] : undefined;
  // Nearly every list has a single key with string values. No JSON array begins with a quote, so the forms cannot
  // collide.
  if (typeof only === 'string') return `"${only}`;
  return canonicalJson(listKeys.map((key) => (item[key] === undefined ? [] : [item[key]])));
}

function explainRepetition({ listType, listKeys }: SchemaNode, earlier: number): string {
  if (listType === 'set') return `repeats entry ${earlier}; every entry may occur only once.`;
  return `has the same ${listKeys.join(' and ')} as entry ${earlier}.`;
}
