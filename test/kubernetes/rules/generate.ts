// Generates random objects of a kind and random edits of them, and models their storage. The same seed has the same
// results.

import { withoutLineBreaks, withStringData } from '#kubernetes/rules/normalise.ts';
import type { KubeObject } from '#kubernetes/rules/object.ts';
import { keyType, type ListType, type MapType, type MergeType } from '#kubernetes/rules/openapi.ts';
import { itemElement } from '#kubernetes/rules/ownership/element.ts';
import { isEmptyValue, shapeOf } from '#kubernetes/rules/ownership/shape.ts';
import { storedQuantity } from '#kubernetes/rules/quantity.ts';
import { isObject, type Json, type JsonObject } from '#std/json.ts';

export interface Random {
  /** 0 <= value < 1. */
  next(): number;
  pick<T>(values: readonly T[]): T;
  chance(probability: number): boolean;
}

/** mulberry32. */
export function random(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const pick = <T>(values: readonly T[]): T => {
    const value = values[Math.floor(next() * values.length)];
    if (value === undefined) throw new Error('nothing to pick from');
    return value;
  };
  return { next, pick, chance: (probability) => next() < probability };
}

const STRINGS = ['a', 'b', 'c<&>', ''];
const KEYS = ['k1', 'k2', 'k3'];
const QUANTITIES = ['1', '1000m', '500m', '0.5', '1Gi', '1024Mi', '1e9', '06', '100.5m'];
const BASE64 = ['QUJD', 'QUJD\nRA==', 'QUJDRA==', ''];
const DEPTH = 9;

/** Returns an object of the kind and name of `like` with random fields, without status. */
export function generate(rng: Random, like: KubeObject, type: MergeType): KubeObject {
  const body = value(rng, type, 0);
  const { status: _, ...fields } = isObject(body) ? body : {};
  const metadata: JsonObject = { ...(like.metadata as object) };
  for (const key of ['labels', 'annotations']) {
    const map = type.map && keyType(type.map, 'metadata')?.map;
    const field = map && keyType(map, key);
    if (field !== undefined && rng.chance(0.6)) metadata[key] = value(rng, field, DEPTH - 1);
  }
  const object: JsonObject = { ...fields, apiVersion: like.apiVersion, kind: like.kind, metadata };
  return object as KubeObject;
}

function value(rng: Random, type: MergeType, depth: number): Json {
  return depth > 1 && rng.chance(0.02) ? null : shaped(rng, type, depth);
}

function shaped(rng: Random, type: MergeType, depth: number): Json {
  const shapes = [type.map, type.scalar, type.list].filter((shape) => shape !== undefined);
  const shape = rng.pick(shapes);
  if (shape === type.map && type.map !== undefined) return mapValue(rng, type.map, depth);
  if (shape === type.list && type.list !== undefined) return listValue(rng, type.list, depth);
  return scalarValue(rng, type);
}

function scalarValue(rng: Random, { scalar }: MergeType): Json {
  switch (scalar?.spelling) {
    case 'quantity':
      return rng.pick(QUANTITIES);
    case 'base64':
      return rng.pick(BASE64);
    case 'time':
      return '2026-01-01T00:00:00Z';
    default:
  }
  switch (scalar?.value) {
    case 'number':
      return rng.pick([0, 1, 2]);
    case 'boolean':
      return rng.chance(0.5);
    case 'string':
      return rng.pick(STRINGS);
    default:
      return rng.pick<Json>(['a', 'b', 1, 2]);
  }
}

function mapValue(rng: Random, map: MapType, depth: number): Json {
  const out: JsonObject = {};
  if (depth >= DEPTH) return out;
  const share = depth < 2 ? 0.8 : 2.5 / Math.max(map.fields.size, 3);
  for (const [key, field] of map.fields) {
    if (key === 'metadata' && depth === 0) continue;
    if (rng.chance(share)) out[key] = value(rng, field.type(), depth + 1);
  }
  if (map.other === undefined) return out;
  for (const key of KEYS) {
    if (rng.chance(0.4)) out[key] = value(rng, map.other(), depth + 1);
  }
  return out;
}

function listValue(rng: Random, list: ListType, depth: number): Json {
  const items: Json[] = [];
  const names = new Set<string>();
  for (let count = Math.floor(rng.next() * 4); count > 0; count -= 1) {
    const item = listItem(rng, list, depth);
    const name = list.merge === 'atomic' ? String(count) : itemElement(list, item);
    if (typeof name !== 'string' || names.has(name)) continue;
    names.add(name);
    items.push(item);
  }
  return items;
}

function listItem(rng: Random, list: ListType, depth: number): Json {
  const type = list.item();
  if (list.merge === 'atomic') return shaped(rng, type, depth + 1);
  if (list.merge === 'set') return scalarValue(rng, type);
  const item = type.map === undefined ? {} : mapValue(rng, type.map, depth + 1);
  const keys = list.keys.map((key) => {
    const field = type.map && keyType(type.map, key);
    return [key, field === undefined ? 'a' : scalarValue(rng, field)] as const;
  });
  const others = Object.entries(isObject(item) ? item : {}).filter(([key]) => !list.keys.includes(key));
  const named = keys.filter((_, index) => index === 0 || rng.chance(0.6));
  return Object.fromEntries([...others, ...named]);
}

/** Returns the object without keys whose value is null. */
export function withoutNulls<T extends KubeObject>(object: T): T {
  return JSON.parse(JSON.stringify(object, (_key, child) => (isObject(child) ? dropNulls(child) : child))) as T;
}

function dropNulls(map: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(map).filter(([, child]) => child !== null));
}

/** Returns the object with one to three places changed: replaced, removed, or in another order. */
export function edit(rng: Random, object: KubeObject, type: MergeType): KubeObject {
  let edited = object as JsonObject;
  for (let count = 1 + Math.floor(rng.next() * 3); count > 0; count -= 1) edited = editMap(rng, edited, type, 0);
  return { ...edited, apiVersion: object.apiVersion, kind: object.kind } as KubeObject;
}

const KEPT: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'status', 'name', 'namespace', 'managedFields']);

function editMap(rng: Random, map: JsonObject, type: MergeType, depth: number): JsonObject {
  if (type.map === undefined) return map;
  const keys = Object.keys(map).filter((key) => depth > 1 || !KEPT.has(key));
  const fresh =
    depth > 1 || depth === 0 ? [...type.map.fields.keys(), ...(type.map.other === undefined ? [] : KEYS)] : [];
  const key = rng.pick([...keys, ...keys, ...fresh.filter((name) => depth > 0 || !KEPT.has(name)), 'none']);
  const below = keyType(type.map, key);
  if (below === undefined) return map;
  const old = map[key];
  const { [key]: _, ...others } = map;
  if (old !== undefined && depth > 0 && rng.chance(0.2) && key !== 'metadata') return others;
  if (old === undefined || rng.chance(0.2)) {
    return key === 'metadata' && depth === 0 ? map : { ...map, [key]: value(rng, below, depth + 1) };
  }
  return { ...map, [key]: editValue(rng, old, below, depth + 1) };
}

function editValue(rng: Random, old: Json, type: MergeType, depth: number): Json {
  const shape = shapeOf(type, old);
  if (shape.is === 'map' && isObject(old)) return editMap(rng, old, type, depth);
  if (shape.is === 'list' && Array.isArray(old) && old.length > 0) return editList(rng, old, shape.type, depth);
  return value(rng, type, depth);
}

function editList(rng: Random, old: readonly Json[], list: ListType, depth: number): Json {
  const index = Math.floor(rng.next() * old.length);
  if (rng.chance(0.3)) return old.toReversed();
  if (rng.chance(0.3)) return old.toSpliced(index, 1);
  const item = old[index] ?? null;
  const changed = rng.chance(0.5)
    ? old.toSpliced(index, 0, listItem(rng, list, depth))
    : old.with(index, list.merge === 'set' ? scalarValue(rng, list.item()) : editValue(rng, item, list.item(), depth));
  return list.merge === 'atomic' ? changed : withoutRepeats(changed, list);
}

function withoutRepeats(items: readonly Json[], list: ListType): Json[] {
  const names = items.map((item) => itemElement(list, item));
  return items.filter((_, index) => typeof names[index] === 'string' && names.indexOf(names[index] ?? '') === index);
}

/**
 * Returns the stored form of an object: a model that is stricter than any one server, because it drops some empty
 * values and keeps others, as plain and pointer fields of structs do.
 */
export function stored(object: KubeObject, type: MergeType): KubeObject {
  const whole = object.kind === 'Secret' ? withStringData(object as JsonObject) : (object as JsonObject);
  return storedValue(whole, type, '') as KubeObject;
}

function storedValue(old: Json, type: MergeType, path: string): Json {
  const shape = shapeOf(type, old);
  if (shape.is === 'map' && isObject(old)) return storedMap(old, type, shape.type, path);
  if (shape.is === 'list' && Array.isArray(old))
    return old.map((item) => storedValue(item, shape.type.item(), `${path}/#`));
  switch (type.scalar?.spelling) {
    case 'quantity':
      return storedQuantity(old as string) ?? '101m';
    case 'base64':
      return withoutLineBreaks(old as string);
    default:
      return old;
  }
}

function storedMap(old: JsonObject, type: MergeType, map: MapType, path: string): JsonObject {
  const out: JsonObject = {};
  for (const [key, child] of Object.entries(old)) {
    const field = map.fields.get(key);
    const below = field === undefined ? map.other?.() : field.type();
    if (child === undefined || below === undefined || (map.pruned && field === undefined)) continue;
    const at = `${path}/${key}`;
    if (type.storage !== 'struct') {
      if (child !== null) out[key] = storedValue(child, below, at);
      continue;
    }
    if (child === null) {
      if (field === undefined) out[key] = below.scalar?.spelling === 'quantity' ? '0' : '';
      continue;
    }
    const next = storedValue(child, below, at);
    if (field === undefined || !isEmptyValue(next) || keepsEmpty(next, below, at)) out[key] = next;
  }
  if (type.storage === 'verbatim') fillDefaults(out, map, path);
  return out;
}

function fillDefaults(out: JsonObject, map: MapType, path: string): void {
  for (const [key, field] of map.fields) {
    if (field.default === undefined || out[key] !== undefined) continue;
    out[key] = storedValue(field.default, field.type(), `${path}/${key}`);
  }
}

/**
 * Whether an empty value is stored: never lists and free-form maps, but scalars and structs if the field happens to be
 * a pointer.
 */
function keepsEmpty(value: Json, type: MergeType, path: string): boolean {
  if (Array.isArray(value) || path.startsWith('/metadata/')) return false;
  if (isObject(value) && type.map?.fields.size === 0) return false;
  let hash = 0;
  for (const character of path) hash = (Math.imul(hash, 31) + character.charCodeAt(0)) >>> 0;
  return hash % 2 === 0;
}
