// Declares the CEL types of a schema and converts values to them: integers, doubles, objects, maps, times, bytes.
// Source: CustomResourceDefinition validation rules, "Type checking" and its table of types.

import type { Environment } from '@marcbachmann/cel-js';
import { isObject, type Json } from '#std/json.ts';
import { parseGoDuration } from '../formats/duration.ts';
import { parseDate, parseTimestamp } from '../formats/timestamp.ts';
import { equals } from './equality.ts';
import { type FieldReader, fieldsType } from './lazy-fields.ts';
import { escapeName, isSelectable } from './names.ts';
import { type CelSchema, withMetadata } from './schema.ts';
import { CelDuration, CelTimestamp } from './tagged.ts';

export interface CelType {
  /** The name in the engine's notation: `int`, `list<string>`, or the name of an object's type. */
  readonly name: string;
  convert(value: Json): unknown;
}

export interface CelTypes {
  readonly environment: Environment;
  /** Schemas by name of the object's type. */
  readonly objects: Map<string, CelSchema>;
}

/**
 * Returns undefined if rules cannot read values of the schema. `root`: the value is a resource, whose metadata is
 * always known.
 */
export function declareType(types: CelTypes, schema: CelSchema, root: boolean): CelType | undefined {
  if (schema.intOrString)
    return { name: 'dyn', convert: (value) => (typeof value === 'number' ? BigInt(value) : value) };
  const known = root || schema.embedded ? withMetadata(schema) : schema;
  switch (known.type) {
    case 'object':
      return isMap(known) ? declareMap(types, known) : declareObject(types, known);
    case 'array':
      return declareList(types, known);
    case 'string':
      return textType(known.format);
    case 'boolean':
      return { name: 'bool', convert: (value) => value };
    case 'number':
      return { name: 'double', convert: (value) => value };
    case 'integer':
      return { name: 'int', convert: (value) => (typeof value === 'number' ? BigInt(value) : value) };
    case undefined:
      return undefined;
  }
}

function isMap({ additional }: CelSchema): boolean {
  return additional !== undefined && additional !== 'any';
}

function textType(format: string | undefined): CelType {
  switch (format) {
    case 'byte':
      return { name: 'bytes', convert: (value) => (typeof value === 'string' ? Buffer.from(value, 'base64') : value) };
    case 'duration':
      return { name: 'duration', convert: convertBy(parseGoDuration, (ns) => new CelDuration(ns)) };
    case 'date':
      return { name: 'timestamp', convert: convertBy(parseDate, (ns) => new CelTimestamp(ns)) };
    case 'date-time':
      return { name: 'timestamp', convert: convertBy(parseTimestamp, (ns) => new CelTimestamp(ns)) };
    default:
      return { name: 'string', convert: (value) => value };
  }
}

/**
 * Converts texts of a format. An invalid text stays a text, so rules about it fail. The schema check reports the
 * invalid format separately.
 */
function convertBy(parse: (text: string) => bigint | undefined, wrap: (ns: bigint) => object): CelType['convert'] {
  return (value) => {
    const ns = typeof value === 'string' ? parse(value) : undefined;
    return ns === undefined ? value : wrap(ns);
  };
}

function declareList(types: CelTypes, { items, listType }: CelSchema): CelType | undefined {
  const item = items === undefined ? undefined : declareType(types, items, false);
  if (items === undefined || item === undefined) return undefined;
  const unordered = listType === 'set' && items.type !== 'object' && items.type !== 'array';
  return {
    name: `list<${item.name}>`,
    convert(value) {
      if (!Array.isArray(value)) return value;
      const converted = value.map((each) => (each === null ? null : item.convert(each)));
      return unordered ? new Set(converted) : converted;
    },
  };
}

function declareMap(types: CelTypes, { additional }: CelSchema): CelType | undefined {
  const entry = additional === undefined || additional === 'any' ? undefined : declareType(types, additional, false);
  if (entry === undefined) return undefined;
  return {
    name: `map<string, ${entry.name}>`,
    convert(value) {
      if (!isObject(value)) return value;
      const converted = new Map<string, unknown>();
      for (const [key, each] of Object.entries(value)) {
        if (each !== undefined) converted.set(key, each === null ? null : entry.convert(each));
      }
      return converted;
    },
  };
}

function declareObject(types: CelTypes, schema: CelSchema): CelType {
  const fields = new Map<string, { readonly names: readonly string[]; readonly type: CelType }>();
  for (const [name, property] of schema.properties) {
    const escaped = escapeName(name);
    const type = declareType(types, property, false);
    if (escaped === undefined || type === undefined) continue;
    fields.set(name, { names: isSelectable(name) ? [escaped, name] : [escaped], type });
  }
  const { environment, objects } = types;
  const name = `Object${objects.size + 1}`;
  const readers = new Map(
    [...fields].flatMap(([key, { names, type }]) => names.map((each): [string, FieldReader] => [each, { key, type }])),
  );
  const Fields = fieldsType(readers);
  objects.set(name, schema);
  environment.registerType(name, {
    ctor: Fields,
    fields: Object.fromEntries(
      [...fields.values()].flatMap(({ names, type }) => names.map((each) => [each, type.name])),
    ),
  });
  environment.registerOperator(`${name} == ${name}`, equals);
  environment.registerOperator(`${name} == null`, () => false);
  return { name, convert: (value) => (isObject(value) ? new Fields(value) : value) };
}
