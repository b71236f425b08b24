// Builds JSON Schemas for CustomResourceDefinitions with their TypeScript types. Uses only keywords that the API server
// permits.

import assert from 'node:assert/strict';
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

import {
  ALIAS_OF,
  DEPRECATED,
  type Deprecation,
  deprecationSentence,
  NEVER_EMPTY,
  NEW_WORDS,
  OLD_WORDS,
  type RuleMark,
} from './schema/marks.ts';
import { spellingRules, withSpellings } from './schema/spellings.ts';

export type { Static, TSchema };

interface Keywords {
  readonly deprecated?: Deprecation;
  readonly validations?: readonly RuleMark[];
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
  /** Default: `int32`. */
  readonly format?: 'int32' | 'int64';
}

export interface ListKeywords extends Keywords {
  readonly default?: readonly Json[];
  readonly minItems?: number;
  readonly maxItems?: number;
  /** Keys that identify items. A list without keys is replaced as a whole (`atomic`). */
  readonly keys?: readonly string[];
}

export interface ObjectKeywords extends Keywords {
  readonly default?: JsonObject;
  /** If true, the object is written and owned as a whole, and never merged by fields. */
  readonly atomic?: boolean;
  /** True if an empty object breaks a rule of the schema. */
  readonly neverEmpty?: boolean;
  /** Current names of fields, by their old names. Code that reads a resource sees only current names. */
  readonly aliases?: Readonly<Record<string, string>>;
  /** Names of fields in `NEXT_VERSION`, by their current names. Code that reads a resource sees only current names. */
  readonly spellings?: Readonly<Record<string, string>>;
}

export interface MapKeywords extends Keywords {
  readonly minProperties?: number;
  readonly maxProperties?: number;
}

function describeField(
  description: string,
  { deprecated, validations, ...keywords }: Keywords & Record<string, unknown>,
) {
  return {
    description: deprecated === undefined ? description : `${description} ${deprecationSentence(deprecated)}`,
    ...keywords,
    ...(deprecated === undefined ? {} : { [DEPRECATED]: deprecated }),
    ...(validations === undefined ? {} : { 'x-kubernetes-validations': validations }),
  };
}

/**
 * Marks a field as optional. A field with a default needs no mark, because code that reads a resource always gets a
 * value.
 */
export function optional<T extends TSchema>(schema: T): TOptional<T> {
  return Type.Optional(schema);
}

export function text(description: string, keywords: TextKeywords = {}): TString {
  return Type.String(describeField(description, { ...keywords }));
}

export function bool(description: string, fallback?: boolean, keywords: Keywords = {}): TBoolean {
  return Type.Boolean(
    describeField(description, { ...(fallback === undefined ? {} : { default: fallback }), ...keywords }),
  );
}

export function integer(description: string, keywords: IntegerKeywords = {}): TInteger {
  return Type.Integer(describeField(description, { format: 'int32', ...keywords }));
}

interface ChoiceKeywords<T extends string> extends Keywords {
  readonly default?: T;
  /** Current words, by their old words. Code that reads a resource sees only current words. */
  readonly aliases?: Readonly<Record<string, T>>;
  /** Words in `NEXT_VERSION`, by their current words. Code that reads a resource sees only current words. */
  readonly spellings?: Readonly<Partial<Record<T, string>>>;
}

/** Returns a schema for one of the words, as `enum` instead of `anyOf` with constants. */
export function choice<const T extends string>(
  description: string,
  values: readonly T[],
  { aliases = {}, spellings, ...keywords }: ChoiceKeywords<NoInfer<T>> = {},
): TUnsafe<T> {
  const news = Object.entries<string | undefined>(spellings ?? {}).flatMap(([word, spelling]) =>
    spelling === undefined ? [] : [[spelling, word] as const],
  );
  const others = { ...aliases, ...Object.fromEntries(news) };
  return Type.Unsafe<T>({
    type: 'string',
    enum: [...values, ...Object.keys(others)],
    ...describeField(description, keywords),
    ...(Object.keys(others).length === 0 ? {} : { [OLD_WORDS]: others }),
    ...(news.length === 0 ? {} : { [NEW_WORDS]: spellings }),
  });
}

export function list<T extends TSchema>(items: T, description: string, keywords: ListKeywords = {}): TArray<T> {
  const { keys, ...rest } = keywords;
  const merging =
    keys === undefined
      ? { 'x-kubernetes-list-type': 'atomic' }
      : { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': keys };
  return Type.Array(items, { ...describeField(description, rest), ...merging });
}

export function object<T extends TProperties>(
  properties: T,
  description: string,
  { atomic, neverEmpty, aliases = {}, spellings = {}, ...keywords }: ObjectKeywords = {},
): TObject<T> {
  const merging = atomic === true ? { 'x-kubernetes-map-type': 'atomic' } : {};
  const names = Object.entries(aliases);
  const old = Object.fromEntries(names.map(([name, field]) => [name, aliasOf(properties, field)]));
  const validations = [
    ...(keywords.validations ?? []),
    ...names.map(([name, field]) => notBoth(name, field)),
    ...Object.entries(spellings).flatMap(([name, spelling]) => spellingRules(properties, name, spelling)),
  ];
  const rules = validations.length === 0 ? {} : { validations };
  // The type lacks old names and names in `NEXT_VERSION`, because the code of a kind reads only current names.
  return Type.Object({ ...withSpellings(properties, spellings), ...old } as T, {
    ...describeField(description, { ...keywords, ...rules }),
    ...merging,
    ...(neverEmpty === true ? { [NEVER_EMPTY]: true } : {}),
  });
}

function aliasOf(properties: TProperties, field: string): TSchema {
  const { default: fallback, ...schema } = properties[field] as JsonObject;
  assert(fallback === undefined, `an alias of ${field}, which has a default, would never be alone`);
  const deprecation = { use: field };
  const description = `An old name of ${field}. ${deprecationSentence(deprecation)}`;
  return optional({ ...schema, description, [DEPRECATED]: deprecation, [ALIAS_OF]: field } as TSchema);
}

function notBoth(name: string, field: string): RuleMark {
  return {
    rule: `!has(self.${name}) || !has(self.${field})`,
    message: `${name} is an old name of ${field}: set ${field} only`,
  };
}

/** Returns a schema for texts by any keys, as `additionalProperties` instead of `patternProperties`. */
export function textMap(description: string, keywords: MapKeywords = {}): TUnsafe<Record<string, string>> {
  return map(Type.String() as TString, description, keywords);
}

/** Returns a schema for values of one schema by any keys. */
export function map<T extends TSchema>(
  values: T,
  description: string,
  keywords: MapKeywords = {},
): TUnsafe<Record<string, Static<T>>> {
  const schema = { type: 'object', additionalProperties: values, ...describeField(description, { ...keywords }) };
  return Type.Unsafe<Record<string, Static<T>>>(schema);
}

/** Returns a schema for an object with any fields, which are kept unchanged. */
export function anyObject(description: string): TUnsafe<JsonObject> {
  return Type.Unsafe<JsonObject>({ type: 'object', 'x-kubernetes-preserve-unknown-fields': true, description });
}

/** Returns a schema for any JSON value, which is kept unchanged. CEL rules cannot read the value. */
export function anyValue(description: string): TUnsafe<Json> {
  return Type.Unsafe<Json>({ 'x-kubernetes-preserve-unknown-fields': true, description });
}

/** Returns a schema for a duration such as `1h30m`. */
export function duration(description: string, keywords: TextKeywords = {}): TString {
  return text(description, { pattern: DURATION_PATTERN, maxLength: 64, ...keywords });
}

/** Returns a schema for an RFC 3339 time. */
export function time(description: string): TString {
  return text(description, { format: 'date-time' });
}

const QUANTITY_PATTERN = '^[+-]?([0-9]+(\\.[0-9]*)?|\\.[0-9]+)([eE][+-]?[0-9]+|[KMGTPE]i|[numkMGTPE])?$';

/** Returns a schema for a Kubernetes quantity such as `512Mi`. */
export function quantity(description: string, keywords: TextKeywords = {}): TString {
  return text(description, { pattern: QUANTITY_PATTERN, maxLength: 64, ...keywords });
}

/** Returns a schema for a port from 1 to 65535. */
export function port(description: string, keywords: IntegerKeywords = {}): TInteger {
  return integer(description, { minimum: 1, maximum: 65535, ...keywords });
}
