// Checks the keywords of a structural schema and the JSON types of their values. Source: apiextensions.k8s.io/v1,
// JSONSchemaProps.

import { didYouMean } from '#std/closest.ts';
import { isObject, type Json, type JsonObject, pointerToken } from '#std/json.ts';
import { compileRe2 } from '#std/patterns/re2.ts';
import { forbid, type Report, report, wrongType } from './report.ts';

type Shape = 'text' | 'texts' | 'number' | 'flag' | 'mapping' | 'list' | 'any' | 'schema or flag';

const WORDS: Readonly<Record<string, Shape>> = {
  $ref: 'text',
  $schema: 'text',
  additionalItems: 'any',
  additionalProperties: 'schema or flag',
  allOf: 'list',
  anyOf: 'list',
  default: 'any',
  definitions: 'mapping',
  dependencies: 'mapping',
  description: 'text',
  enum: 'list',
  example: 'any',
  exclusiveMaximum: 'flag',
  exclusiveMinimum: 'flag',
  externalDocs: 'mapping',
  format: 'text',
  id: 'text',
  items: 'any',
  maxItems: 'number',
  maxLength: 'number',
  maxProperties: 'number',
  maximum: 'number',
  minItems: 'number',
  minLength: 'number',
  minProperties: 'number',
  minimum: 'number',
  multipleOf: 'number',
  not: 'mapping',
  nullable: 'flag',
  oneOf: 'list',
  pattern: 'text',
  patternProperties: 'mapping',
  properties: 'mapping',
  required: 'texts',
  title: 'text',
  type: 'text',
  uniqueItems: 'flag',
  'x-kubernetes-embedded-resource': 'flag',
  'x-kubernetes-int-or-string': 'flag',
  'x-kubernetes-list-map-keys': 'texts',
  'x-kubernetes-list-type': 'text',
  'x-kubernetes-map-type': 'text',
  'x-kubernetes-preserve-unknown-fields': 'flag',
  'x-kubernetes-validations': 'list',
};

const NAMES: Readonly<Record<Shape, string>> = {
  text: 'a string',
  texts: 'a list of strings',
  number: 'a number',
  flag: 'true or false',
  mapping: 'a mapping',
  list: 'a list',
  any: 'a value',
  'schema or flag': 'a schema, or true or false',
};

/** Checks the keywords of one schema, not of the schemas inside it. */
export function checkWords(out: Report, schema: JsonObject, pointer: string): void {
  for (const [word, value] of Object.entries(schema)) {
    if (value === undefined) continue;
    const at = `${pointer}/${pointerToken(word)}`;
    const shape = Object.hasOwn(WORDS, word) ? WORDS[word] : undefined;
    if (shape === undefined) {
      const message = `A structural schema has no word "${word}".${didYouMean(word, Object.keys(WORDS))}`;
      out.findings.push({ code: 'schema-unknown-field', severity: 'error', pointer: at, at: 'key', message });
    } else if (value !== null && !hasShape(shape, value)) {
      report(out, 'schema-type', at, wrongType(NAMES[shape], value));
    }
  }
}

const UNSUPPORTED = ['id', 'additionalItems', 'patternProperties', 'definitions', 'dependencies', '$ref'];

/** Reports keywords of JSON Schema that an API server does not accept. */
export function checkUnsupported(out: Report, schema: JsonObject, pointer: string): void {
  for (const word of UNSUPPORTED) {
    if (schema[word] !== undefined) forbid(out, `${pointer}/${pointerToken(word)}`, 'is not supported.');
  }
  if (schema.uniqueItems === true) forbid(out, `${pointer}/uniqueItems`, 'must not be true; use a list of type set.');
  if (schema['x-kubernetes-preserve-unknown-fields'] === false) {
    forbid(out, `${pointer}/x-kubernetes-preserve-unknown-fields`, 'must be true or absent.');
  }
}

export function checkPattern(out: Report, pattern: Json | undefined, pointer: string): void {
  if (typeof pattern !== 'string') return;
  const compiled = compileRe2(pattern);
  if (!compiled.ok) forbid(out, pointer, `must be a regular expression of RE2: ${compiled.reason}.`);
}

function hasShape(shape: Shape, value: Json): boolean {
  switch (shape) {
    case 'text':
      return typeof value === 'string';
    case 'number':
      return typeof value === 'number';
    case 'flag':
      return typeof value === 'boolean';
    case 'mapping':
      return isObject(value);
    case 'list':
      return Array.isArray(value);
    case 'texts':
      return Array.isArray(value) && value.every((item) => typeof item === 'string');
    case 'schema or flag':
      return isObject(value) || typeof value === 'boolean';
    case 'any':
      return true;
  }
}
