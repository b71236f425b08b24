// The places of a manifest with the types that they have, for those who change something there.

import { keyType, type MergeType } from '#kubernetes/rules/openapi.ts';
import { shapeOf } from '#kubernetes/rules/ownership/shape.ts';
import { isObject, type Json, type JsonObject, pointerToken } from '#std/json.ts';

export interface Spot {
  readonly parent: JsonObject | Json[];
  readonly key: string | number;
  readonly type: MergeType;
  /** JSON pointer in the object. */
  readonly path: string;
}

/** What says which object it is, and what only a server writes. */
const IDENTITY: ReadonlySet<string> = new Set([
  '/apiVersion',
  '/kind',
  '/status',
  ...['name', 'namespace', 'uid', 'resourceVersion', 'generation', 'creationTimestamp', 'managedFields'].map(
    (key) => `/metadata/${key}`,
  ),
  ...['finalizers', 'ownerReferences', 'deletionTimestamp'].map((key) => `/metadata/${key}`),
]);

/** Every place below the object that may be changed, outer ones first. */
export function spotsOf(object: JsonObject, type: MergeType): Spot[] {
  return below(object, type, '');
}

function below(value: Json, type: MergeType, path: string): Spot[] {
  const shape = shapeOf(type, value);
  if (Array.isArray(value) && shape.is === 'list') {
    const item = shape.type.item();
    return value.flatMap((child, key) => at({ parent: value, key, type: item, path: `${path}/${key}` }, child));
  }
  if (!isObject(value) || shape.is !== 'map') return [];
  return Object.entries(value).flatMap(([key, child]) => {
    const inside = `${path}/${pointerToken(key)}`;
    const childType = keyType(shape.type, key);
    if (childType === undefined || IDENTITY.has(inside)) return [];
    return at({ parent: value, key, type: childType, path: inside }, child ?? null);
  });
}

function at(spot: Spot, value: Json): Spot[] {
  const whole = spot.path === '/metadata' || spot.path === '/spec' ? [] : [spot];
  return [...whole, ...below(value, spot.type, spot.path)];
}

export function read({ parent, key }: Spot): Json {
  return (parent as JsonObject)[key] ?? null;
}

export function write({ parent, key }: Spot, value: Json): void {
  (parent as JsonObject)[key] = value;
}

export function remove({ parent, key }: Spot): void {
  if (Array.isArray(parent)) parent.splice(Number(key), 1);
  else delete parent[key];
}
