// Drops findings about values that an update does not change, so that earlier faults do not block the update. Source:
// CustomResourceDefinitions, "Validation ratcheting", which also lists the rules that are always enforced.

import { isObject, type Json, jsonEquals, pointerTokens } from '#std/json.ts';
import type { Finding } from '../finding.ts';
import type { SchemaCode } from './codes.ts';
import { correlated } from './correlate.ts';
import { fieldOf } from './defaults.ts';
import type { SchemaNode } from './schema.ts';

export function ratchet(findings: readonly Finding[], root: SchemaNode, value: Json, old: Json): Finding[] {
  return findings.filter(({ code, pointer }) => ALWAYS.has(code) || !unchanged(root, value, old, pointer));
}

/** Repeated items are always reported, because they cannot be matched with their earlier values. */
const ALWAYS: ReadonlySet<string> = new Set<SchemaCode>(['schema-duplicate-item']);

/**
 * Returns whether the value at the pointer is unchanged. If no earlier value corresponds to it, compares the nearest
 * enclosing value that has an earlier value.
 */
function unchanged(root: SchemaNode, value: Json, old: Json, pointer: string): boolean {
  let node: SchemaNode | undefined = root;
  let [now, before]: [Json, Json] = [value, old];
  for (const token of pointerTokens(pointer)) {
    const list: boolean = Array.isArray(now);
    const next: Json | undefined = Array.isArray(now) ? now[Number(token)] : isObject(now) ? now[token] : undefined;
    const earlier: Json | undefined = node === undefined ? undefined : correlated(node, before, token, next);
    if (next === undefined || earlier === undefined) break;
    node = node === undefined ? undefined : list ? node.items : fieldOf(node, token);
    [now, before] = [next, earlier];
  }
  return jsonEquals(now, before);
}
