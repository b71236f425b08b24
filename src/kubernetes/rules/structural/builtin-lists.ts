// Reports list items of built-in kinds with equal keys. A server accepts them in a create, but refuses them in an
// apply, and skep applies all objects. Source: KEP-555 (server-side apply): x-kubernetes-list-type,
// x-kubernetes-list-map-keys.

import { canonicalJson, isObject, type Json } from '#std/json.ts';
import type { OpenApiSchema } from '../openapi.ts';
import { type Report, report } from './report.ts';

/** `item` is the schema of the list's items. */
export function reportRepeatedItems(
  out: Report,
  schema: OpenApiSchema,
  item: OpenApiSchema | undefined,
  list: readonly Json[],
  pointer: string,
): void {
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  const isSet = schema['x-kubernetes-list-type'] === 'set';
  if (list.length < 2 || (keys.length === 0 && !isSet)) return;
  const first = new Map<string, number>();
  for (const [index, entry] of list.entries()) {
    const name = isSet ? canonicalJson(entry) : entryKeys(keys, item, entry);
    if (name === undefined) continue;
    const earlier = first.get(name);
    if (earlier === undefined) first.set(name, index);
    else
      report(
        out,
        'schema-duplicate-item',
        `${pointer}/${index}`,
        `has the same ${isSet ? 'value' : keys.join(' and ')} as entry ${earlier}.`,
      );
  }
}

/** Returns undefined if a key without a default is missing, which another check reports. */
function entryKeys(keys: readonly string[], item: OpenApiSchema | undefined, entry: Json): string | undefined {
  if (!isObject(entry)) return undefined;
  const values = keys.map((key) => entry[key] ?? item?.properties?.[key]?.default);
  const known = values.filter((value): value is Json => value !== undefined && value !== '');
  return known.length === keys.length ? canonicalJson(known) : undefined;
}
