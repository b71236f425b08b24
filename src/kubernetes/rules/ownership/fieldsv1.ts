// Sets of fields as `managedFields[].fieldsV1` holds them (Kubernetes API, FieldsV1).

import { isObject, type JsonObject } from '#std/json.ts';
import { compareElements, formatElement, isElement, parseElement } from './element.ts';
import { EMPTY_SET, type FieldNode, type FieldSet, LEAF } from './fieldset.ts';

/**
 * `{}` is a member with nothing below; an object with children is a member only with the key `.`. Elements of a kind
 * that is not known are left out. Undefined where an element's JSON is broken.
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
 * True where `parseFields` of the fields gives this very set, found without making it: most objects are as they should be.
 * False means nothing: the fields may spell an element in a way that is read, but not written here.
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

/** In the server's order and spelling. */
export function formatFields(set: FieldSet): JsonObject {
  const fields: JsonObject = {};
  for (const element of [...set.keys()].sort(compareElements)) {
    const { member, children } = set.get(element) ?? { member: false, children: EMPTY_SET };
    const below = formatFields(children);
    fields[formatElement(element)] = member && children.size > 0 ? { '.': {}, ...below } : below;
  }
  return fields;
}
