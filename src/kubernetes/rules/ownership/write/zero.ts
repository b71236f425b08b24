// Builds the empty object of a kind, with which the first write of an object is compared.

import { isObject, type Json, type JsonObject } from '#std/json.ts';
import type { KubeObject } from '../../object.ts';
import type { MergeType } from '../../openapi.ts';

/**
 * Returns an object of a built-in kind as Go serialises an empty struct. Fields with an empty published default have
 * this default. Required pointers, maps and slices are null. A custom resource starts empty.
 */
export function zeroObject({ apiVersion, kind }: KubeObject, type: MergeType): KubeObject {
  const zero = type.storage === 'struct' ? zeroFields(type) : {};
  return { ...zero, apiVersion, kind } as KubeObject;
}

function zeroFields(type: MergeType): JsonObject {
  const zero: JsonObject = {};
  for (const [key, field] of type.map?.fields ?? []) {
    const { default: published } = field;
    if (published === undefined) {
      if (field.required) zero[key] = null;
    } else if (isZero(published)) {
      zero[key] = isObject(published) ? zeroFields(field.type()) : published;
    }
  }
  return zero;
}

function isZero(value: Json): boolean {
  if (isObject(value)) return Object.keys(value).length === 0;
  return value === '' || value === 0 || value === false;
}
