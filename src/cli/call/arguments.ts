// Parses the arguments of a call (`key=value`) with the types from the input schema of the tool.

import { didYouMean } from '#std/closest.ts';
import { Failure } from '#std/failure.ts';
import { isObject, type Json, type JsonObject, objectsIn, parseJson, textsIn } from '#std/json.ts';

export interface ArgumentWords {
  /** Value of `--args`: JSON of an object. */
  readonly json: string | undefined;
  /** Words such as `key=value`, `key=@file` and `key=@@text`. `@@text` stands for the text `@text`. */
  readonly words: readonly string[];
}

export type ReadText = (path: string) => string;

/** Returns the arguments. Throws Failure `call-arguments`. */
export function argumentsOf(schema: JsonObject, { json, words }: ArgumentWords, readText: ReadText): JsonObject {
  const values: JsonObject = json === undefined ? {} : argumentsFromJson(json);
  const repeated = Map.groupBy(words.map(split), ([key]) => key);
  for (const [key, pairs] of repeated) {
    const property = propertyOf(schema, key);
    const texts = pairs.map(([, text]) => textOf(text, readText));
    values[key] = typedAll(key, texts, property, schema);
  }
  const missing = textsIn(schema.required).filter((key) => values[key] === undefined);
  if (missing.length > 0) throw misfit(`missing: ${missing.map((key) => `${key}=...`).join(' ')}`);
  return values;
}

function misfit(message: string): Failure {
  return new Failure('call-arguments', message);
}

function argumentsFromJson(json: string): JsonObject {
  const value = parseJson(json);
  if (!isObject(value)) throw misfit('--args has to be a JSON object, such as {"key": "value"}');
  return { ...value };
}

function split(word: string): readonly [string, string] {
  const at = word.indexOf('=');
  if (at < 1) throw misfit(`"${word}" is not an argument: write key=value, key=@file, or --args with JSON`);
  return [word.slice(0, at), word.slice(at + 1)];
}

function textOf(text: string, readText: ReadText): string {
  if (text.startsWith('@@')) return text.slice(1);
  return text.startsWith('@') ? readText(text.slice(1)) : text;
}

function propertyOf(schema: JsonObject, key: string): JsonObject {
  const properties = isObject(schema.properties) ? schema.properties : {};
  const property = properties[key];
  if (property !== undefined && Object.hasOwn(properties, key)) return resolve(property, schema);
  if (schema.additionalProperties !== false) return {};
  const names = Object.keys(properties);
  const known = names.length === 0 ? 'the tool has no arguments' : `its arguments are ${names.join(', ')}`;
  throw misfit(`the tool has no argument "${key}".${didYouMean(key, names)} The tool says: ${known}`);
}

/**
 * Returns the value of a key. If the schema accepts a list, the values of a repeated key become a list. If the schema
 * does not accept text too, a single value also becomes a list.
 */
function typedAll(key: string, texts: readonly string[], property: JsonObject, schema: JsonObject): Json {
  const [first = ''] = texts;
  const whole = texts.length === 1 ? parseJson(first) : undefined;
  const types = typesOf(property, schema);
  if (types.has('array') && !Array.isArray(whole) && !(texts.length === 1 && types.has('string'))) {
    const items = resolve(property.items ?? {}, schema);
    return texts.map((text) => typed(key, text, items, schema));
  }
  if (texts.length > 1) throw misfit(`${key} is given ${texts.length} times, but is not a list`);
  return typed(key, first, property, schema);
}

function typed(key: string, text: string, property: JsonObject, schema: JsonObject): Json {
  const types = typesOf(property, schema);
  const value = parseJson(text);
  if (value !== undefined && typeof value !== 'string' && types.has(typeName(value))) return value;
  if (types.has('number') && value !== undefined && typeName(value) === 'integer') return value;
  if (types.has('string')) return text;
  if (types.size === 0) return value === undefined ? text : value;
  throw misfit(`${key} has to be ${[...types].join(' or ')}, and "${text}" is not`);
}

function typeName(value: Json): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value === 'number' && Number.isInteger(value) ? 'integer' : typeof value;
}

/** Returns the accepted types by their names in JSON Schema. The set is empty if any type is accepted. */
function typesOf(property: JsonObject, schema: JsonObject): ReadonlySet<string> {
  const { type, enum: choices, const: only } = property;
  if (typeof type === 'string') return new Set([type]);
  if (Array.isArray(type)) return new Set(textsIn(type));
  if (Array.isArray(choices)) return new Set(choices.map(typeName));
  if (only !== undefined) return new Set([typeName(only)]);
  const alternatives = [...objectsIn(property.anyOf), ...objectsIn(property.oneOf)];
  return new Set(alternatives.flatMap((each) => [...typesOf(resolve(each, schema), schema)]));
}

const LONGEST_CHAIN = 10;

/** Follows `$ref` within the schema. For a reference to another document, any type is accepted. */
function resolve(property: Json, schema: JsonObject): JsonObject {
  let current: Json = property;
  for (let step = 0; step < LONGEST_CHAIN && isObject(current) && typeof current.$ref === 'string'; step += 1) {
    const [anchor = '', ...path] = current.$ref.split('/');
    let target: Json | undefined = anchor === '#' ? schema : undefined;
    for (const name of path) target = isObject(target) ? target[name] : undefined;
    current = target ?? {};
  }
  return isObject(current) ? current : {};
}
