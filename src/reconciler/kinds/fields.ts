// Lists the fields of a kind's schema, for documentation, for explanations and for tests that must cover every field.

import assert from 'node:assert/strict';
import { isObject, type Json, type JsonObject } from '#std/json.ts';
import {
  type Deprecation,
  deprecationOf,
  NEVER_EMPTY,
  NEW_WORDS,
  OLD_WORDS,
  REFERENCE,
  RULES,
} from '#std/schema/marks.ts';
import type { Kind } from './kind.ts';

export interface SpecField {
  /** Path such as `spec.registries[].git.branch`; keys of maps are written as `{}`. */
  readonly path: string;
  /** `string`, `integer`, `boolean`, `object`, followed by `[]` for lists and `{}` for maps. */
  readonly type: string;
  readonly description: string;
  readonly required: boolean;
  readonly default?: Json;
  readonly deprecated?: Deprecation;
  readonly limits: FieldLimits;
  /** Messages of the field's rules, including rules of items of lists and values of maps. */
  readonly rules: readonly string[];
  /** Fields of the object, of the list's items, or of the map's values. */
  readonly fields: readonly SpecField[];
  /** True if the schema describes no field below this field. */
  readonly leaf: boolean;
  readonly schema: JsonObject;
}

export interface FieldLimits {
  readonly choices: readonly string[];
  /** Old words for choices, each with its current word. */
  readonly oldWords: readonly { readonly word: string; readonly use: string }[];
  /** Sentences such as `1 to 65535`, `not empty`, `at most 64 entries`. */
  readonly sizes: readonly string[];
  /** A regular expression (RE2). */
  readonly pattern?: string;
  /** Limits of the list's items or the map's values, if they are not objects with fields. */
  readonly each?: FieldLimits;
}

/**
 * Returns the whole object as a field without a name. Only `spec` and `status` have fields: the other parts are the
 * same for every kind.
 */
export function rootField(kind: Kind): SpecField {
  const { spec, status, validations } = kind.schema;
  const required = ['apiVersion', 'kind', 'metadata', ...(hasRequired(spec) ? ['spec'] : [])];
  const schema: JsonObject = {
    type: 'object',
    description: kind.description,
    required,
    properties: {
      apiVersion: { type: 'string', description: 'Group and version of the kind.' },
      kind: { type: 'string', description: `Always ${kind.kind}.` },
      metadata: { type: 'object', description: 'Name, namespace, labels and annotations, as every object has them.' },
      spec,
      status: { ...status, description: `Written by the controller. ${status.description}` },
    },
    'x-kubernetes-validations': validations.map((rule) => ({ ...rule })),
  };
  return described(schema, '', true);
}

function hasRequired({ required, properties, [NEVER_EMPTY]: isNeeded }: JsonObject): boolean {
  if (isNeeded === true) return true;
  if (!Array.isArray(required) || !isObject(properties)) return false;
  return required.some((name) => !hasDefault(properties[String(name)]));
}

function hasDefault(schema: Json | undefined): boolean {
  return isObject(schema) && schema.default !== undefined;
}

/** Returns the fields of an object schema at every depth, parents before children. */
export function fieldsOf(schema: JsonObject, path: string): readonly SpecField[] {
  return flat(fieldsBelow(schema, path));
}

/** Returns the fields and all fields below them, parents before children. */
export function flat(fields: readonly SpecField[]): readonly SpecField[] {
  return fields.flatMap((field) => [field, ...flat(field.fields)]);
}

/** Returns the last name in the field's path, without `[]` and `{}`. */
export function lastName({ path }: SpecField): string {
  return path.slice(path.lastIndexOf('.') + 1).replaceAll(/\[\]|\{\}/g, '');
}

function fieldsBelow({ properties, required }: JsonObject, path: string): readonly SpecField[] {
  if (!isObject(properties)) return [];
  const needed = Array.isArray(required) ? required : [];
  return Object.entries(properties).flatMap(([key, field]) =>
    isObject(field) ? [described(field, path === '' ? key : `${path}.${key}`, needed.includes(key))] : [],
  );
}

function described(schema: JsonObject, path: string, required: boolean): SpecField {
  const inner = innermost(schema);
  const fields = fieldsBelow(inner.schema, `${path}${inner.suffix}`);
  const { default: fallback, description } = schema;
  const deprecated = deprecationOf(schema);
  return {
    path,
    type: `${typeOf(inner.schema)}${inner.suffix}`,
    description: typeof description === 'string' ? description : '',
    required: required && fallback === undefined,
    default: fallback,
    deprecated,
    limits: limitsOf(schema),
    rules: messagesAt(schema),
    fields,
    leaf: fields.length === 0,
    schema,
  };
}

function typeOf({ type, [REFERENCE]: isReference }: JsonObject): string {
  if (isReference === true && type === undefined) return 'string or object';
  return String(type ?? 'any');
}

/** Returns the schema of the items of a list or the values of a map. */
function heldBy({ items, additionalProperties }: JsonObject): { schema: JsonObject; suffix: string } | undefined {
  if (isObject(items)) return { schema: items, suffix: '[]' };
  return isObject(additionalProperties) ? { schema: additionalProperties, suffix: '{}' } : undefined;
}

/** Returns the schema of the innermost values of nested lists and maps. */
function innermost(schema: JsonObject): { readonly schema: JsonObject; readonly suffix: string } {
  const held = heldBy(schema);
  if (held === undefined) return { schema, suffix: '' };
  const inner = innermost(held.schema);
  return { schema: inner.schema, suffix: `${held.suffix}${inner.suffix}` };
}

function limitsOf(schema: JsonObject): FieldLimits {
  const { minimum, maximum, minLength, maxLength, minItems, maxItems, pattern, format } = schema;
  const held = heldBy(schema);
  const sizes = [
    between(minimum, maximum, ''),
    between(minLength, maxLength, ' characters'),
    between(minItems, maxItems, ' entries'),
    between(schema.minProperties, schema.maxProperties, ' entries'),
    format === 'date-time' ? 'RFC 3339' : '',
  ];
  const spellings = isObject(schema[NEW_WORDS]) ? Object.values(schema[NEW_WORDS]) : [];
  const others = Object.entries(isObject(schema[OLD_WORDS]) ? schema[OLD_WORDS] : {});
  const words = Object.fromEntries(others.filter(([word]) => !spellings.includes(word)));
  const each = held === undefined || isObject(held.schema.properties) ? undefined : limitsOf(held.schema);
  return {
    choices: (Array.isArray(schema.enum) ? schema.enum.map(String) : []).filter(
      (choice) => words[choice] === undefined,
    ),
    oldWords: Object.entries(words).map(([word, use]) => ({ word, use: String(use) })),
    sizes: schema[REFERENCE] === true ? [] : sizes.filter((size) => size !== ''),
    pattern: typeof pattern === 'string' ? pattern : undefined,
    each: each === undefined || hasNoLimits(each) ? undefined : each,
  };
}

function hasNoLimits({ choices, sizes, pattern, each }: FieldLimits): boolean {
  return choices.length === 0 && sizes.length === 0 && pattern === undefined && each === undefined;
}

function between(least: unknown, most: unknown, unit: string): string {
  if (typeof least === 'number' && typeof most === 'number') return `${least} to ${most}${unit}`;
  if (least === 1 && unit !== '') return 'not empty';
  if (typeof least === 'number') return `at least ${least}${unit}`;
  return typeof most === 'number' ? `at most ${most}${unit}` : '';
}

function messagesAt(schema: JsonObject): readonly string[] {
  const rules = [schema['x-kubernetes-validations'], schema[RULES]].flatMap((each) =>
    Array.isArray(each) ? each : [],
  );
  const here = rules.filter(isObject).map(({ message }) => {
    assert(typeof message === 'string', 'a rule has a sentence for authors');
    return message;
  });
  const held = heldBy(schema);
  return held === undefined ? here : [...here, ...messagesAt(held.schema)];
}
