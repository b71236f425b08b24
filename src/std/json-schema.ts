// Provides the few TypeBox builders that most schemas need, with TypeBox's types. Loading TypeBox itself, with its 373
// modules, takes a third of the start time of `skep validate`.

import type {
  Static,
  TArray,
  TBoolean,
  TEnum,
  TInteger,
  TLiteral,
  TObject,
  TOptional,
  TProperties,
  TRecord,
  TSchema,
  TSchemaOptions,
  TString,
  TUnsafe,
} from 'typebox';

export type { Static, TArray, TBoolean, TInteger, TObject, TOptional, TProperties, TSchema, TString, TUnsafe };

/** Builders that return the same JSON Schema as TypeBox's builders. */
export const Type = {
  String: (options: TSchemaOptions = {}) => ({ type: 'string', ...options }) as TString,
  Integer: (options: TSchemaOptions = {}) => ({ type: 'integer', ...options }) as TInteger,
  Boolean: (options: TSchemaOptions = {}) => ({ type: 'boolean', ...options }) as TBoolean,
  Literal: <const V extends string>(value: V) => ({ type: 'string', const: value }) as TLiteral<V>,
  Enum: <const V extends string[]>(values: readonly [...V], options: TSchemaOptions = {}) =>
    ({ enum: values, ...options }) as TEnum<V>,
  Array: <T extends TSchema>(items: T, options: TSchemaOptions = {}) =>
    ({ type: 'array', items, ...options }) as TArray<T>,
  Object: objectSchema,
  /** Accepts all keys. */
  Record: <T extends TSchema>(_key: TString, value: T, options: TSchemaOptions = {}) =>
    ({ type: 'object', patternProperties: { '^.*$': value }, ...options }) as TRecord<'^.*$', T>,
  /** Returns the schema unchanged, typed for values of T. */
  Unsafe: <T>(schema: TSchema) => schema as TUnsafe<T>,
  Optional: optional,
} as const;

/** Marks an optional field. The property is not enumerable, so it does not appear in the JSON Schema. */
const OPTIONAL = '~optional';

function optional<T extends TSchema>(schema: T): TOptional<T> {
  const marked = { ...schema };
  Object.defineProperty(marked, OPTIONAL, { value: true });
  return marked as TOptional<T>;
}

function objectSchema<T extends TProperties>(properties: T, options: TSchemaOptions = {}): TObject<T> {
  const required = Object.keys(properties).filter((key) => !(OPTIONAL in (properties[key] ?? {})));
  return { type: 'object', ...(required.length === 0 ? {} : { required }), properties, ...options } as TObject<T>;
}
