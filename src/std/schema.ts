// Small functions that write JSON Schemas the way a CustomResourceDefinition may hold them, and give the TypeScript type
// with it. The object they return is the schema: no word in it that an API server forbids. Knows nothing about kinds.

import { DURATION_PATTERN } from './duration.ts';
import type { Json, JsonObject } from './json.ts';
import {
  type Static,
  type TArray,
  type TBoolean,
  type TInteger,
  type TObject,
  type TOptional,
  type TProperties,
  type TSchema,
  type TString,
  type TUnsafe,
  Type,
} from './json-schema.ts';

export type { Static, TSchema };

/** Marks a field that is still read but should no longer be written; the value is what to write instead. */
export const DEPRECATED = 'x-skep-deprecated';

/** One CEL rule over the value that carries it (`self`), with the sentence an author reads when it is false. */
export interface Validation {
  readonly rule: string;
  readonly message: string;
  /** The field that the message is about, below the value that carries the rule: `.metadata.name`. */
  readonly fieldPath?: string;
}

interface Keywords {
  /** What to use instead of this field. */
  readonly deprecated?: string;
  readonly validations?: readonly Validation[];
}

export interface TextKeywords extends Keywords {
  readonly default?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly format?: string;
}

export interface IntegerKeywords extends Keywords {
  readonly default?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  /** `int32` unless said otherwise. */
  readonly format?: 'int32' | 'int64';
}

export interface ListKeywords extends Keywords {
  readonly default?: readonly Json[];
  readonly minItems?: number;
  readonly maxItems?: number;
  /** Keys that tell items apart; without them the list is one value (`atomic`). */
  readonly keys?: readonly string[];
}

export interface ObjectKeywords extends Keywords {
  readonly default?: JsonObject;
  /** True: written and owned as one value, never merged field by field. */
  readonly atomic?: boolean;
}

export interface MapKeywords extends Keywords {
  readonly minProperties?: number;
  readonly maxProperties?: number;
}

function written(description: string, { deprecated, validations, ...keywords }: Keywords & Record<string, unknown>) {
  return {
    description: deprecated === undefined ? description : `${description} Deprecated: use ${deprecated} instead.`,
    ...keywords,
    ...(deprecated === undefined ? {} : { [DEPRECATED]: deprecated }),
    ...(validations === undefined ? {} : { 'x-kubernetes-validations': validations }),
  };
}

/** The field may be left out. Fields with a default need no such mark: readers always see a value. */
export function optional<T extends TSchema>(schema: T): TOptional<T> {
  return Type.Optional(schema);
}

export function text(description: string, keywords: TextKeywords = {}): TString {
  return Type.String(written(description, { ...keywords }));
}

export function bool(description: string, fallback?: boolean, keywords: Keywords = {}): TBoolean {
  return Type.Boolean(written(description, { ...(fallback === undefined ? {} : { default: fallback }), ...keywords }));
}

export function integer(description: string, keywords: IntegerKeywords = {}): TInteger {
  return Type.Integer(written(description, { format: 'int32', ...keywords }));
}

/** One of the given words; written as `enum`, never as `anyOf` of constants. */
export function choice<const T extends string>(
  description: string,
  values: readonly T[],
  keywords: Keywords & { readonly default?: NoInfer<T> } = {},
): TUnsafe<T> {
  return Type.Unsafe<T>({ type: 'string', enum: [...values], ...written(description, { ...keywords }) });
}

export function list<T extends TSchema>(items: T, description: string, keywords: ListKeywords = {}): TArray<T> {
  const { keys, ...rest } = keywords;
  const merging =
    keys === undefined
      ? { 'x-kubernetes-list-type': 'atomic' }
      : { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': keys };
  return Type.Array(items, { ...written(description, rest), ...merging });
}

export function object<T extends TProperties>(
  properties: T,
  description: string,
  { atomic, ...keywords }: ObjectKeywords = {},
): TObject<T> {
  const merging = atomic === true ? { 'x-kubernetes-map-type': 'atomic' } : {};
  return Type.Object(properties, { ...written(description, { ...keywords }), ...merging });
}

/** Any keys, text values; written as `additionalProperties`, never as `patternProperties`. */
export function textMap(description: string, keywords: MapKeywords = {}): TUnsafe<Record<string, string>> {
  return map(Type.String() as TString, description, keywords);
}

/** Any keys, one kind of value. */
export function map<T extends TSchema>(
  values: T,
  description: string,
  keywords: MapKeywords = {},
): TUnsafe<Record<string, Static<T>>> {
  const schema = { type: 'object', additionalProperties: values, ...written(description, { ...keywords }) };
  return Type.Unsafe<Record<string, Static<T>>>(schema);
}

/** An object whose fields are not described here, kept as written. */
export function anyObject(description: string): TUnsafe<JsonObject> {
  return Type.Unsafe<JsonObject>({ type: 'object', 'x-kubernetes-preserve-unknown-fields': true, description });
}

/** Any JSON value, kept as written. CEL does not see it. */
export function anyValue(description: string): TUnsafe<Json> {
  return Type.Unsafe<Json>({ 'x-kubernetes-preserve-unknown-fields': true, description });
}

/** Document 2, Conventions: `1h30m`, `250ms`. */
export function duration(description: string, keywords: TextKeywords = {}): TString {
  return text(description, { pattern: DURATION_PATTERN, maxLength: 64, ...keywords });
}

/** RFC 3339. */
export function time(description: string): TString {
  return text(description, { format: 'date-time' });
}

const QUANTITY_PATTERN = '^[+-]?([0-9]+(\\.[0-9]*)?|\\.[0-9]+)([eE][+-]?[0-9]+|[KMGTPE]i|[numkMGTPE])?$';

/** An amount as Kubernetes writes it: `100m`, `512Mi`. */
export function quantity(description: string, keywords: TextKeywords = {}): TString {
  return text(description, { pattern: QUANTITY_PATTERN, maxLength: 64, ...keywords });
}

/** Document 2, Conventions: ports are 1-65535. */
export function port(description: string, keywords: IntegerKeywords = {}): TInteger {
  return integer(description, { minimum: 1, maximum: 65535, ...keywords });
}
