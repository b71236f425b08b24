// Lists the changes that an apply would make, place by place, for users to read.

import { isObject, type Json, type JsonObject, jsonEquals } from '#std/json.ts';
import { describeLongValues } from '../large-values.ts';
import type { KubeObject } from '../object.ts';
import { keyType, type MergeType } from '../openapi.ts';
import { changesBetween } from './changes.ts';
import { itemElement } from './element.ts';
import { entryOf } from './entries.ts';
import { EMPTY_SET, type FieldSet } from './fieldset.ts';
import { parseFields } from './fieldsv1.ts';
import { elementsOf, pointerOf } from './place.ts';
import { compareObjects } from './values.ts';
import { serverSideApply } from './write/apply.ts';

export interface Difference {
  /** Like a JSON pointer, but names items of associative lists by key: `/spec/containers/[name=x]/image`. */
  readonly path: string;
  /** The current value. Absent if the place has no value. */
  readonly before?: Json;
  /** The new value. Absent if the apply removes it. */
  readonly after?: Json;
}

/**
 * Returns changed places of `desired` and places that the apply removes, sorted by path. The apply removes places that
 * `manager` owned alone. Empty if only the ownership changes. Does not hide values of Secrets. `stored`: the object
 * that a dry run returned, in which the server may have set removed fields again.
 */
export function differences(
  desired: KubeObject,
  live: KubeObject,
  type: MergeType,
  manager: string,
  stored?: KubeObject,
): readonly Difference[] {
  const found: Difference[] = [];
  compareObjects(
    (_answer, place, _reason, before, after) => {
      found.push(difference(pointerOf(elementsOf(place)), before, after));
    },
    desired,
    live,
    type,
    ownedBy(live, manager),
  );
  found.push(...removals(desired, live, type, manager, stored));
  return found.sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
}

function ownedBy(live: KubeObject, manager: string): FieldSet {
  const entry = entryOf(live, manager);
  return (entry === undefined ? undefined : parseFields(entry.fieldsV1)) ?? EMPTY_SET;
}

function difference(path: string, before: Json | undefined, after: Json | undefined): Difference {
  return { path, before: described(before), after: described(after) };
}

function described(value: Json | undefined): Json | undefined {
  return value === undefined ? undefined : describeLongValues(value);
}

/** Performs the apply to find the fields that it would remove. Returns none if the server would refuse the object. */
function removals(
  desired: KubeObject,
  live: KubeObject,
  type: MergeType,
  manager: string,
  stored: KubeObject | undefined,
): Difference[] {
  const { apiVersion } = desired;
  const result = serverSideApply({ live, applied: desired, type, manager, apiVersion, force: true, time: '' });
  if (!('object' in result)) return [];
  const { removed } = changesBetween(live as JsonObject, result.object as JsonObject, type);
  return outermost(removed).flatMap((path) => {
    const before = valueAt(live as JsonObject, path, type);
    const after = stored === undefined ? undefined : valueAt(stored as JsonObject, path, type);
    if (path[1] === 'f:managedFields' || before === undefined) return [];
    return after !== undefined && jsonEquals(before, after) ? [] : [difference(pointerOf(path), before, after)];
  });
}

/** Returns the members of a set that have no member above them. */
function outermost(set: FieldSet): (readonly string[])[] {
  return [...set].flatMap(([element, { member, children }]) =>
    member ? [[element]] : outermost(children).map((path) => [element, ...path]),
  );
}

function valueAt(value: Json | undefined, path: readonly string[], type: MergeType | undefined): Json | undefined {
  const [element, ...rest] = path;
  if (element === undefined || type === undefined) return value;
  if (isObject(value) && type.map !== undefined) {
    const key = element.slice(2);
    return valueAt(value[key], rest, keyType(type.map, key));
  }
  const list = type.list;
  if (!Array.isArray(value) || list === undefined) return undefined;
  return valueAt(
    value.find((item) => itemElement(list, item) === element),
    rest,
    list.item(),
  );
}
