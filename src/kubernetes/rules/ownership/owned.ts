// Computes the fields that a manager owns after it applies an object, and the faults for which a server refuses the
// object.

import { isObject, type Json, type JsonObject } from '#std/json.ts';
import type { KubeObject } from '../object.ts';
import type { ListType, MapType, MergeType, ScalarType } from '../openapi.ts';
import { fieldElement, itemElement } from './element.ts';
import { difference, differenceBelow, EMPTY_SET, type FieldNode, type FieldSet, LEAF, setOf } from './fieldset.ts';
import { elementsOf, type ObjectPosition } from './place.ts';
import { isEmptyMap, shapeOf } from './shape.ts';

/** A place at which the object does not fit its type. */
interface Misfit {
  /** The path as in a field set. */
  readonly elements: readonly string[];
  /** Never contains a value. */
  readonly reason: string;
}

export interface Owned {
  readonly set: FieldSet;
  /** Values that do not fit the schema. If not empty, the server refuses the object, and `set` must not be used. */
  readonly misfits: readonly Misfit[];
}

/** Fields below `metadata` that identify the object or that only the server sets. */
export const SERVER_METADATA: ReadonlySet<string> = new Set([
  'name',
  'namespace',
  'creationTimestamp',
  'selfLink',
  'uid',
  'clusterName',
  'generation',
  'managedFields',
  'resourceVersion',
]);

/** Paths that no manager owns. Other fields of `metadata` can be owned. */
const STRIPPED = setOf([
  ['f:apiVersion'],
  ['f:kind'],
  ['f:metadata'],
  ...[...SERVER_METADATA].map((key) => ['f:metadata', fieldElement(key)]),
]);

const STATUS = setOf([['f:status']]);

/**
 * Returns the fields that a manager owns after it applies the main resource. Leaves out identity, server fields and
 * status.
 */
export function ownedSet(object: KubeObject, type: MergeType): Owned {
  const { set, misfits } = fieldsOf(object, type);
  return { set: withoutIdentity(differenceBelow(set, STATUS)), misfits };
}

export function withoutIdentity(set: FieldSet): FieldSet {
  return difference(set, STRIPPED);
}

/** Returns every field and item of the object. With `duplicates`, list items may have equal names. */
export function fieldsOf(object: KubeObject, type: MergeType, options: { readonly duplicates?: boolean } = {}): Owned {
  const misfits: Misfit[] = [];
  const walk: OwnershipWalk = {
    duplicates: options.duplicates ?? false,
    refuse: (place, reason) => misfits.push({ elements: elementsOf(place), reason }),
  };
  return { set: walkValue(walk, object as JsonObject, type, undefined).children, misfits };
}

interface OwnershipWalk {
  /** True if list items may have equal names, as in stored objects. */
  readonly duplicates: boolean;
  readonly refuse: (place: ObjectPosition | undefined, reason: string) => void;
}

const NOTHING: FieldNode = { member: false, children: EMPTY_SET };

/** Returns the node of a place: `member` depends on the value itself, `children` on the values below it. */
function walkValue(walk: OwnershipWalk, value: Json, type: MergeType, place: ObjectPosition | undefined): FieldNode {
  const shape = shapeOf(type, value);
  switch (shape.is) {
    case 'scalar':
      checkScalar(walk, value, shape.type, place);
      return LEAF;
    case 'list':
      return walkList(walk, value, shape.type, place);
    case 'map':
      return walkMap(walk, value, shape.type, place);
  }
}

function checkScalar(
  walk: OwnershipWalk,
  value: Json,
  { value: expected }: ScalarType,
  place: ObjectPosition | undefined,
): void {
  if (value === null) return;
  const fits = expected === 'any' ? typeof value !== 'object' : jsonType(value) === expected;
  if (!fits) walk.refuse(place, expected === 'any' ? 'a scalar is expected' : `a ${expected} is expected`);
}

function jsonType(value: Json): string {
  return typeof value;
}

function walkList(walk: OwnershipWalk, value: Json, type: ListType, place: ObjectPosition | undefined): FieldNode {
  const atomic = type.merge === 'atomic';
  if (!Array.isArray(value)) {
    if (value !== null) walk.refuse(place, 'a list is expected');
    return atomic ? LEAF : NOTHING;
  }
  if (value.length === 0) return atomic ? LEAF : NOTHING;
  const item = type.item();
  if (atomic) {
    for (const [index, child] of value.entries()) walkValue(walk, child, item, { above: place, element: `i:${index}` });
    return LEAF;
  }
  return { member: false, children: walkItems(walk, value, type, item, place) };
}

function walkItems(
  walk: OwnershipWalk,
  items: readonly Json[],
  list: ListType,
  type: MergeType,
  place: ObjectPosition | undefined,
): FieldSet {
  const set = new Map<string, FieldNode>();
  for (const [index, item] of items.entries()) {
    const element = itemElement(list, item);
    if (typeof element !== 'string') {
      walk.refuse({ above: place, element: `i:${index}` }, element.refused);
      continue;
    }
    const at = { above: place, element };
    const twice = set.has(element);
    if (twice && !walk.duplicates) walk.refuse(at, 'two items of the list have the same name');
    const { children } = walkValue(walk, item, type, at);
    // Items with equal names are owned as one value.
    set.set(element, twice || children.size === 0 ? LEAF : { member: true, children });
  }
  return set;
}

function walkMap(walk: OwnershipWalk, value: Json, type: MapType, place: ObjectPosition | undefined): FieldNode {
  if (!isObject(value)) {
    if (value !== null) walk.refuse(place, 'an object is expected');
    return type.atomic ? LEAF : NOTHING;
  }
  const set = new Map<string, FieldNode>();
  for (const key in value) {
    const child = value[key];
    if (child === undefined) continue;
    const field = type.fields.get(key);
    const at = { above: place, element: field?.element ?? fieldElement(key) };
    const below = field === undefined ? type.other?.() : field.type();
    if (below === undefined) {
      walk.refuse(at, 'the field is not declared in the schema');
      continue;
    }
    const node = walkValue(walk, child, below, at);
    if (type.atomic) continue;
    const member = node.member || child === null || (isObject(child) && isEmptyMap(child)) || field === undefined;
    if (member && node.children.size === 0) set.set(at.element, LEAF);
    else if (member || node.children.size > 0) set.set(at.element, { member, children: node.children });
  }
  return type.atomic ? LEAF : { member: false, children: set };
}
