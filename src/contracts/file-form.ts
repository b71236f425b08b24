// A field of a spec as the file has it that is rendered from the spec.

import { ADDRESS } from '#std/address/address.ts';
import { FILE_WORDS } from '#std/file-words.ts';
import { isObject, type Json, type JsonObject } from '#std/json.ts';
import { type TObject, type TOptional, type TProperties, type TSchema, type TString, Type } from '#std/json-schema.ts';
import type { Validation } from '#std/schema/marks.ts';

/** Words that say nothing in a file. How much a list may hold is bounded for the cost of CEL; a file joins several. */
const OF_SPECS = new Set(['default', 'format', 'maxItems', 'maxProperties']);

/**
 * The same schema: objects are closed, what has a default is always written, and words that only Kubernetes knows are
 * gone. Values that a spec bounds by CEL alone are bounded by what `FILE_WORDS` says.
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

/** A field of a file that people write: they may leave it out, and the schema says what holds then. */
export function setting<T extends TSchema>(schema: T): TOptional<T> {
  const { default: fallback } = { default: undefined, ...schema };
  return Type.Optional(Object.assign({}, fileForm(schema), fallback === undefined ? {} : { default: fallback }));
}

/** A text that a spec may leave empty, which means the same as leaving it out: a file does the latter. */
export function filled(schema: TString): TString {
  return Object.assign({ ...schema }, { minLength: 1 });
}

/** A value with the defaults of its schema filled in, at any depth. What does not fit the schema stays as it is. */
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

/** The schema with further fields, or others in place of its own; its rules stay, and `rules` are added to them. */
export function withFields<T extends TProperties, U extends TProperties>(
  { properties, required: _required, type: _type, ...words }: TObject<T>,
  fields: U,
  rules: readonly Validation[] = [],
): TObject<Omit<T, keyof U> & U> {
  const { 'x-kubernetes-validations': own = [] } = words as {
    readonly 'x-kubernetes-validations'?: readonly Validation[];
  };
  const validations = [...own, ...rules];
  return Type.Object<Omit<T, keyof U> & U>(
    { ...properties, ...fields },
    { ...words, ...(validations.length === 0 ? {} : { 'x-kubernetes-validations': validations }) },
  );
}
