// Decodes an object as the server's Go struct does: drops unknown fields and some empty values, rejects wrong JSON
// types, and sets defaults.

import { isObject, type Json, type JsonObject } from '#std/json.ts';
import type { OpenApiDocument, OpenApiSchema } from '../../rules/openapi.ts';
import { defaulterOf } from './defaults/defaults.ts';
import { FIELD_FACTS } from './field-facts.ts';
import { decodeScalar, isZero, zeroOf } from './scalar.ts';

export interface Decoded {
  readonly value: JsonObject;
  /** Paths of unknown fields, such as `spec.template.foo`. */
  readonly unknown: readonly string[];
}

/** A value of the wrong JSON type. The message begins with `json: cannot unmarshal string into Go struct field`. */
export interface Mismatch {
  readonly mismatch: string;
}

interface StructDecoding {
  readonly schemas: Readonly<Record<string, OpenApiSchema>>;
  readonly unknown: string[];
  mismatch: string | undefined;
}

interface Position {
  /** Path such as `spec.template.labels.app` or `spec.containers[0].name`. */
  readonly path: string;
  /** Struct and field as in messages about JSON types, which omit indices and map keys. */
  readonly struct: string;
  readonly field: string;
}

export function decodeStruct(document: OpenApiDocument, schemaName: string, value: JsonObject): Decoded | Mismatch {
  const walk: StructDecoding = { schemas: document.components.schemas, unknown: [], mismatch: undefined };
  const decoded = decodeNamed(walk, schemaName, value, { path: '', struct: shortName(schemaName), field: '' });
  if (walk.mismatch !== undefined) return { mismatch: walk.mismatch };
  return { value: isObject(decoded) ? decoded : {}, unknown: walk.unknown };
}

const VERBATIM = ['.JSON', '.FieldsV1', '.RawExtension'];
const PROPS_OR = '.JSONSchemaPropsOr';

function decodeNamed(walk: StructDecoding, name: string, value: Json, at: Position): Json | undefined {
  if (VERBATIM.some((suffix) => name.endsWith(suffix))) return value;
  if (name.includes(PROPS_OR)) return decodeSchemaOr(walk, name, value, at);
  const schema = walk.schemas[name];
  if (schema === undefined) return value;
  if (schema.type === 'object') {
    const decoded = decodeObject(walk, schema, name, value, { ...at, struct: shortName(name) });
    return isObject(decoded) ? (defaulterOf(name)?.(decoded) ?? decoded) : decoded;
  }
  return decodePlace(walk, schema, name, value, at);
}

/** Decodes a field of a JSON schema whose value is a schema, a list of schemas or a boolean. */
function decodeSchemaOr(walk: StructDecoding, name: string, value: Json, at: Position): Json | undefined {
  const schemaName = name.slice(0, name.indexOf(PROPS_OR) + '.JSONSchemaProps'.length);
  if (isObject(value)) return decodeNamed(walk, schemaName, value, at);
  if (!Array.isArray(value)) return value;
  return value.map((item, index) =>
    isObject(item) ? (decodeNamed(walk, schemaName, item, { ...at, path: `${at.path}[${index}]` }) ?? null) : item,
  );
}

function decodePlace(
  walk: StructDecoding,
  schema: OpenApiSchema,
  name: string,
  value: Json,
  at: Position,
): Json | undefined {
  const target = reference(schema);
  if (target !== undefined) return decodeNamed(walk, target, value, at);
  switch (schema.type) {
    case 'object':
      return decodeObject(walk, schema, name, value, at);
    case 'array':
      return decodeList(walk, schema, value, at);
    default: {
      const scalar = decodeScalar(schema, name, value);
      if ('value' in scalar) return scalar.value;
      walk.mismatch ??= 'fault' in scalar ? scalar.fault : describeMismatch(value, at, scalar.expected);
      return undefined;
    }
  }
}

function decodeList(walk: StructDecoding, schema: OpenApiSchema, value: Json, at: Position): Json | undefined {
  if (value === null) return undefined;
  if (!Array.isArray(value)) {
    walk.mismatch ??= describeMismatch(value, at, goListType(schema));
    return undefined;
  }
  const { items } = schema;
  if (items === undefined) return value;
  return value.map((item, index) => {
    const below = { ...at, path: `${at.path}[${index}]` };
    return decodePlace(walk, items, '', item ?? zeroOf(walk.schemas, items), below) ?? null;
  });
}

function decodeObject(
  walk: StructDecoding,
  schema: OpenApiSchema,
  name: string,
  value: Json,
  at: Position,
): Json | undefined {
  if (value === null) return undefined;
  if (!isObject(value)) {
    walk.mismatch ??= describeMismatch(
      value,
      at,
      name === '' ? goMapType(schema) : `${goPackage(name)}${shortName(name)}`,
    );
    return undefined;
  }
  if (schema.properties === undefined) return decodeMap(walk, schema, value, at);
  const decoded: JsonObject = {};
  // Present keys come first, in the order of the document, which is the order of the error messages. Absent keys
  // follow.
  for (const key of new Set([...Object.keys(value), ...Object.keys(schema.properties)])) {
    const property = Object.hasOwn(schema.properties, key) ? schema.properties[key] : undefined;
    if (property === undefined) {
      walk.unknown.push(join(at.path, key));
      continue;
    }
    const field = decodeField(walk, { name, key, property }, value[key], at);
    if (field !== undefined) decoded[key] = field;
  }
  return decoded;
}

function decodeMap(walk: StructDecoding, schema: OpenApiSchema, value: JsonObject, at: Position): Json {
  const { additionalProperties: other } = schema;
  if (!isObject(other)) return value;
  const item = other as OpenApiSchema;
  const decoded: JsonObject = {};
  for (const [key, child] of Object.entries(value)) {
    const below = { ...at, path: join(at.path, key) };
    decoded[key] = decodePlace(walk, item, '', child ?? zeroOf(walk.schemas, item), below) ?? null;
  }
  return decoded;
}

interface FieldPlace {
  readonly name: string;
  readonly key: string;
  readonly property: OpenApiSchema;
}

/** Returns the stored value of the field. undefined if the field is omitted. */
function decodeField(walk: StructDecoding, place: FieldPlace, value: Json | undefined, at: Position): Json | undefined {
  const { name, key, property } = place;
  const below = { ...at, path: join(at.path, key), field: join(at.field, key) };
  const given = value === undefined || value === null ? undefined : decodePlace(walk, property, '', value, below);
  if (given === undefined) return absentField(walk, place, below);
  if (!isEmptyValue(given)) return given;
  if (isKeptEmpty(walk, place)) return given;
  return FIELD_FACTS.isWrittenAsNull(name, key) ? given : undefined;
}

function absentField(walk: StructDecoding, { name, key, property }: FieldPlace, at: Position): Json | undefined {
  if (FIELD_FACTS.isWrittenAsNull(name, key)) return null;
  if (property.default === undefined || !isEmptyValue(property.default)) return undefined;
  if (FIELD_FACTS.isLeftOut(name, key)) return undefined;
  return decodePlace(walk, property, '', property.default, at);
}

/** True if an empty field is kept. Structs are always kept, scalars only if they are pointers or always written. */
function isKeptEmpty(walk: StructDecoding, { name, key, property }: FieldPlace): boolean {
  const target = reference(property);
  const isStruct = target !== undefined && walk.schemas[target]?.type === 'object';
  if (isStruct || VERBATIM.some((suffix) => target?.endsWith(suffix)) || target?.includes(PROPS_OR)) return true;
  // An empty list removes all entries of managedFields, so trackUpdate must see it.
  if (key === 'managedFields') return true;
  if (property.type === 'array' || property.type === 'object') return false;
  if (FIELD_FACTS.isPointer(name, key)) return true;
  return property.default !== undefined && isZero(property.default) && !FIELD_FACTS.isLeftOut(name, key);
}

function isEmptyValue(value: Json): boolean {
  if (Array.isArray(value)) return value.length === 0;
  return isObject(value) ? Object.keys(value).length === 0 : isZero(value);
}

function reference(schema: OpenApiSchema): string | undefined {
  const target = schema.$ref ?? schema.allOf?.[0]?.$ref;
  return typeof target === 'string' ? target.slice(target.lastIndexOf('/') + 1) : undefined;
}

function join(path: string, key: string): string {
  return path === '' ? key : `${path}.${key}`;
}

function shortName(schemaName: string): string {
  return schemaName.slice(schemaName.lastIndexOf('.') + 1);
}

function describeMismatch(value: Json, at: Position, expected: string): string {
  const field = `${at.struct}.${at.field}`;
  const isNumber = typeof value === 'number' && expected.startsWith('int');
  const given = isNumber ? `number ${Number.isInteger(value) ? BigInt(value) : value}` : jsonType(value);
  return `json: cannot unmarshal ${given} into Go struct field ${field} of type ${expected}`;
}

function jsonType(value: Json): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}

function goListType(schema: OpenApiSchema): string {
  return `[]${schema.items === undefined ? 'interface {}' : goType(schema.items)}`;
}

function goMapType(schema: OpenApiSchema): string {
  const { additionalProperties: other } = schema;
  return `map[string]${isObject(other) ? goType(other as OpenApiSchema) : 'interface {}'}`;
}

function goType(schema: OpenApiSchema): string {
  const target = reference(schema);
  if (target !== undefined) return `${goPackage(target)}${shortName(target)}`;
  if (schema.type === 'array') return goListType(schema);
  if (schema.type === 'object') return goMapType(schema);
  return schema.format ?? schema.type ?? 'interface {}';
}

/** Returns the Go package of a schema: `v1.` for `io.k8s.api.core.v1.Container`. */
function goPackage(schemaName: string): string {
  return `${schemaName.split('.').at(-2) ?? ''}.`;
}
