// Compares atomic values, which must be equal as a whole. An additional field in the live value is a difference, unlike
// in granular values.

import { isObject, type Json, type JsonObject, jsonEquals } from '#std/json.ts';
import { keyType, type ListType, type MapType, type MergeType } from '../openapi.ts';
import { fieldElement } from './element.ts';
import { isForced, nativeDefault } from './native-defaults.ts';
import type { ObjectPosition } from './place.ts';
import { compareScalars } from './scalars.ts';
import { isEmptyValue, present, shapeOf } from './shape.ts';

/** Records a place whose values are not certainly equal. */
export type Note = (
  answer: 'differs' | 'unknown',
  place: ObjectPosition | undefined,
  reason: string,
  live: Json | undefined,
  desired: Json | undefined,
) => void;

/** Compares a desired value with a live value. `live` may be absent, except at the root of the atomic value. */
export function compareInside(
  note: Note,
  desired: Json,
  live: Json | undefined,
  type: MergeType,
  place: ObjectPosition | undefined,
): void {
  if (desired === null) compareNull(note, live, type, place);
  else if (live === undefined) compareAbsent(note, desired, type, place);
  else comparePresent(note, desired, live, type, place);
}

function comparePresent(
  note: Note,
  desired: Json,
  live: Json,
  type: MergeType,
  place: ObjectPosition | undefined,
): void {
  const shape = shapeOf(type, desired);
  if (shape.is === 'map' && isObject(desired) && isObject(live)) {
    compareMaps(note, desired, live, type, shape.type, place);
  } else if (shape.is === 'list' && Array.isArray(desired) && Array.isArray(live)) {
    compareLists(note, desired, live, type, shape.type, place);
  } else {
    const answer = typeof desired === 'object' ? 'differs' : compareScalars(desired, live, type);
    if (answer !== 'same') note(answer, place, describeAnswer(answer), live, desired);
  }
}

function describeAnswer(answer: 'differs' | 'unknown'): string {
  return answer === 'differs' ? 'the value differs' : 'the server may store it in another form';
}

function compareNull(note: Note, live: Json | undefined, type: MergeType, place: ObjectPosition | undefined): void {
  if (live === undefined && type.storage === 'struct') return;
  note('unknown', place, 'null inside an atomic value', live, null);
}

/**
 * Compares with an absent live value. A pointer field keeps an empty scalar or struct, a plain field drops it. The
 * published schema does not show whether a field is a pointer.
 */
function compareAbsent(note: Note, desired: Json, type: MergeType, place: ObjectPosition | undefined): void {
  if (type.storage === 'verbatim' || !isHollow(desired)) {
    note('differs', place, 'the value is missing', undefined, desired);
  } else if (type.storage === 'opaque' || !isFreeForm(desired, type)) {
    note('unknown', place, 'an empty value inside an atomic value may be dropped', undefined, desired);
  }
}

/** True if the value is empty or contains only empty values at every level. */
function isHollow(value: Json): boolean {
  return isObject(value) ? Object.values(value).every((child) => isHollow(child ?? null)) : isEmptyValue(value);
}

/** True if the value is a list, or an empty map without declared fields. Go drops empty maps and slices. */
function isFreeForm(value: Json, type: MergeType): boolean {
  if (Array.isArray(value)) return true;
  return isObject(value) && isEmptyValue(value) && type.map?.fields.size === 0;
}

function compareLists(
  note: Note,
  desired: readonly Json[],
  live: readonly Json[],
  type: MergeType,
  list: ListType,
  place: ObjectPosition | undefined,
): void {
  if (desired.length !== live.length) {
    const unsure = desired.length === 0 && type.storage !== 'verbatim';
    note(unsure ? 'unknown' : 'differs', place, 'the list differs', [...live], [...desired]);
    return;
  }
  const item = list.item();
  for (const [index, value] of desired.entries()) {
    compareInside(note, value, present(live[index]), item, { above: place, element: `i:${index}` });
  }
}

function compareMaps(
  note: Note,
  desired: JsonObject,
  live: JsonObject,
  type: MergeType,
  map: MapType,
  place: ObjectPosition | undefined,
): void {
  if (type.storage !== 'verbatim' && isEmptyValue(desired) && !isEmptyValue(live) && !explainsAll(live, type, map)) {
    note('unknown', place, 'empty may be defaulted', live, desired);
    return;
  }
  const withDefault = type.storage === 'verbatim' ? withDefaults(desired, map) : desired;
  for (const [key, value] of Object.entries(withDefault)) {
    const below = keyType(map, key);
    if (value === undefined || below === undefined) continue;
    const there = present(live[key]);
    if (map.pruned && !map.fields.has(key) && there === undefined) continue;
    if (settledByServer(desired, key, value, there, type)) continue;
    compareInside(note, value, there, below, { above: place, element: fieldElement(key) });
  }
  for (const [key, value] of Object.entries(live)) {
    if (withDefault[key] !== undefined || value === undefined || value === null) continue;
    if (isFilledByServer(desired, key, value, type, map)) continue;
    const answer = type.storage === 'verbatim' ? 'differs' : 'unknown';
    note(answer, { above: place, element: fieldElement(key) }, 'the value in the cluster has more', value, undefined);
  }
}

/** True if the server overwrites this field, or if the value is an explicit empty default, which is not stored. */
function settledByServer(
  desired: JsonObject,
  key: string,
  value: Json,
  live: Json | undefined,
  type: MergeType,
): boolean {
  const filled = nativeDefault(type.name, key, desired);
  if (live === undefined) return value === '' && filled === '';
  return isForced(type.name, key) && jsonEquals(live, filled);
}

/**
 * Fills in the top-level defaults of a custom resource before the comparison. The recursion fills in nested defaults.
 */
function withDefaults(desired: JsonObject, map: MapType): JsonObject {
  let filled = desired;
  for (const [key, field] of map.fields) {
    if (field.default === undefined || desired[key] !== undefined) continue;
    if (filled === desired) filled = { ...desired };
    filled[key] = field.default;
  }
  return filled;
}

/**
 * True if an undeclared live field has the server's default. Our table of native defaults takes precedence over
 * published defaults.
 */
function isFilledByServer(desired: JsonObject, key: string, live: Json, type: MergeType, map: MapType): boolean {
  const field = map.fields.get(key);
  const filled = nativeDefault(type.name, key, desired) ?? field?.default;
  if (field === undefined || filled === undefined) return false;
  let same = true;
  compareInside(
    () => {
      same = false;
    },
    filled,
    live,
    field.type(),
    undefined,
  );
  return same;
}

function explainsAll(live: JsonObject, type: MergeType, map: MapType): boolean {
  return Object.entries(live).every(
    ([key, value]) => value === undefined || value === null || isFilledByServer({}, key, value, type, map),
  );
}
