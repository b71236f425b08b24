// Converts schemas of specs to schemas of the files that are rendered from these specs.

import { ADDRESS } from '#std/address/address.ts';
import { FILE_WORDS } from '#std/file-words.ts';
import { isObject, type Json, type JsonObject } from '#std/json.ts';
import { type TObject, type TOptional, type TProperties, type TSchema, type TString, Type } from '#std/json-schema.ts';
import type { RuleMark } from '#std/schema/marks.ts';

/**
 * Schema keywords that a file does not need. Maximum sizes of lists only limit the cost of CEL, and a list in a file
 * may join several lists of specs.
 */
const OF_SPECS = new Set(['default', 'format', 'maxItems', 'maxProperties']);

/**
 * Returns the schema for the file. Objects are closed, fields with a default are required, and keywords of Kubernetes
 * are removed. Limits that a spec has only in CEL come from the keywords in `FILE_WORDS`.
 */
export function fileForm<T extends TSchema>(schema: T): T {
  const form: object = isObject(schema) ? formOf(schema) : schema;
  return form as T;
}

function formOf(schema: JsonObject): JsonObject {
  const { [FILE_WORDS]: more, properties, items, ...rest } = schema;
  const words = Object.entries(rest).filter(
    ([word]) => (word === ADDRESS || !word.startsWith('x-')) && !OF_SPECS.has(word),
  );
  const form: JsonObject = { ...Object.fromEntries(words), ...(isObject(more) ? more : {}) };
  if (isObject(items)) form.items = formOf(items);
  if (isObject(properties)) return { ...form, properties: mapped(properties, formOf), additionalProperties: false };
  if (isObject(schema.additionalProperties)) form.additionalProperties = formOf(schema.additionalProperties);
  return form;
}

function mapped(object: JsonObject, change: (each: JsonObject) => Json): JsonObject {
  return Object.fromEntries(Object.entries(object).map(([key, each]) => [key, isObject(each) ? change(each) : each]));
}

/** Returns the field for a file that people write: optional if the schema has a default. */
export function setting<T extends TSchema>(schema: T): TOptional<T> {
  const { default: fallback } = { default: undefined, ...schema };
  return Type.Optional(Object.assign({}, fileForm(schema), fallback === undefined ? {} : { default: fallback }));
}

/** Returns the schema of a text that is not empty. If a text in a spec is empty, the file does not contain it. */
export function filled(schema: TString): TString {
  return Object.assign({ ...schema }, { minLength: 1 });
}

/**
 * Returns the value with the defaults of its schema, at any depth. Values that do not fit the schema are not changed.
 */
export function fillDefaults(schema: unknown, value: Json): Json {
  if (!isObject(schema)) return value;
  const { properties, items, additionalProperties } = schema;
  if (Array.isArray(value)) return value.map((item) => fillDefaults(items, item));
  if (!isObject(value)) return value;
  if (isObject(additionalProperties)) return mapped(value, (each) => fillDefaults(additionalProperties, each));
  if (!isObject(properties)) return value;
  const copy = { ...value };
  for (const [key, field] of Object.entries(properties)) {
    if (!isObject(field)) continue;
    const given = value[key] === undefined ? field.default : value[key];
    if (given !== undefined) copy[key] = fillDefaults(field, given);
  }
  return copy;
}

/** Returns the schema with additional or replaced fields. The rules of the schema stay, and `rules` are added. */
export function withFields<T extends TProperties, U extends TProperties>(
  { properties, required: _required, type: _type, ...words }: TObject<T>,
  fields: U,
  rules: readonly RuleMark[] = [],
): TObject<Omit<T, keyof U> & U> {
  const { 'x-kubernetes-validations': own = [] } = words as {
    readonly 'x-kubernetes-validations'?: readonly RuleMark[];
  };
  const validations = [...own, ...rules];
  return Type.Object<Omit<T, keyof U> & U>(
    { ...properties, ...fields },
    { ...words, ...(validations.length === 0 ? {} : { 'x-kubernetes-validations': validations }) },
  );
}
