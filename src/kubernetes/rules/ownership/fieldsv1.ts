// Reads and writes sets of fields in the form of `managedFields[].fieldsV1` (Kubernetes API, FieldsV1).

import { isObject, type JsonObject } from '#std/json.ts';
import { compareElements, formatElement, isElement, parseElement } from './element.ts';
import { EMPTY_SET, type FieldNode, type FieldSet, LEAF } from './fieldset.ts';

/**
 * Parses a set. `{}` is a member without children. An object with children is a member only if it has the key `.`.
 * Elements of an unknown form are ignored. Returns undefined if an element contains invalid JSON.
 */
export function parseFields(fields: JsonObject): FieldSet | undefined {
  return parseLevel(fields)?.children;
}

function parseLevel(fields: JsonObject): FieldNode | undefined {
  let member = false;
  let children: Map<string, FieldNode> | undefined;
  for (const key in fields) {
    if (key === '.') {
      member = true;
      continue;
    }
    if (!isElement(key)) continue;
    const below = fields[key];
    const element = parseElement(key);
    const node = isObject(below) ? parseLevel(below) : LEAF;
    if (element === undefined || node === undefined) return undefined;
    children ??= new Map();
    children.set(element, node);
  }
  return children === undefined ? LEAF : { member, children };
}

/**
 * True if `parseFields(fields)` would return a set equal to `set`. Does not build the parsed set, because most objects
 * are unchanged. False is inconclusive: `fields` may contain an element that only servers write in this form.
 */
export function surelyHold(fields: JsonObject, set: FieldSet): boolean {
  let found = 0;
  for (const key in fields) {
    if (key === '.') continue;
    const node = set.get(key);
    const below = fields[key];
    if (node === undefined || !isObject(below) || !surelyHoldsNode(below, node)) return false;
    found += 1;
  }
  return found === set.size;
}

function surelyHoldsNode(below: JsonObject, { member, children }: FieldNode): boolean {
  const isMember = children.size === 0 || below['.'] !== undefined;
  return isMember === member && surelyHold(below, children);
}

/** Serialises a set in the order and form that the API server uses. */
export function formatFields(set: FieldSet): JsonObject {
  const fields: JsonObject = {};
  for (const element of [...set.keys()].sort(compareElements)) {
    const { member, children } = set.get(element) ?? { member: false, children: EMPTY_SET };
    const below = formatFields(children);
    fields[formatElement(element)] = member && children.size > 0 ? { '.': {}, ...below } : below;
  }
  return fields;
}
