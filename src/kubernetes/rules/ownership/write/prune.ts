// Removes fields that a manager applied before, if the manager no longer applies them and no other manager owns them.

import { isObject, type Json, type JsonObject } from '#std/json.ts';
import type { KubeObject } from '../../object.ts';
import { keyType, type ListType, type MapType, type MergeType } from '../../openapi.ts';
import { fieldElement, itemElement } from '../element.ts';
import { difference, EMPTY_SET, type FieldNode, type FieldSet, intersection, union } from '../fieldset.ts';
import { fieldsOf } from '../owned.ts';
import { shapeOf } from '../shape.ts';

export interface PruneInput {
  /** The live object after the applied object was merged into it. */
  readonly merged: KubeObject;
  readonly type: MergeType;
  /** The fields that the manager owned through its last apply. */
  readonly last: FieldSet;
  /** The fields that any manager owns after this apply. */
  readonly owned: FieldSet;
}

/**
 * Removes the fields. A map or list that becomes empty becomes null. Defaulting drops this null unless the schema
 * allows null there. Fields without an owner (defaults inside an item) are removed only together with their item.
 */
export function prune({ merged, type, last, owned }: PruneInput): KubeObject {
  const before = withNamedFields(last, type);
  const bare = removeFields(merged, before, type);
  const all = withNamedFields(storedFields(merged, type), type);
  const kept = union(withNamedFields(storedFields(bare, type), type), withNamedFields(owned, type));
  const withOwned = removeFields(merged, difference(all, kept), type);
  const gone = difference(all, withNamedFields(storedFields(withOwned, type), type));
  return removeFields(merged, intersection(gone, before), type);
}

function storedFields(object: KubeObject, type: MergeType): FieldSet {
  return fieldsOf(object, type, { duplicates: true }).set;
}

/** Adds the declared fields above each member, because removing such a field removes everything below it. */
function withNamedFields(set: FieldSet, type: MergeType | undefined): FieldSet {
  if (set.size === 0) return EMPTY_SET;
  const out = new Map<string, FieldNode>();
  for (const [element, node] of set) {
    const key = element.slice(2);
    const isField = element.startsWith('f:');
    const named = isField && node.children.size > 0 && type?.map?.fields.has(key) === true;
    out.set(element, {
      member: node.member || named,
      children: withNamedFields(node.children, belowType(type, element, key)),
    });
  }
  return out;
}

function belowType(type: MergeType | undefined, element: string, key: string): MergeType | undefined {
  if (type === undefined) return undefined;
  if (element.startsWith('f:')) return type.map === undefined ? undefined : keyType(type.map, key);
  return element.startsWith('k:') ? type.list?.item() : undefined;
}

/** Returns the object without the members of the set and everything below them. */
function removeFields(object: KubeObject, set: FieldSet, type: MergeType): KubeObject {
  if (set.size === 0) return object;
  return removeFrom(object as JsonObject, set, type) as KubeObject;
}

function removeFrom(value: Json, set: FieldSet, type: MergeType): Json {
  const shape = shapeOf(type, value);
  if (shape.is === 'map' && isObject(value) && !shape.type.atomic) return removeKeys(value, set, shape.type);
  if (shape.is === 'list' && Array.isArray(value) && shape.type.merge !== 'atomic') {
    return removeItems(value, set, shape.type);
  }
  return shape.is === 'scalar' ? value : null;
}

function removeKeys(value: JsonObject, set: FieldSet, map: MapType): Json {
  const out: JsonObject = {};
  for (const [key, child] of Object.entries(value)) {
    const node = set.get(fieldElement(key));
    if (child === undefined || node?.member === true) continue;
    const type = keyType(map, key);
    out[key] = node === undefined || type === undefined ? child : removeFrom(child, node.children, type);
  }
  return Object.keys(out).length === 0 ? null : out;
}

function removeItems(items: readonly Json[], set: FieldSet, list: ListType): Json {
  const out: Json[] = [];
  for (const item of items) {
    const element = itemElement(list, item);
    const node = typeof element === 'string' ? set.get(element) : undefined;
    if (node?.member === true) continue;
    out.push(node === undefined ? item : removeFrom(item, node.children, list.item()));
  }
  return out.length === 0 ? null : out;
}
