// Compares the reported schema faults with Ajv, which the official client uses.

import { Ajv } from 'ajv';
import { expect, test } from 'vitest';
import type { JsonObject } from '#std/json.ts';
import { findSchemaFault } from './schema-faults.ts';

const within = (n: JsonObject, more: JsonObject = {}): JsonObject => ({ type: 'object', properties: { n }, ...more });

function compiles(schema: JsonObject): boolean {
  try {
    new Ajv({ strict: false, validateFormats: false, validateSchema: false, allErrors: true, logger: false }).compile(
      schema,
    );
    return true;
  } catch {
    return false;
  }
}

const FAULTS: readonly (readonly [JsonObject, string])[] = [
  [within({ type: 'int' }), '/properties/n/type must be equal to one of the allowed values'],
  [within({ type: 'object', required: true }), '/properties/n/required must be array'],
  [within({ type: 'number', exclusiveMinimum: true }), '/properties/n/exclusiveMinimum must be number'],
  [within({ $ref: '#/$defs/Missing' }), '/properties/n/$ref leads nowhere in the schema'],
  [within({ $ref: '#missing' }), '/properties/n/$ref leads nowhere in the schema'],
  [within({ $ref: 'https://example.com/schema.json' }), '/properties/n/$ref leads nowhere in the schema'],
  [within({ $ref: '#/properties/n' }), '/properties/n/$ref leads back to itself'],
  [
    within({ $ref: '#/$defs/a' }, { $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } } }),
    '/$defs/a/$ref leads back to itself',
  ],
  [within({ type: 'string', pattern: '(?<!' }), '/properties/n has a pattern that is not a regular expression'],
  [within({ type: 'string', pattern: '\\-' }), '/properties/n has a pattern that is not a regular expression'],
  [
    within({ patternProperties: { '[': { type: 'string' } } }),
    '/properties/n has a pattern that is not a regular expression',
  ],
  [within({ anyOf: [{ type: 'string' }], nullable: true }), '/properties/n/nullable needs a type next to it'],
  [within({ enum: [] }), '/properties/n/enum must not be empty'],
  [within({ id: 'http://example.com/n' }), '/properties/n/id is not a keyword: the name is $id'],
  [
    within({ $ref: '#/$defs/a' }, { $defs: { a: { items: { type: 'list' } } } }),
    '/$defs/a/items/type must be equal to one of the allowed values',
  ],
];

test.each(FAULTS)('%j is found', (schema, fault) => {
  expect(findSchemaFault(schema)).toBe(fault);
  expect(compiles(schema)).toBe(false);
});

test.each<JsonObject>([
  within({ type: ['string', 'null'], description: 'x', format: 'unknown' }),
  within({ $ref: '#/$defs/a~1b' }, { $defs: { 'a/b': { $anchor: 'here', type: 'string' } } }),
  within({ type: 'object', properties: { n: { $ref: '#/properties/n' } } }),
  within({ $ref: '#/$defs/a' }, { $defs: { a: { $ref: '#/$defs/b' }, b: { items: { $ref: '#/$defs/a' } } } }),
  within({ $ref: '#here' }, { $defs: { a: { $anchor: 'here', type: 'string' } } }),
  within({ type: 'array', items: { $ref: '#' } }),
  within({ type: 'string', nullable: true }),
  within({ type: 'string', pattern: '^\\p{L}+$' }),
  within({ properties: { id: { type: 'string' }, enum: { type: 'array' } } }),
  within({ const: null, default: null }, { 'x-own': { type: 'int' } }),
  within({ type: 'array', items: [{ type: 'string' }] }, { $schema: 'http://json-schema.org/draft-07/schema#' }),
  within({ type: 'array', items: [{ type: 'string' }] }, { $schema: 'https://json-schema.org/draft/2019-09/schema' }),
])('finds no fault in %j', (schema) => {
  expect(findSchemaFault(schema)).toBeUndefined();
  expect(compiles(schema)).toBe(true);
});

/** Returns the spent milliseconds of processor time. */
function spend(schema: JsonObject): number {
  const before = process.cpuUsage();
  findSchemaFault(schema);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

test.each<[string, (count: number) => JsonObject]>([
  [
    'references into a large mapping',
    (count) => ({ properties: many(count, (at) => ({ $ref: `#/properties/p${count - 1 - at}` })) }),
  ],
  [
    'references to anchors',
    (count) => ({ properties: many(count, () => ({ $ref: '#a' })), $defs: many(count, () => ({})), $anchor: 'a' }),
  ],
  ['lists of names', (count) => ({ required: Object.keys(many(count, () => ({}))) })],
  ['a list of types', (count) => ({ type: Object.keys(many(count, () => ({}))) })],
  ['patterns', (count) => ({ properties: many(count, () => ({ pattern: '(a{1,1000}){1,1000}' })) })],
])('takes linear time: %s', (_what, make) => {
  findSchemaFault(make(10));
  const small = make(4000);
  const large = make(32_000);
  // Quadratic time would be 64 times as long.
  expect(spend(large)).toBeLessThan(Math.max(spend(small), 10) * 32);
});

function many(count: number, value: (at: number) => JsonObject): JsonObject {
  return Object.fromEntries(Array.from({ length: count }, (_, at) => [`p${at}`, value(at)]));
}
