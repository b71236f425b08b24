// Which place of an object the API server means where it refuses one: `spec.volumes[0].configMap`, `metadata.labels[a.b/c]`.
// Knows nothing about why it refuses.

import { isObject, type Json, type JsonObject } from '../../std/json.ts';
import type { KubeObject } from '../object.ts';
import { keyType, type MergeType } from '../openapi.ts';
import { fieldElement, itemElement } from './element.ts';

/** Names, and what stands in brackets: a position in a list, or a key of a map. */
const STEP = /[^.[\]]+|\[[^\]]*\]/g;

/** `object`: as it was refused. As in a field set, and no further than the object and its type say. */
export function placeNamed(object: KubeObject, type: MergeType, field: string): readonly string[] {
  const steps = (field.match(STEP) ?? []).map((step) => step.replace(/^\[(.*)\]$/, '$1'));
  return placeBelow(object as JsonObject, type, steps);
}

function placeBelow(value: Json | undefined, type: MergeType | undefined, steps: readonly string[]): readonly string[] {
  const [step, ...rest] = steps;
  if (step === undefined || type === undefined) return [];
  if (Array.isArray(value)) {
    const item = value[Number(step)];
    const element = type.list === undefined || item === undefined ? undefined : itemElement(type.list, item);
    return typeof element === 'string' ? [element, ...placeBelow(item, type.list?.item(), rest)] : [];
  }
  const child = isObject(value) ? value[step] : undefined;
  return [fieldElement(step), ...placeBelow(child, type.map && keyType(type.map, step), rest)];
}
