// Defines fields that have another name or shape in `NEXT_VERSION`. The schema contains both forms. Code that reads a
// resource sees only the current form.

import assert from 'node:assert/strict';
import type { JsonObject } from '../json.ts';
import { type TOptional, type TProperties, type TSchema, type TString, Type } from '../json-schema.ts';
import {
  ALIAS_OF,
  DEPRECATED,
  type Deprecation,
  deprecationSentence,
  NEXT_VERSION,
  REFERENCE,
  type RuleMark,
} from './marks.ts';

/** Returns properties with the old and new name of each field. Both properties are optional. */
export function withSpellings(properties: TProperties, spellings: Readonly<Record<string, string>>): TProperties {
  const fields = Object.entries(properties).flatMap(([name, field]): [string, TSchema][] => {
    const spelling = spellings[name];
    if (spelling === undefined) return [[name, field]];
    const { default: fallback, description } = field as JsonObject;
    assert(fallback === undefined, `a spelling of ${name}, which has a default, would never be alone`);
    const other: TSchema = { ...field, description: `${description} v1alpha1 calls it ${name}.` };
    return [
      [name, supersededBy(field, spelling)],
      [spelling, spellingOf(other, name)],
    ];
  });
  return Object.fromEntries(fields);
}

/** Returns the field as optional, and as deprecated in `NEXT_VERSION`. */
export function supersededBy<T extends TSchema>(field: T, use: string): TOptional<T> {
  const deprecation: Deprecation = { use, since: NEXT_VERSION };
  const sentence = deprecationSentence(deprecation);
  const description = 'description' in field ? `${field.description} ${sentence}` : sentence;
  return Type.Optional({ ...field, description, [DEPRECATED]: deprecation } as T);
}

/** Returns the field as optional, and as another name of the field at the path `of`. */
export function spellingOf<T extends TSchema>(field: T, of: string): TOptional<T> {
  return Type.Optional({ ...field, [ALIAS_OF]: of } as T);
}

/**
 * Returns rules for a field with two names: only one name or equal values, and at least one name if the field is
 * required.
 */
export function spellingRules(properties: TProperties, name: string, spelling: string): readonly RuleMark[] {
  const isRequired = Type.Object(properties).required?.includes(name) === true;
  // CEL gives each object schema a type of its own, so a rule cannot compare two objects.
  const isObjectType = (properties[name] as JsonObject).type === 'object';
  const rules = isObjectType
    ? oneSpelling(name, spelling)
    : sameSpellings(`self.${name}`, `self.${spelling}`, [name, spelling]);
  if (!isRequired) return [rules];
  const missing = {
    rule: `has(self.${name}) || has(self.${spelling})`,
    message: `${name} is required (${NEXT_VERSION} calls it ${spelling})`,
  };
  return [missing, rules];
}

function oneSpelling(name: string, spelling: string): RuleMark {
  return {
    rule: `!has(self.${spelling}) || !has(self.${name})`,
    message: `${name} and ${spelling} are two spellings of one field: set ${spelling} only`,
  };
}

/**
 * Returns the rule that two names of a field have equal values. `names` are [old, new]. `value` is a CEL expression for
 * the value of the new field. Default: the field itself.
 */
export function sameSpellings(
  old: string,
  spelling: string,
  names: readonly [string, string],
  value = spelling,
): RuleMark {
  const [name, other] = names;
  return {
    rule: `!has(${old}) || !has(${spelling}) || ${old} == ${value}`,
    message: `${name} and ${other} are two spellings of one field and differ: set ${other} only`,
  };
}

interface Lengths {
  readonly minLength: number;
  readonly maxLength: number;
}

/** Returns a schema for a name that may also be written as `{name: ...}`. Code that reads a resource gets the name. */
export function reference(description: string, { minLength, maxLength }: Lengths): TString {
  const schema: unknown = {
    description,
    // Structural schemas have no union types, so this schema has no type. `minLength` and `maxLength` bound texts,
    // `properties` bounds objects, and the contradictory bounds below refuse all lists and numbers.
    'x-kubernetes-preserve-unknown-fields': true,
    ...{ minLength, maxLength, minItems: 1, maxItems: 0, minimum: 1, maximum: 0, not: { enum: [true, false] } },
    required: ['name'],
    properties: { name: Type.String({ description: 'The name.', minLength, maxLength }) },
    [REFERENCE]: true,
  };
  return schema as TString;
}
