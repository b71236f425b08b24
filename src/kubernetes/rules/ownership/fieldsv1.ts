// Reads and writes sets of fields in the form of `managedFields[].fieldsV1` (Kubernetes API, FieldsV1).

import { isObject, type JsonObject } from '#std/json.ts';
import { compareElements, formatElement, isElement, parseElement } from './element.ts';
import { EMPTY_SET, type FieldNode, type FieldSet, LEAF } from './fieldset.ts';

/**
 * Parses a set. `{}` is a member with nothing below, and an object with children is a member only with the key `.`.
 * Elements of an unknown form are left out. Returns undefined if an element's JSON is broken.
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
 * Returns true if `parseFields` of the fields returns this very set. It does not build the set, because most objects
 * are unchanged. False proves nothing: the fields may contain an element in a form that is read but never written here.
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

/** Writes a set in the order and form of the server. */
export function formatFields(set: FieldSet): JsonObject {
  const fields: JsonObject = {};
  for (const element of [...set.keys()].sort(compareElements)) {
    const { member, children } = set.get(element) ?? { member: false, children: EMPTY_SET };
    const below = formatFields(children);
    fields[formatElement(element)] = member && children.size > 0 ? { '.': {}, ...below } : below;
  }
  return fields;
}
