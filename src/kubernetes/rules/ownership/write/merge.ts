// Merges an applied value into a live value. Removes nothing.

import { isObject, type Json, type JsonObject } from '#std/json.ts';
import { keyType, type ListType, type MapType, type MergeType } from '../../openapi.ts';
import { itemElement } from '../element.ts';
import { isEmptyMap, shapeOf } from '../shape.ts';

/**
 * Merges two values, of which one may be undefined. Returns undefined if merging two maps or two lists leaves nothing.
 */
export function mergeValues(live: Json | undefined, applied: Json | undefined, type: MergeType): Json | undefined {
  const shape = shapeOf(type, applied === undefined ? live : applied);
  switch (shape.is) {
    case 'scalar':
      return applied === undefined ? live : applied;
    case 'map':
      return mergeMaps(live, applied, shape.type);
    case 'list':
      return mergeLists(live, applied, shape.type);
  }
}

function mergeMaps(live: Json | undefined, applied: Json | undefined, map: MapType): Json | undefined {
  const left = isObject(live) ? live : {};
  const right = isObject(applied) ? applied : {};
  if (map.atomic || (isEmptyMap(left) && isEmptyMap(right))) return applied === undefined ? live : applied;
  const out: JsonObject = {};
  for (const key of new Set([...Object.keys(left), ...Object.keys(right)])) {
    const merged = mergeKey(left[key], right[key], keyType(map, key));
    if (merged !== undefined) out[key] = merged;
  }
  return isEmptyMap(out) ? undefined : out;
}

/** Merges one key. A live key that the schema no longer declares stays unchanged. */
function mergeKey(live: Json | undefined, applied: Json | undefined, type: MergeType | undefined): Json | undefined {
  if (live === undefined && applied === undefined) return undefined;
  return type === undefined ? (applied ?? live) : mergeValues(live, applied, type);
}

function mergeLists(live: Json | undefined, applied: Json | undefined, list: ListType): Json | undefined {
  const left = Array.isArray(live) ? live : [];
  const right = Array.isArray(applied) ? applied : [];
  if (list.merge === 'atomic' || left.length + right.length === 0) return applied === undefined ? live : applied;
  const merged = mergeItems(left, right, list);
  return merged.length === 0 ? undefined : merged;
}

interface NamedItem {
  readonly element: string;
  readonly item: Json;
}

/**
 * Merges items. Applied items keep the applied order, other live items stay between their neighbours. A live item that
 * occurs twice is replaced by the applied item instead of merged.
 */
function mergeItems(live: readonly Json[], applied: readonly Json[], list: ListType): Json[] {
  const type = list.item();
  const left = nameItems(live, list);
  const right = nameItems(applied, list);
  const living = uniqueItems(left);
  const rightItems = new Map(right.map(({ element, item }) => [element, item]));
  const shared = right.filter(({ element }) => living.has(element)).map(({ element }) => element);
  const done = new Set<string>();
  const out: Json[] = [];
  const emit = (before: Json | undefined, after: Json | undefined): void => {
    const merged = mergeValues(before, after, type);
    if (merged !== undefined) out.push(merged);
  };
  const emitApplied = ({ element, item }: NamedItem): void => {
    done.add(element);
    if (shared[0] === element) shared.shift();
    emit(living.get(element), item);
  };
  let l = 0;
  let r = 0;
  while (l < left.length || r < right.length) {
    const here = left[l];
    const next = right[r];
    if (here !== undefined && here.element === next?.element) {
      emitApplied(next);
      l += 1;
      r += 1;
    } else if (here !== undefined && !rightItems.has(here.element)) {
      emit(here.item, undefined);
      l += 1;
    } else if (here !== undefined && next !== undefined && shared[0] !== undefined && shared[0] !== here.element) {
      // In the applied order, this item comes after another live item. A later step emits it at that position.
      l += 1;
    } else {
      if (here !== undefined && done.has(here.element)) l += 1;
      if (next !== undefined) {
        emitApplied(next);
        r += 1;
      }
    }
  }
  return out;
}

/** Returns the items with their names. Drops items without a name, which a server would not have stored. */
function nameItems(items: readonly Json[], list: ListType): NamedItem[] {
  return items.flatMap((item) => {
    const element = itemElement(list, item);
    return typeof element === 'string' ? [{ element, item }] : [];
  });
}

/** Returns the items by name. The value is null if the name occurs twice. */
function uniqueItems(items: readonly NamedItem[]): ReadonlyMap<string, Json> {
  const unique = new Map<string, Json>();
  for (const { element, item } of items) unique.set(element, unique.has(element) ? null : item);
  return unique;
}
