// Provides building blocks for schemas of kinds that other projects define.

import type { JsonObject } from '#std/json.ts';

export interface ForeignKind {
  readonly apiVersions: readonly string[];
  readonly kind: string;
  readonly namespaced: boolean;
  /** Structural schema of the whole object. */
  readonly schema: JsonObject;
}

export const TEXT: JsonObject = { type: 'string' };
export const FLAG: JsonObject = { type: 'boolean' };
export const COUNT: JsonObject = { type: 'integer' };
export const NAME: JsonObject = { type: 'string', minLength: 1 };
export const TEXTS: JsonObject = { type: 'array', items: TEXT };
export const LABELS: JsonObject = { type: 'object', additionalProperties: TEXT };
/** An object whose fields differ between releases and are not checked. */
export const OPEN: JsonObject = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
export const ANYTHING: JsonObject = { 'x-kubernetes-preserve-unknown-fields': true };

export function word(...values: readonly string[]): JsonObject {
  return { type: 'string', enum: [...values] };
}

export function items(each: JsonObject): JsonObject {
  return { type: 'array', items: each };
}

export function fields(properties: Readonly<Record<string, JsonObject>>, ...required: readonly string[]): JsonObject {
  return {
    type: 'object',
    properties: { ...properties },
    ...(required.length === 0 ? {} : { required: [...required] }),
  };
}

/** Returns the schema of a whole object. `more` are further fields next to `spec`. */
export function objectWith(spec: JsonObject, more: Readonly<Record<string, JsonObject>> = {}): JsonObject {
  return { type: 'object', properties: { spec, status: OPEN, ...more } };
}
