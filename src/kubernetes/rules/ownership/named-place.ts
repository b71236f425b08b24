// Resolves a path from an error of the API server, such as `spec.volumes[0].configMap` or `metadata.labels[a.b/c]`.

import { isObject, type Json, type JsonObject } from '#std/json.ts';
import type { KubeObject } from '../object.ts';
import { keyType, type MergeType } from '../openapi.ts';
import { fieldElement, itemElement } from './element.ts';

/** A field name, or brackets with a position in a list or a key of a map. */
const STEP = /[^.[\]]+|\[[^\]]*\]/g;

export interface NamedPlace {
  /** The path as in a field set. */
  readonly elements: readonly string[];
  /**
   * True if the whole path was resolved. False if the object lacks an item, or if the path continues into an atomic
   * list.
   */
  readonly isWhole: boolean;
}

/** Resolves `field` in `object`, which the server refused. */
export function placeNamed(object: KubeObject, type: MergeType, field: string): NamedPlace {
  const steps = (field.match(STEP) ?? []).map((step) => step.replace(/^\[(.*)\]$/, '$1'));
  const elements = placeBelow(object as JsonObject, type, steps);
  return { elements, isWhole: elements.length === steps.length };
}

function placeBelow(value: Json | undefined, type: MergeType | undefined, steps: readonly string[]): readonly string[] {
  const [step, ...rest] = steps;
  if (step === undefined || type === undefined) return [];
  if (Array.isArray(value)) {
    const item = value[Number(step)];
    const element = type.list === undefined || item === undefined ? undefined : itemElement(type.list, item);
    return typeof element === 'string' ? [element, ...placeBelow(item, type.list?.item(), rest)] : [];
  }
  const key = spelled(type, step);
  const child = isObject(value) ? value[key] : undefined;
  return [fieldElement(key), ...placeBelow(child, type.map && keyType(type.map, key), rest)];
}

/** Returns the key of the step. The server sometimes uses Go's field name: `spec.LoadBalancerSourceRanges`. */
function spelled({ map }: MergeType, step: string): string {
  if (map === undefined || map.fields.has(step)) return step;
  return [...map.fields.keys()].find((key) => key.toLowerCase() === step.toLowerCase()) ?? step;
}
