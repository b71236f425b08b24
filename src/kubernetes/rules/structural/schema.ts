// Parses a CRD's schema into the form that checks, defaulting and pruning walk over.

import { isObject, type Json, type JsonObject, pointerToken, textsIn } from '#std/json.ts';
import { compileRe2, type Re2 } from '#std/patterns/re2.ts';
import { type FormatCheck, formatCheck } from './formats.ts';

export type SchemaType = 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean';

/** An `x-kubernetes-validations` entry, as in the schema. */
export interface RuleText {
  readonly rule: string;
  readonly message?: string;
  readonly messageExpression?: string;
  readonly reason?: string;
  readonly fieldPath?: string;
  readonly optionalOldSelf?: boolean;
}

/** The restrictions on one value. An absent part does not restrict the value. */
export interface SchemaNode {
  readonly type?: SchemaType;
  readonly format?: string;
  readonly nullable: boolean;
  readonly intOrString: boolean;
  readonly preserve: boolean;
  readonly embedded: boolean;
  readonly default?: Json;
  readonly properties: ReadonlyMap<string, SchemaNode>;
  readonly withDefault: readonly (readonly [string, SchemaNode])[];
  /** The schema of the values of a map. `any` if the map allows values of any type. */
  readonly additional?: SchemaNode | 'any';
  readonly items?: SchemaNode;
  readonly listType: 'atomic' | 'set' | 'map';
  readonly listKeys: readonly string[];
  readonly mapAtomic: boolean;
  readonly rules: readonly RuleText[];
  readonly checks: Checks;
  /** Escaped pointer segment of the property, `/name`, so that walks need not escape it again. */
  readonly step?: string;
  /** True if rules occur at this node or below it, or if embedded objects occur below it. Walks skip other nodes. */
  readonly deep: { readonly rules: boolean; readonly embedded: boolean };
}

/** A pattern, compiled on first use because few of a schema's patterns are used. */
interface Pattern {
  readonly source: string;
  readonly compiled: () => Re2;
}

/** JSON Schema's value validations that structural schemas allow. */
export interface Checks {
  readonly required: readonly string[];
  readonly enum?: readonly Json[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum: boolean;
  readonly exclusiveMaximum: boolean;
  readonly multipleOf?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly pattern?: Pattern;
  readonly formatCheck?: FormatCheck;
  /** A format that limits numbers: `int32`, `float`. */
  readonly numberFormat?: string;
  readonly allOf: readonly SchemaNode[];
  readonly anyOf: readonly SchemaNode[];
  readonly oneOf: readonly SchemaNode[];
  readonly not?: SchemaNode;
}

const TYPES: ReadonlySet<string> = new Set<SchemaType>(['object', 'array', 'string', 'integer', 'number', 'boolean']);

/** Parses a schema. Skips keywords of the wrong JSON type, which `checkStructural` reports. */
export function readSchema(schema: JsonObject): SchemaNode {
  const properties = new Map(
    Object.entries(object(schema.properties) ?? {}).map(([name, field]) => [
      name,
      { ...readSchema(object(field) ?? {}), step: `/${pointerToken(name)}` },
    ]),
  );
  const additional = readAdditional(schema.additionalProperties);
  const items = object(schema.items);
  const rules = itemsOf(schema['x-kubernetes-validations']).flatMap(readRule);
  const inner = items === undefined ? undefined : readSchema(items);
  const type = textIfGiven(schema.type);
  const listType = textIfGiven(schema['x-kubernetes-list-type']);
  const below = [...properties.values(), ...(inner === undefined ? [] : [inner]), ...nodes(additional)];
  return {
    type: type !== undefined && isType(type) ? type : undefined,
    format: typeof schema.format === 'string' ? schema.format : undefined,
    nullable: schema.nullable === true,
    intOrString: schema['x-kubernetes-int-or-string'] === true,
    preserve: schema['x-kubernetes-preserve-unknown-fields'] === true,
    embedded: schema['x-kubernetes-embedded-resource'] === true,
    default: schema.default ?? undefined,
    properties,
    withDefault: [...properties].filter(([, field]) => field.default !== undefined),
    additional,
    items: inner,
    listType: listType === 'set' || listType === 'map' ? listType : 'atomic',
    listKeys: textsIn(schema['x-kubernetes-list-map-keys']),
    mapAtomic: schema['x-kubernetes-map-type'] === 'atomic',
    rules,
    checks: readChecks(schema),
    deep: {
      rules: rules.length > 0 || below.some((node) => node.deep.rules),
      embedded: below.some((node) => node.embedded || node.deep.embedded),
    },
  };
}

/** Returns the pointer of a field of the object at `pointer`. `field` is the field's schema. */
export function pointerOf(pointer: string, name: string, field: SchemaNode | undefined): string {
  return pointer + (field?.step ?? `/${pointerToken(name)}`);
}

function isType(type: string): type is SchemaType {
  return TYPES.has(type);
}

function nodes(additional: SchemaNode | 'any' | undefined): SchemaNode[] {
  return additional === undefined || additional === 'any' ? [] : [additional];
}

function readAdditional(value: Json | undefined): SchemaNode | 'any' | undefined {
  if (value === true) return 'any';
  return isObject(value) ? readSchema(value) : undefined;
}

function readRule(value: Json): RuleText[] {
  if (!isObject(value)) return [];
  const { rule, message, messageExpression, reason, fieldPath, optionalOldSelf } = value;
  if (typeof rule !== 'string' || rule.trim() === '') return [];
  return [
    {
      rule,
      message: typeof message === 'string' ? message : undefined,
      messageExpression: typeof messageExpression === 'string' ? messageExpression : undefined,
      reason: typeof reason === 'string' ? reason : undefined,
      fieldPath: typeof fieldPath === 'string' ? fieldPath : undefined,
      optionalOldSelf: optionalOldSelf === true ? optionalOldSelf : undefined,
    },
  ];
}

function readChecks(schema: JsonObject): Checks {
  const pattern = textIfGiven(schema.pattern);
  const format = textIfGiven(schema.format);
  const check = format === undefined ? undefined : formatCheck(textIfGiven(schema.type), format);
  const not = object(schema.not);
  return {
    required: textsIn(schema.required),
    enum: Array.isArray(schema.enum) ? schema.enum : undefined,
    ...numbers(schema),
    exclusiveMinimum: schema.exclusiveMinimum === true,
    exclusiveMaximum: schema.exclusiveMaximum === true,
    pattern: pattern === undefined || pattern === '' ? undefined : patternOf(pattern),
    formatCheck: check,
    numberFormat: format !== undefined && (schema.type === 'integer' || schema.type === 'number') ? format : undefined,
    allOf: parts(schema.allOf),
    anyOf: parts(schema.anyOf),
    oneOf: parts(schema.oneOf),
    not: not && readSchema(not),
  };
}

function patternOf(source: string): Pattern {
  let compiled: Re2 | undefined;
  return { source, compiled: () => (compiled ??= compileRe2(source)) };
}

const NUMBERS = [
  'minimum',
  'maximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'minProperties',
  'maxProperties',
] as const;

function numbers(schema: JsonObject): Partial<Record<(typeof NUMBERS)[number], number>> {
  const read: Partial<Record<(typeof NUMBERS)[number], number>> = {};
  for (const word of NUMBERS) {
    const value = schema[word];
    if (typeof value === 'number') read[word] = value;
  }
  return read;
}

function parts(value: Json | undefined): SchemaNode[] {
  return itemsOf(value).flatMap((part) => (isObject(part) ? [readSchema(part)] : []));
}

function object(value: Json | undefined): JsonObject | undefined {
  return isObject(value) ? value : undefined;
}

function textIfGiven(value: Json | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function itemsOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}
