// Determines place by place whether merging a desired object into the live object leaves the live object unchanged.
// Requires that we own exactly the desired fields (see compare): an owned but absent field was then never stored.

import { isObject, type Json, type JsonObject } from '#std/json.ts';
import { withStringData } from '../normalise.ts';
import type { KubeObject } from '../object.ts';
import { keyType, type ListType, type MapType, type MergeType } from '../openapi.ts';
import { fieldElement, itemElement } from './element.ts';
import { type FieldSet, has } from './fieldset.ts';
import { compareInside, type Note } from './inside.ts';
import { SERVER_METADATA } from './owned.ts';
import { elementsOf, type ObjectPosition } from './place.ts';
import { isEmptyMap, isEmptyValue, present, shapeOf } from './shape.ts';

const UNCOMPARED: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'status']);
const SECRET = 'io.k8s.api.core.v1.Secret';

interface ComparisonWalk {
  readonly note: Note;
  readonly owned: FieldSet | undefined;
}

/**
 * Records every desired place that is not certainly equal in the live object. `owned` is the set of fields that we own
 * now. Absent if we own exactly the desired fields.
 */
export function compareObjects(
  note: Note,
  desired: KubeObject,
  live: KubeObject,
  type: MergeType,
  owned?: FieldSet,
): void {
  const walk = { note, owned };
  const map = type.map;
  if (map === undefined) return;
  const desiredMap = type.name === SECRET ? withStringData(desired as JsonObject) : (desired as JsonObject);
  const living = live as JsonObject;
  for (const [key, value] of Object.entries(desiredMap)) {
    const below = keyType(map, key);
    if (value === undefined || below === undefined || UNCOMPARED.has(key)) continue;
    const compared = key === 'metadata' && isObject(value) ? withoutIdentity(value) : value;
    compareValue(walk, compared, present(living[key]), below, { above: undefined, element: fieldElement(key) });
  }
}

/** True if the desired value is certainly stored. The live value may have additional fields. */
export function isStored(desired: Json, live: Json, type: MergeType): boolean {
  let same = true;
  const note: Note = () => {
    same = false;
  };
  comparePresent({ note, owned: undefined }, desired, live, type, undefined);
  return same;
}

function withoutIdentity(metadata: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(metadata).filter(([key]) => !SERVER_METADATA.has(key)));
}

function compareValue(
  walk: ComparisonWalk,
  desired: Json,
  live: Json | undefined,
  type: MergeType,
  place: ObjectPosition | undefined,
): void {
  if (desired === null) compareNull(walk, live, type, place);
  else if (live === undefined) compareAbsent(walk, desired, type, place);
  else comparePresent(walk, desired, live, type, place);
}

function comparePresent(
  walk: ComparisonWalk,
  desired: Json,
  live: Json,
  type: MergeType,
  place: ObjectPosition | undefined,
): void {
  const shape = shapeOf(type, desired);
  if (shape.is === 'map' && !shape.type.atomic && isObject(desired) && isObject(live)) {
    compareMaps(walk, desired, live, shape.type, place);
  } else if (shape.is === 'list' && shape.type.merge !== 'atomic' && Array.isArray(desired) && Array.isArray(live)) {
    compareItems(walk, desired, live, shape.type, place);
  } else {
    compareInside(walk.note, desired, live, type, place);
  }
}

/** Compares null. Merging null into a non-empty granular map or associative list does not change it. */
function compareNull(
  walk: ComparisonWalk,
  live: Json | undefined,
  type: MergeType,
  place: ObjectPosition | undefined,
): void {
  if (live === undefined && type.storage === 'struct') return;
  const keptMap = isObject(live) && !isEmptyMap(live) && type.map?.atomic === false;
  const keptList = Array.isArray(live) && live.length > 0 && type.list !== undefined && type.list.merge !== 'atomic';
  if (!keptMap && !keptList) walk.note('unknown', place, 'null may remove the value', live, null);
}

function compareAbsent(walk: ComparisonWalk, desired: Json, type: MergeType, place: ObjectPosition | undefined): void {
  if (type.storage === 'struct' && isEmptyValue(desired)) {
    if (isNew(walk, desired, type, place)) walk.note('unknown', place, 'the value is missing', undefined, desired);
  } else if (type.storage === 'struct' && isObject(desired)) {
    compareHollow(walk, desired, type, place);
  } else {
    const unsure = type.storage === 'opaque' && isEmptyValue(desired);
    walk.note(unsure ? 'unknown' : 'differs', place, 'the value is missing', undefined, desired);
  }
}

/**
 * Compares a struct that contains only empty values. The server stores an empty struct. If another manager removes the
 * struct, we still own the values in it, because they were never stored. Our owned set thus does not show whether the
 * struct exists.
 */
function compareHollow(
  walk: ComparisonWalk,
  desired: JsonObject,
  type: MergeType,
  place: ObjectPosition | undefined,
): void {
  let hollow = true;
  const note: Note = (...noted) => {
    hollow = false;
    walk.note(...noted);
  };
  comparePresent({ ...walk, note }, desired, {}, type, place);
  if (hollow) walk.note('unknown', place, 'a struct of empty values may be missing', undefined, desired);
}

/**
 * True if an empty value may be stored by this apply because we do not own its place yet. Empty lists, and empty maps
 * without declared fields, are never stored.
 */
function isNew({ owned }: ComparisonWalk, desired: Json, type: MergeType, place: ObjectPosition | undefined): boolean {
  if (owned === undefined || Array.isArray(desired) || has(owned, elementsOf(place))) return false;
  return !isObject(desired) || type.map?.fields.size !== 0;
}

function compareMaps(
  walk: ComparisonWalk,
  desired: JsonObject,
  live: JsonObject,
  map: MapType,
  place: ObjectPosition | undefined,
): void {
  for (const key in desired) {
    const value = desired[key];
    const field = map.fields.get(key);
    const below = field === undefined ? map.other?.() : field.type();
    if (value === undefined || below === undefined) continue;
    const at = { above: place, element: field?.element ?? fieldElement(key) };
    const there = present(live[key]);
    if (field === undefined && there === undefined && below.storage === 'struct') {
      // Unlike an empty field, an empty entry of a Go map is stored.
      walk.note('differs', at, 'the entry is missing', undefined, value);
    } else if (!map.pruned || field !== undefined) compareValue(walk, value, there, below, at);
    else if (there !== undefined) walk.note('differs', at, 'the server stores no such field', there, value);
  }
}

/**
 * Checks that every desired item exists, and that the merge would not change the order. Other items may be in between.
 */
function compareItems(
  walk: ComparisonWalk,
  desired: readonly Json[],
  live: readonly Json[],
  list: ListType,
  place: ObjectPosition | undefined,
): void {
  const type = list.item();
  const positions = indexItems(live, list);
  let last = -1;
  for (const item of desired) {
    const element = itemElement(list, item);
    if (typeof element !== 'string') continue;
    const at = { above: place, element };
    const position = positions.get(element);
    if (position === undefined) {
      walk.note('differs', at, 'the item is missing', undefined, item);
      continue;
    }
    if (position === 'twice') {
      walk.note('unknown', at, 'the list in the cluster has the item twice', undefined, item);
      continue;
    }
    if (position < last) walk.note('differs', place, 'the order of the items differs', [...live], [...desired]);
    last = Math.max(last, position);
    const there = present(live[position]);
    if (there !== undefined && list.merge === 'map') compareValue(walk, item, there, type, at);
  }
}

function indexItems(live: readonly Json[], list: ListType): ReadonlyMap<string, number | 'twice'> {
  const positions = new Map<string, number | 'twice'>();
  for (const [index, item] of live.entries()) {
    const element = itemElement(list, item);
    if (typeof element === 'string') positions.set(element, positions.has(element) ? 'twice' : index);
  }
  return positions;
}
