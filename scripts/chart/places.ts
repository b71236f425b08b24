// Places in an object: which of the table are in it, what stands there, and a copy with something else there.

import type { KubeObject } from '#kubernetes/rules/object.ts';
import { isObject, type Json, type JsonObject } from '#std/json.ts';
import { PLACES, type Place } from './table.ts';

export function isOf(object: string, { kind, metadata }: KubeObject): boolean {
  const [wantedKind, wantedName] = object.split('/');
  return [kind, '*'].includes(wantedKind ?? '') && [metadata.name, '*'].includes(wantedName ?? '');
}

/** A place of one object has to be there; one of all objects is where they have it. */
export function placesIn(object: KubeObject): readonly Place[] {
  return PLACES.filter((place) => {
    if (!isOf(place.object, object)) return false;
    const isThere = valueAt(object, place.pointer) !== undefined;
    if (place.object === '*/*') return isThere;
    if (isThere === (place.isAdded === true)) {
      throw new Error(`${object.kind}/${object.metadata.name} ${isThere ? 'has' : 'has no'} ${place.pointer}`);
    }
    return true;
  });
}

export function valueAt(object: KubeObject, pointer: string): Json | undefined {
  return tokensOf(pointer).reduce<Json | undefined>((value, token) => memberOf(value, token), object as JsonObject);
}

export function withValueAt(object: KubeObject, pointer: string, value: Json): KubeObject {
  const copy: JsonObject = structuredClone(object);
  const tokens = tokensOf(pointer);
  const last = tokens.pop() ?? '';
  const parent = tokens.reduce<Json | undefined>((each, token) => memberOf(each, token), copy);
  if (!isObject(parent)) throw new Error(`${object.kind}/${object.metadata.name} has no place for ${pointer}`);
  parent[last] = value;
  return copy as unknown as KubeObject;
}

function memberOf(value: Json | undefined, token: string): Json | undefined {
  if (!Array.isArray(value)) return isObject(value) ? value[token] : undefined;
  return value.find((item) => isObject(item) && item.name === token) ?? value[Number(token)];
}

function tokensOf(pointer: string): string[] {
  return pointer.split('/').slice(1);
}
