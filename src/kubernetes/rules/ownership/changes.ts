// Finds the fields that a write added, modified and removed.

import { isObject, type Json, type JsonObject, jsonEquals } from '#std/json.ts';
import { keyType, type ListType, type MapType, type MergeType } from '../openapi.ts';
import { fieldElement, itemElement } from './element.ts';
import { type FieldSet, insert, type MutableSet } from './fieldset.ts';
import { elementsOf, type ObjectPosition } from './place.ts';
import { isEmptyMap, type Shape, shapeOf } from './shape.ts';

/** Disjoint sets. A set with an added or removed map or list also contains everything inside it. */
export interface Changes {
  readonly added: FieldSet;
  readonly modified: FieldSet;
  readonly removed: FieldSet;
}

/** With `stored`, both objects are in stored form: null equals absent in values that are stored as Go structs. */
export function changesBetween(before: JsonObject, after: JsonObject, type: MergeType, stored = false): Changes {
  const sets: Sets = { added: new Map(), modified: new Map(), removed: new Map(), stored };
  compareValues(sets, before, after, type, undefined);
  return { added: sets.added, modified: sets.modified, removed: sets.removed };
}

interface Sets extends Readonly<Record<keyof Changes, MutableSet>> {
  readonly stored: boolean;
}

/** Compares two values, of which at least one is present. */
function compareValues(
  sets: Sets,
  before: Json | undefined,
  after: Json | undefined,
  type: MergeType,
  place: ObjectPosition | undefined,
): void {
  const right = shapeOf(type, after === undefined ? before : after);
  const left = shapeOf(type, before === undefined ? after : before);
  // If the shape has changed, everything in the old value is removed, and everything in the new value is added.
  if (left.is !== right.is) compareShaped(sets, before, after, left, place);
  compareShaped(sets, before, after, right, place);
  if (before === undefined) insertPlace(sets.added, place);
  else if (after === undefined) insertPlace(sets.removed, place);
}

function compareShaped(
  sets: Sets,
  before: Json | undefined,
  after: Json | undefined,
  shape: Shape,
  place: ObjectPosition | undefined,
): void {
  if (shape.is === 'map' && !shape.type.atomic) {
    const [left, right] = [isObject(before) ? before : {}, isObject(after) ? after : {}];
    if (!isEmptyMap(left) || !isEmptyMap(right)) {
      compareMaps(sets, left, right, shape.type, place);
      return;
    }
  }
  if (shape.is === 'list' && shape.type.merge !== 'atomic') {
    const [left, right] = [Array.isArray(before) ? before : [], Array.isArray(after) ? after : []];
    if (left.length + right.length > 0) {
      compareItems(sets, left, right, shape.type, place);
      return;
    }
  }
  if (before !== undefined && after !== undefined && !jsonEquals(before, after)) insertPlace(sets.modified, place);
}

function compareMaps(
  sets: Sets,
  before: JsonObject,
  after: JsonObject,
  map: MapType,
  place: ObjectPosition | undefined,
): void {
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const type = keyType(map, key);
    if (type === undefined || isSameAbsence(sets, before[key], after[key], type)) continue;
    compareValues(sets, before[key], after[key], type, { above: place, element: fieldElement(key) });
  }
}

/** True if both values are absent. A Go struct stores nil as null in some fields and omits it in other fields. */
function isSameAbsence(
  { stored }: Sets,
  before: Json | undefined,
  after: Json | undefined,
  { storage }: MergeType,
): boolean {
  if (before === undefined && after === undefined) return true;
  return stored && storage === 'struct' && (before ?? null) === null && (after ?? null) === null;
}

function compareItems(
  sets: Sets,
  before: readonly Json[],
  after: readonly Json[],
  list: ListType,
  place: ObjectPosition | undefined,
): void {
  const left = groupItems(before, list);
  const right = groupItems(after, list);
  const type = list.item();
  for (const element of new Set([...left.keys(), ...right.keys()])) {
    const [old, now] = [left.get(element) ?? [], right.get(element) ?? []];
    const at = { above: place, element };
    if (old.length <= 1 && now.length <= 1) compareValues(sets, old[0], now[0], type, at);
    else compareRepeated(sets, old, now, type, at);
  }
}

/** Compares items with equal names. Two or more such items count as one value. */
function compareRepeated(
  sets: Sets,
  before: readonly Json[],
  after: readonly Json[],
  type: MergeType,
  place: ObjectPosition,
): void {
  if (before.length > 1 && after.length > 1) {
    if (!jsonEquals(before, after)) insertPlace(sets.modified, place);
  } else if (before.length > 1) {
    if (after.length === 1) compareValues(sets, undefined, after[0], type, place);
    insertPlace(sets.removed, place);
  } else {
    if (before.length === 1) compareValues(sets, before[0], undefined, type, place);
    insertPlace(sets.added, place);
  }
}

function groupItems(items: readonly Json[], list: ListType): ReadonlyMap<string, readonly Json[]> {
  const groups = new Map<string, Json[]>();
  for (const item of items) {
    const element = itemElement(list, item);
    if (typeof element !== 'string') continue;
    const group = groups.get(element);
    if (group === undefined) groups.set(element, [item]);
    else group.push(item);
  }
  return groups;
}

function insertPlace(set: MutableSet, place: ObjectPosition | undefined): void {
  insert(set, elementsOf(place));
}
