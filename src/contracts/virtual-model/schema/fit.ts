// Checks whether a value fits a JSON Schema (2020-12 or draft-07). The schema is not compiled to code, because its
// author is not trusted. `schemaFault` has already accepted the schema.

import {
  canonicalJson,
  isObject,
  type Json,
  type JsonObject,
  jsonEquals,
  pointerToken,
  pointerTokens,
  textsIn,
} from '#std/json.ts';
import { fitsFormat } from './formats.ts';
import { numberMisfit, textMisfit } from './scalars.ts';

export interface Misfit {
  /** JSON pointer to a part of the value. */
  readonly pointer: string;
  /** Continues a sentence about the value: `must be integer`. */
  readonly message: string;
}

type Schema = Json | undefined;

interface Fitting {
  readonly root: Schema;
  /** Number of schemas around the current schema. It is limited, because references can be circular. */
  readonly depth: number;
}

const DEPTH_MAX = 100;

export function misfitsOf(schema: JsonObject, value: Json): readonly Misfit[] {
  return fitAt({ root: schema, depth: 0 }, schema, value, '');
}

function fitAt(fitting: Fitting, schema: Schema, value: Json, pointer: string): readonly Misfit[] {
  if (schema === false) return [misfit(pointer, 'must be left out')];
  if (!isObject(schema)) return [];
  if (fitting.depth > DEPTH_MAX) return [misfit(pointer, 'is nested too deeply')];
  const inner = { ...fitting, depth: fitting.depth + 1 };
  const types = typeMisfits(schema, value, pointer);
  if (types.length > 0) return types;
  return [
    ...plainMisfits(schema, value, pointer),
    ...(Array.isArray(value) ? listMisfits(inner, schema, value, pointer) : []),
    ...(isObject(value) ? objectMisfits(inner, schema, value, pointer) : []),
    ...combinedMisfits(inner, schema, value, pointer),
  ];
}

function misfit(pointer: string, message: string): Misfit {
  return { pointer, message };
}

function typeMisfits({ type }: JsonObject, value: Json, pointer: string): readonly Misfit[] {
  const types = Array.isArray(type) ? type : type === undefined ? [] : [type];
  if (types.length === 0 || types.some((each) => hasType(value, each))) return [];
  return [misfit(pointer, `must be ${types.join(' or ')}`)];
}

function hasType(value: Json, type: Json): boolean {
  switch (type) {
    case 'null':
      return value === null;
    case 'array':
      return Array.isArray(value);
    case 'object':
      return isObject(value);
    case 'integer':
      return Number.isInteger(value);
    default:
      return typeof value === type;
  }
}

function plainMisfits(schema: JsonObject, value: Json, pointer: string): readonly Misfit[] {
  const { enum: choices, const: only, format } = schema;
  const found: (string | undefined)[] = [];
  if (Array.isArray(choices) && !choices.some((each) => jsonEquals(each, value))) {
    found.push(`must be one of ${choices.map((each) => JSON.stringify(each)).join(', ')}`);
  }
  if (only !== undefined && !jsonEquals(only, value)) found.push(`must be ${JSON.stringify(only)}`);
  if (typeof value === 'number') found.push(numberMisfit(schema, value));
  if (typeof value === 'string') {
    found.push(textMisfit(schema, value));
    if (typeof format === 'string' && !fitsFormat(format, value)) found.push(`must be of the format ${format}`);
  }
  return found.flatMap((message) => (message === undefined ? [] : [misfit(pointer, message)]));
}

function listMisfits(fitting: Fitting, schema: JsonObject, value: readonly Json[], pointer: string): readonly Misfit[] {
  const { items, prefixItems, additionalItems, minItems, maxItems, uniqueItems, contains } = schema;
  // In draft-07, `items` can be a list. The schema of all further items is then `additionalItems`.
  const first = Array.isArray(prefixItems) ? prefixItems : Array.isArray(items) ? items : [];
  const rest = Array.isArray(items) ? additionalItems : items;
  const found: Misfit[] = [];
  if (typeof minItems === 'number' && value.length < minItems)
    found.push(misfit(pointer, `must have at least ${minItems} items`));
  if (typeof maxItems === 'number' && value.length > maxItems)
    found.push(misfit(pointer, `must have at most ${maxItems} items`));
  if (uniqueItems === true && hasEqualItems(value)) found.push(misfit(pointer, 'must not have equal items'));
  if (contains !== undefined && !value.some((item) => fitAt(fitting, contains, item, '').length === 0)) {
    found.push(misfit(pointer, 'must have an item that fits `contains`'));
  }
  return [
    ...found,
    ...value.flatMap((item, at) => fitAt(fitting, at < first.length ? first[at] : rest, item, `${pointer}/${at}`)),
  ];
}

/** Compares the JSON texts of the items, with sorted keys. Comparing each item with each other item would be slow. */
function hasEqualItems(items: readonly Json[]): boolean {
  return new Set(items.map(canonicalJson)).size < items.length;
}

function objectMisfits(fitting: Fitting, schema: JsonObject, value: JsonObject, pointer: string): readonly Misfit[] {
  const { required, minProperties, maxProperties, propertyNames, dependentRequired, dependentSchemas } = schema;
  const keys = Object.keys(value);
  const found: Misfit[] = [];
  for (const name of textsIn(required)) {
    if (!Object.hasOwn(value, name)) found.push(misfit(pointer, `must have ${name}`));
  }
  if (typeof minProperties === 'number' && keys.length < minProperties) {
    found.push(misfit(pointer, `must have at least ${minProperties} properties`));
  }
  if (typeof maxProperties === 'number' && keys.length > maxProperties) {
    found.push(misfit(pointer, `must have at most ${maxProperties} properties`));
  }
  for (const [name, needed] of entriesOf(dependentRequired)) {
    const missing = keys.includes(name) ? textsIn(needed).filter((each) => !keys.includes(each)) : [];
    found.push(...missing.map((each) => misfit(pointer, `must have ${each}, since it has ${name}`)));
  }
  return [
    ...found,
    ...keys.flatMap((key) => fitAt(fitting, propertyNames, key, `${pointer}/${pointerToken(key)}`)),
    ...entriesOf(dependentSchemas).flatMap(([name, each]) =>
      keys.includes(name) ? fitAt(fitting, each, value, pointer) : [],
    ),
    ...keys.flatMap((key) =>
      propertyMisfits(fitting, schema, key, value[key] ?? null, `${pointer}/${pointerToken(key)}`),
    ),
  ];
}

function propertyMisfits(
  fitting: Fitting,
  schema: JsonObject,
  key: string,
  value: Json,
  pointer: string,
): readonly Misfit[] {
  const { properties, patternProperties, additionalProperties } = schema;
  const named = isObject(properties) && Object.hasOwn(properties, key) ? [properties[key]] : [];
  const patterned = entriesOf(patternProperties).flatMap(([pattern, each]) =>
    textMisfit({ pattern }, key) === undefined ? [each] : [],
  );
  const schemas = [...named, ...patterned];
  if (schemas.length > 0) return schemas.flatMap((each) => fitAt(fitting, each, value, pointer));
  if (additionalProperties === false) return [misfit(pointer, 'is not known')];
  return fitAt(fitting, additionalProperties, value, pointer);
}

function combinedMisfits(fitting: Fitting, schema: JsonObject, value: Json, pointer: string): readonly Misfit[] {
  const { allOf, anyOf, oneOf, not, if: condition, then, else: otherwise, $ref } = schema;
  const fits = (each: Schema) => fitAt(fitting, each, value, pointer).length === 0;
  const found: Misfit[] = [];
  if (Array.isArray(anyOf) && !anyOf.some(fits)) found.push(misfit(pointer, 'must fit one of the schemas of anyOf'));
  if (Array.isArray(oneOf) && oneOf.filter(fits).length !== 1)
    found.push(misfit(pointer, 'must fit exactly one of the schemas of oneOf'));
  if (not !== undefined && fits(not)) found.push(misfit(pointer, 'must not fit the schema of not'));
  return [
    ...found,
    ...(Array.isArray(allOf) ? allOf.flatMap((each) => fitAt(fitting, each, value, pointer)) : []),
    ...(condition === undefined ? [] : fitAt(fitting, fits(condition) ? then : otherwise, value, pointer)),
    ...(typeof $ref === 'string' ? fitAt(fitting, referred(fitting.root, $ref), value, pointer) : []),
  ];
}

/**
 * Returns the schema to which `$ref` points. It is part of the root schema, because `schemaFault` refuses references to
 * other documents.
 */
export function referred(root: Schema, reference: string): Schema {
  let schema: Schema = root;
  for (const token of pointerTokens(decodeURIComponent(reference.slice(1)))) {
    if (typeof schema !== 'object' || schema === null) return undefined;
    schema = Object.entries(schema).find(([key]) => key === token)?.[1];
  }
  return schema;
}

function entriesOf(value: Schema): readonly (readonly [string, Schema])[] {
  return isObject(value) ? Object.entries(value) : [];
}
