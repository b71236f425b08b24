// Finds undeclared items and fields of a live object, in associative lists and maps that the desired object declares.
// The undeclared parts belong to other managers, are defaults, or are our items whose key was changed.

import { isObject, type Json, type JsonObject } from '#std/json.ts';
import type { KubeObject, ManagedFieldsEntry } from '../object.ts';
import { keyType, type ListType, type MergeType } from '../openapi.ts';
import { fieldElement, itemElement } from './element.ts';
import { entryOf } from './entries.ts';
import { difference, differenceBelow, EMPTY_SET, type FieldSet, pathsWithin, setOf, union } from './fieldset.ts';
import { formatFields, parseFields } from './fieldsv1.ts';
import { isEmptyValue } from './shape.ts';
import { isStored } from './values.ts';

export interface ForeignPart {
  /** The path as in a field set. The last step is `k:` for an item, `f:` for a field. */
  readonly elements: readonly string[];
  /** Managers that own the part or a field in it. Empty if the part is a default. */
  readonly owners: readonly PartOwner[];
}

interface PartOwner {
  readonly manager: string;
  /** True if the manager applies the part, so another manifest declares the part. */
  readonly applied: boolean;
  /** Paths of the part that the manager owns. */
  readonly paths: readonly (readonly string[])[];
}

/** Returns the undeclared parts outside metadata. Lists in metadata belong to controllers. */
export function foreignParts(
  desired: KubeObject,
  live: KubeObject,
  type: MergeType,
  own: string,
): readonly ForeignPart[] {
  return withOwners(partsBeside(desired, live, type), live, own);
}

/**
 * Returns the undeclared items that have all fields of a missing declared item, except the key. Their key was probably
 * changed.
 */
export function editedItems(
  desired: KubeObject,
  live: KubeObject,
  type: MergeType,
  own: string,
): readonly ForeignPart[] {
  const edited = partsBeside(desired, live, type).filter((part) => part.edited);
  return edited.length === 0 ? [] : withOwners(edited, live, own);
}

function partsBeside(desired: KubeObject, live: KubeObject, type: MergeType): readonly ForeignElements[] {
  const { metadata: _metadata, status: _status, ...declared } = desired as JsonObject;
  const found: ForeignElements[] = [];
  collect(found, declared, live as JsonObject, type, []);
  return found;
}

/**
 * Adds the owners. Drops parts that our next apply removes: our manager owns the part itself, or our manager owns
 * fields in the part and no other manager does.
 */
function withOwners(found: readonly ForeignElements[], live: KubeObject, own: string): readonly ForeignPart[] {
  const sets = ownershipSets(live);
  return found.flatMap(({ elements }): ForeignPart[] => {
    const owners = sets.flatMap(({ entry: { manager = '', operation }, set }): PartOwner[] => {
      const had = pathsWithin(set, elements);
      return had.length === 0 ? [] : [{ manager, applied: operation === 'Apply', paths: had }];
    });
    const ours = owners.find(({ manager, applied }) => applied && manager === own);
    const others = owners.filter((each) => each !== ours);
    const isOurs =
      ours !== undefined && (others.length === 0 || ours.paths.some((path) => path.length === elements.length));
    return isOurs ? [] : [{ elements, owners: others }];
  });
}

interface ForeignElements {
  readonly elements: readonly string[];
  /** True if the item has all fields of a missing declared item, except the key. */
  readonly edited: boolean;
}

function collect(
  found: ForeignElements[],
  value: Json,
  live: Json | undefined,
  type: MergeType,
  at: readonly string[],
): void {
  if (isObject(value) && isObject(live) && type.map !== undefined && !type.map.atomic) {
    for (const key of new Set([...Object.keys(value), ...Object.keys(live)])) {
      const [child, below, inside] = [value[key], keyType(type.map, key), [...at, fieldElement(key)]];
      if (below === undefined) continue;
      if (child !== undefined) collect(found, child, live[key], below, inside);
      else if (at.length > 0) found.push({ elements: inside, edited: false });
    }
  } else if (Array.isArray(value) && Array.isArray(live) && type.list?.merge === 'map') {
    collectItems(found, value, live, type.list, at);
  }
}

function collectItems(
  found: ForeignElements[],
  items: readonly Json[],
  live: readonly Json[],
  list: ListType,
  at: readonly string[],
): void {
  const [declared, existing] = [byName(items, list), byName(live, list)];
  const missing = [...declared].filter(([name]) => !existing.has(name)).map(([, item]) => item);
  for (const [name, item] of existing) {
    const same = declared.get(name);
    if (same !== undefined) collect(found, same, item, list.item(), [...at, name]);
    else found.push({ elements: [...at, name], edited: missing.some((each) => isItBesidesKey(each, item, list)) });
  }
}

function byName(items: readonly Json[], list: ListType): ReadonlyMap<string, Json> {
  return new Map(
    items.flatMap((item): [string, Json][] => {
      const element = itemElement(list, item);
      return typeof element === 'string' ? [[element, item]] : [];
    }),
  );
}

/**
 * True if the live item has all fields of the declared item, except the key. An item with only a key matches no item.
 */
function isItBesidesKey(declared: Json, live: Json, list: ListType): boolean {
  if (!isObject(declared) || !isObject(live)) return false;
  const rest = Object.entries(declared).filter(([name, value]) => !list.keys.includes(name) && !isEmptyValue(value));
  return rest.length > 0 && isStored(Object.fromEntries(rest), live, list.item());
}

/**
 * Returns the managedFields as if the manager had applied the parts with all fields in them. The manager's next apply
 * then removes parts that it does not declare.
 */
export function withPartsOwned(
  live: KubeObject,
  parts: readonly (readonly string[])[],
  manager: string,
): readonly ManagedFieldsEntry[] {
  const going = setOf(parts);
  const own = entryOf(live, manager);
  const sets = ownershipSets(live);
  const theirs = sets.flatMap(({ entry, set }): ManagedFieldsEntry[] => {
    if (entry === own) return [];
    const left = differenceBelow(set, going);
    return left.size === 0 ? [] : [{ ...entry, fieldsV1: formatFields(left) }];
  });
  const taken = sets.map(({ set }) => difference(set, differenceBelow(set, going))).reduce(union, going);
  const before = own === undefined ? EMPTY_SET : (parseFields(own.fieldsV1) ?? EMPTY_SET);
  const { apiVersion } = live;
  const entry = own ?? { manager, operation: 'Apply', apiVersion, fieldsType: 'FieldsV1', fieldsV1: {} };
  return [{ ...entry, fieldsV1: formatFields(union(before, taken)) }, ...theirs];
}

interface ManagedFields {
  readonly entry: ManagedFieldsEntry;
  readonly set: FieldSet;
}

function ownershipSets({ metadata }: KubeObject): readonly ManagedFields[] {
  return (metadata.managedFields ?? []).map((entry) => ({ entry, set: parseFields(entry.fieldsV1) ?? EMPTY_SET }));
}
