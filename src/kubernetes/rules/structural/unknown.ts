// Removes fields that an object's schema does not declare, and reports them. Source: CustomResourceDefinitions, "Field
// pruning".

import { didYouMean } from '#std/closest.ts';
import { isObject, type Json, type JsonObject, pointerToken } from '#std/json.ts';
import type { Finding } from '../finding.ts';
import { fieldPath } from './path.ts';
import type { Report } from './report.ts';
import { pointerOf, type SchemaNode } from './schema.ts';

/** Fields that every object may have, even if its schema does not declare them. */
const META_FIELDS: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata']);

/**
 * Returns the object without undeclared fields, and a finding for each of them. `pointer` is the place of the object.
 * Shares unchanged parts with the argument. Returns the object itself if no field is removed.
 */
export function pruned(node: SchemaNode, object: JsonObject, pointer: string): Pruned {
  const out: Report = { findings: [] };
  const result = prunedObject(out, node, object, pointer);
  return { object: result, unknown: out.findings };
}

interface Pruned {
  readonly object: JsonObject;
  readonly unknown: readonly Finding[];
}

/** Prunes a value. If `node` is undefined, the value has no schema, and all fields of objects inside it are removed. */
function prunedValue(out: Report, node: SchemaNode | undefined, value: Json, pointer: string): Json {
  if (Array.isArray(value)) {
    if (node?.preserve === true && node.items === undefined) return value;
    // The items of a list that preserves unknown fields preserve them too.
    const items = node?.items !== undefined && node.preserve ? { ...node.items, preserve: true } : node?.items;
    return prunedList(out, items, value, pointer);
  }
  return isObject(value) ? prunedObject(out, node, value, pointer) : value;
}

function prunedList(out: Report, items: SchemaNode | undefined, list: Json[], pointer: string): Json[] {
  let copy: Json[] | undefined;
  for (let index = 0; index < list.length; index++) {
    const item = list[index] ?? null;
    if (typeof item !== 'object' || item === null) continue;
    const kept = prunedValue(out, items, item, `${pointer}/${index}`);
    if (kept === item) continue;
    copy ??= [...list];
    copy[index] = kept;
  }
  return copy ?? list;
}

function prunedObject(out: Report, node: SchemaNode | undefined, object: JsonObject, pointer: string): JsonObject {
  let copy: JsonObject | undefined;
  for (const name of Object.keys(object)) {
    const kept = prunedField(out, node, name, object[name], pointer);
    if (kept === object[name] && kept !== undefined) continue;
    copy ??= { ...object };
    if (kept === undefined) delete copy[name];
    else copy[name] = kept;
  }
  return copy ?? object;
}

/** Returns undefined if the field is removed. */
function prunedField(
  out: Report,
  node: SchemaNode | undefined,
  name: string,
  value: Json | undefined,
  pointer: string,
): Json | undefined {
  if (value === undefined || (node?.embedded === true && META_FIELDS.has(name))) return value;
  const field = node?.properties.get(name);
  const isWhole = typeof value !== 'object' || value === null;
  if (field !== undefined) return isWhole ? value : prunedValue(out, field, value, pointerOf(pointer, name, field));
  const additional = node?.additional;
  if (additional !== undefined) {
    const schema = additional === 'any' ? undefined : additional;
    return isWhole ? value : prunedValue(out, schema, value, `${pointer}/${pointerToken(name)}`);
  }
  if (node?.preserve === true) return value;
  out.findings.push(unknownField(node, name, `${pointer}/${pointerToken(name)}`));
  return undefined;
}

function unknownField(node: SchemaNode | undefined, name: string, pointer: string): Finding {
  const known = [...(node?.properties.keys() ?? [])];
  const parent = pointer.slice(0, pointer.lastIndexOf('/'));
  const where = parent === '' ? 'this kind' : fieldPath(parent);
  return {
    code: 'schema-unknown-field',
    severity: 'error',
    pointer,
    at: 'key',
    message: `${where} has no field "${name}", so the API server would drop it.${didYouMean(name, known)}`,
  };
}
