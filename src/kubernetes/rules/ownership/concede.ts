// Removes from a desired object the fields that other managers have set to other values. An apply of the remaining
// fields takes no field from another manager.

import { isObject, type Json, type JsonObject, pointerToken } from '#std/json.ts';
import type { KubeObject } from '../object.ts';
import { keyType, type ListType, type MapType, type MergeType } from '../openapi.ts';
import { fieldElement, itemElement } from './element.ts';
import { type FieldSet, paths, setOf } from './fieldset.ts';
import { fieldsOf } from './owned.ts';
import { pointerOf, serverPath } from './place.ts';
import { serverSideApply } from './write/apply.ts';

/** A field whose live value was set by another manager and differs from the desired value. */
export interface Conceded {
  /** The path as in `Difference.path`: items of associative lists by name. */
  readonly path: string;
  /** JSON pointer (RFC 6901) into the desired object. */
  readonly pointer: string;
  readonly manager: string;
}

export interface Concession {
  /** The desired object without the conceded fields. Maps and lists that became empty are removed too. */
  readonly object: KubeObject;
  readonly conceded: readonly Conceded[];
}

/** True if the other manager keeps its field. `path` as in `Conceded`. */
export type Keeps = (path: string, manager: string) => boolean;

export interface Division extends Concession {
  /** Fields that the apply takes from other managers, with pointers into the argument `desired`. */
  readonly taken: readonly Conceded[];
}

/**
 * Finds all fields for which a server would report a conflict if the object were applied without force. If `keeps`
 * returns true, the field is removed from the object. The other fields are returned in `taken`.
 */
export function concede(
  desired: KubeObject,
  live: KubeObject,
  type: MergeType,
  manager: string,
  keeps: Keeps = () => true,
): Division {
  const conceded: Conceded[] = [];
  let object = desired;
  for (;;) {
    const { apiVersion } = object;
    const result = serverSideApply({ live, applied: object, type, manager, apiVersion, force: false, time: '' });
    if (!('conflicts' in result)) return { object, conceded, taken: [] };
    const conflicts = placed(object, type, result.conflicts);
    const kept = conflicts.filter(({ elements, manager: other }) => keeps(pointerOf(elements), other));
    const found = leaveOut(object, type, kept);
    if (found.conceded.length === 0) return { object, conceded, taken: leaveOut(object, type, conflicts).conceded };
    conceded.push(...found.conceded);
    ({ object } = found);
  }
}

/** Removes the fields of conflicts that a server reported, by the server's paths. Unknown paths are ignored. */
export function concedeAnswered(object: KubeObject, type: MergeType, conflicts: readonly ManagedPath[]): Concession {
  return leaveOut(object, type, placed(object, type, conflicts));
}

interface ManagedPath {
  readonly path: string;
  readonly manager: string;
}

function placed(object: KubeObject, type: MergeType, conflicts: readonly ManagedPath[]): readonly ManagedElements[] {
  const known = new Map(paths(fieldsOf(object, type).set).map((elements) => [serverPath(elements), elements]));
  return conflicts.flatMap(({ path, manager }) => {
    const elements = known.get(path);
    return elements === undefined ? [] : [{ elements, manager }];
  });
}

interface ManagedElements {
  readonly elements: readonly string[];
  readonly manager: string;
}

function leaveOut(object: KubeObject, type: MergeType, conflicts: readonly ManagedElements[]): Concession {
  const pointers = new Map<string, string>();
  const walk: ConcessionWalk = { note: (path, pointer) => pointers.set(path, pointer) };
  const set = setOf(conflicts.map(({ elements }) => elements));
  const left = without(walk, object as JsonObject, set, type, { path: [], pointer: '' });
  const conceded = conflicts.flatMap(({ elements, manager }) => {
    const path = pointerOf(elements);
    const pointer = pointers.get(path);
    return pointer === undefined ? [] : [{ path, pointer, manager }];
  });
  return { object: conceded.length === 0 ? object : (left as KubeObject), conceded };
}

interface ConcessionWalk {
  readonly note: (path: string, pointer: string) => void;
}

interface At {
  readonly path: readonly string[];
  readonly pointer: string;
}

/** Returns undefined if nothing of the value remains. */
function without(walk: ConcessionWalk, value: Json, set: FieldSet, type: MergeType, at: At): Json | undefined {
  if (isObject(value) && type.map !== undefined) return withoutKeys(walk, value, set, type.map, at);
  if (Array.isArray(value) && type.list !== undefined) return withoutItems(walk, value, set, type.list, at);
  return value;
}

function withoutKeys(walk: ConcessionWalk, map: JsonObject, set: FieldSet, type: MapType, at: At): Json | undefined {
  const out: JsonObject = {};
  let left = 0;
  for (const [key, child] of Object.entries(map)) {
    const below = keyType(type, key);
    if (child === undefined) continue;
    const place = { element: fieldElement(key), token: key };
    const kept = below === undefined ? child : withoutChild(walk, child, set, below, at, place);
    const isConceded = set.get(place.element)?.member === true;
    if (kept === undefined && (isConceded || type.fields.has(key))) continue;
    // An entry under an undeclared key is itself owned. If the apply dropped the entry, the server would also remove
    // fields inside it that other managers own.
    out[key] = kept === undefined ? emptied(child) : kept;
    left += 1;
  }
  return left === 0 ? undefined : out;
}

function emptied(container: Json): Json {
  return Array.isArray(container) ? [] : {};
}

function withoutItems(
  walk: ConcessionWalk,
  items: readonly Json[],
  set: FieldSet,
  list: ListType,
  at: At,
): Json | undefined {
  const out: Json[] = [];
  for (const [index, item] of items.entries()) {
    const element = itemElement(list, item);
    const place = { element: typeof element === 'string' ? element : '', token: index };
    const kept = withoutChild(walk, item, set, list.item(), at, place);
    if (kept !== undefined) out.push(kept);
  }
  return out.length === 0 ? undefined : out;
}

function withoutChild(
  walk: ConcessionWalk,
  child: Json,
  set: FieldSet,
  type: MergeType,
  at: At,
  { element, token }: { readonly element: string; readonly token: string | number },
): Json | undefined {
  const node = set.get(element);
  if (node === undefined) return child;
  const path = [...at.path, element];
  const pointer = `${at.pointer}/${pointerToken(token)}`;
  if (node.member) {
    walk.note(pointerOf(path), pointer);
    return undefined;
  }
  return without(walk, child, node.children, type, { path, pointer });
}
