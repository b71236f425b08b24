// What of an object its schema does not name, and the object without it. Knows nothing about validity.
// Source: CustomResourceDefinitions, "Field pruning".

import { didYouMean } from '../../std/closest.ts';
import { isObject, type Json, type JsonObject, pointerToken } from '../../std/json.ts';
import type { Finding } from '../finding.ts';
import { fieldPath } from './path.ts';
import type { Report } from './report.ts';
import type { SchemaNode } from './schema.ts';

/** Every object has these, whatever its schema says. */
const META_FIELDS: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata']);

/** A copy without what the schema does not name, and a finding for each part that is gone. `pointer`: where it stands. */
export function pruned(node: SchemaNode, object: JsonObject, pointer: string): Pruned {
  const out: Report = { findings: [] };
  const result = prunedObject(out, node, object, pointer);
  return { object: result, unknown: out.findings };
}

interface Pruned {
  readonly object: JsonObject;
  readonly unknown: readonly Finding[];
}

/** `node` undefined: nothing is known about the value, so nothing inside objects stays. */
function prunedValue(out: Report, node: SchemaNode | undefined, value: Json, pointer: string): Json {
  if (Array.isArray(value)) {
    if (node?.preserve === true && node.items === undefined) return value;
    // Items of a list that keeps everything keep everything too.
    const items = node?.items !== undefined && node.preserve ? { ...node.items, preserve: true } : node?.items;
    return value.map((item, index) => prunedValue(out, items, item, `${pointer}/${index}`));
  }
  return isObject(value) ? prunedObject(out, node, value, pointer) : value;
}

function prunedObject(out: Report, node: SchemaNode | undefined, object: JsonObject, pointer: string): JsonObject {
  const result: JsonObject = {};
  for (const [name, value] of Object.entries(object)) {
    if (value === undefined) continue;
    const inner = `${pointer}/${pointerToken(name)}`;
    const field = node?.properties.get(name);
    if (node?.embedded === true && META_FIELDS.has(name)) result[name] = value;
    else if (field !== undefined) result[name] = prunedValue(out, field, value, inner);
    else if (node?.additional !== undefined) {
      result[name] = prunedValue(out, node.additional === 'any' ? undefined : node.additional, value, inner);
    } else if (node?.preserve === true) result[name] = value;
    else out.findings.push(unknownField(node, name, inner));
  }
  return result;
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
