// Tests that schemas and definitions that an API server would refuse are found, each with its place. In one file,
// because one function builds the schemas of all tests.

import { describe, expect, test } from 'vitest';
import type { JsonObject } from '#std/json.ts';
import { checkDefinition } from '../definition.ts';
import { checkStructural } from './check.ts';

function found(schema: JsonObject): string[] {
  return checkStructural(schema).map(({ code, pointer, message }) => `${code} ${pointer}: ${message}`);
}

/** Returns a root schema with `spec` as the schema of its field `spec`. */
function withSpec(spec: JsonObject): JsonObject {
  return { type: 'object', properties: { spec } };
}

const TEXT: JsonObject = { type: 'string' };

describe('a structural schema', () => {
  test.each<{ reason: string; schema: JsonObject }>([
    {
      reason: 'int-or-string in its two spellings',
      schema: withSpec({
        type: 'object',
        properties: {
          a: { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] },
          b: {
            'x-kubernetes-int-or-string': true,
            allOf: [{ anyOf: [{ type: 'integer' }, { type: 'string' }] }, { pattern: '^a' }],
          },
        },
      }),
    },
    {
      reason: 'a list with keys',
      schema: withSpec({
        type: 'array',
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['a', 'b'],
        items: { type: 'object', required: ['a'], properties: { a: TEXT, b: { type: 'string', default: 'x' } } },
      }),
    },
    {
      reason: 'alternatives that restrict',
      schema: withSpec({
        type: 'object',
        properties: { a: TEXT },
        anyOf: [{ required: ['a'] }, { properties: { a: { minLength: 1 } } }],
      }),
    },
    {
      reason: 'names restricted in the metadata',
      schema: {
        type: 'object',
        properties: { metadata: { type: 'object', properties: { name: { type: 'string', maxLength: 10 } } } },
      },
    },
  ])('takes $reason', ({ schema }) => {
    expect(found(schema)).toEqual([]);
  });
});

describe('an API server would refuse', () => {
  test.each<{ reason: string; schema: JsonObject; says: string }>([
    {
      reason: 'a root that is not an object',
      schema: TEXT,
      says: 'schema-not-structural /type: type must be object at the root.',
    },
    {
      reason: 'a nullable root',
      schema: { type: 'object', nullable: true },
      says: 'schema-not-structural /nullable: nullable must not be true at the root.',
    },
    {
      reason: 'a field without type',
      schema: withSpec({}),
      says: 'schema-not-structural /properties/spec/type: properties.spec.type must be given for every field.',
    },
    {
      reason: 'a type that does not exist',
      schema: withSpec({ type: 'text' }),
      says: 'schema-not-structural /properties/spec/type: properties.spec.type must be one of array, boolean, integer, number, object, string.',
    },
    {
      reason: 'a list without items',
      schema: withSpec({ type: 'array' }),
      says: 'schema-not-structural /properties/spec/items: properties.spec.items must be given for a list.',
    },
    {
      reason: 'a word that does not exist',
      schema: withSpec({ type: 'string', const: 'x' }),
      says: 'schema-unknown-field /properties/spec/const: A structural schema has no word "const".',
    },
    {
      reason: 'a slip in a word',
      schema: withSpec({ type: 'string', patern: 'x' }),
      says: 'schema-unknown-field /properties/spec/patern: A structural schema has no word "patern". Did you mean "pattern"?',
    },
    {
      reason: 'a word of the wrong type',
      schema: withSpec({ type: 'string', maxLength: '5' }),
      says: 'schema-type /properties/spec/maxLength: properties.spec.maxLength must be a number, not a string.',
    },
    {
      reason: 'a reference',
      schema: withSpec({ type: 'object', $ref: '#/x' }),
      says: 'schema-not-structural /properties/spec/$ref: properties.spec.$ref is not supported.',
    },
    {
      reason: 'unique items',
      schema: withSpec({ type: 'array', items: TEXT, uniqueItems: true }),
      says: 'schema-not-structural /properties/spec/uniqueItems: properties.spec.uniqueItems must not be true; use a list of type set.',
    },
    {
      reason: 'a pattern of another dialect',
      schema: withSpec({ type: 'string', pattern: '(?=x)' }),
      says: 'schema-not-structural /properties/spec/pattern: properties.spec.pattern must be a regular expression of RE2: invalid or unsupported Perl syntax: `(?=`.',
    },
    {
      reason: 'properties next to additionalProperties',
      schema: withSpec({ type: 'object', properties: { a: TEXT }, additionalProperties: TEXT }),
      says: 'schema-not-structural /properties/spec/additionalProperties: properties.spec.additionalProperties must not stand next to properties.',
    },
    {
      reason: 'a type inside of an alternative',
      schema: withSpec({ type: 'object', anyOf: [{ type: 'object' }] }),
      says: 'schema-not-structural /properties/spec/anyOf/0/type: properties.spec.anyOf[0].type must be outside alternatives.',
    },
    {
      reason: 'an alternative about a field that the root does not have',
      schema: { type: 'object', anyOf: [{ properties: { zzz: { minLength: 1 } } }] },
      says: 'schema-not-structural /anyOf/0/properties/zzz: anyOf[0].properties.zzz is a field that the schema itself does not have.',
    },
    {
      reason: 'more than names in the metadata',
      schema: { type: 'object', properties: { metadata: { type: 'object', description: 'x' } } },
      says: 'schema-not-structural /properties/metadata: properties.metadata may restrict only name and generateName: all other fields are the same for every kind.',
    },
    {
      reason: 'a default that does not fit',
      schema: withSpec({ type: 'integer', default: 'x' }),
      says: 'schema-not-structural /properties/spec/default: properties.spec.default is not a valid default: properties.spec.default must be an integer, not a string.',
    },
    {
      reason: 'a default with unknown fields',
      schema: withSpec({ type: 'object', default: { a: 1 } }),
      says: 'schema-not-structural /properties/spec/default: properties.spec.default is not a valid default: properties.spec.default has no field "a", so the API server would drop it.',
    },
    {
      reason: 'a default that its own rule refuses',
      schema: withSpec({
        type: 'integer',
        default: 0,
        'x-kubernetes-validations': [{ rule: 'self > 0', message: 'must be positive' }],
      }),
      says: 'schema-not-structural /properties/spec/default: properties.spec.default is not a valid default: properties.spec.default: must be positive',
    },
    {
      reason: 'keys that are not fields',
      schema: withSpec({
        type: 'array',
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['b'],
        items: { type: 'object', properties: { a: TEXT } },
      }),
      says: 'schema-not-structural /properties/spec/x-kubernetes-list-map-keys: properties.spec.x-kubernetes-list-map-keys must name fields of the entries.',
    },
    {
      reason: 'keys that may be absent',
      schema: withSpec({
        type: 'array',
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['a'],
        items: { type: 'object', properties: { a: TEXT } },
      }),
      says: 'schema-not-structural /properties/spec/items/properties/a/default: properties.spec.items.properties.a.default must be set, or the field required, because it is a key.',
    },
    {
      reason: 'a set of objects that merge',
      schema: withSpec({
        type: 'array',
        'x-kubernetes-list-type': 'set',
        items: { type: 'object', properties: { a: TEXT } },
      }),
      says: 'schema-not-structural /properties/spec/items/x-kubernetes-map-type: properties.spec.items.x-kubernetes-map-type must be atomic for entries of a set.',
    },
    {
      reason: 'a rule that does not compile',
      schema: withSpec({ type: 'integer', 'x-kubernetes-validations': [{ rule: 'self.size() > 0' }] }),
      says: "cel-compile /properties/spec/x-kubernetes-validations/0/rule: properties.spec.x-kubernetes-validations[0].rule does not compile: found no matching overload for 'int.size()'",
    },
    {
      reason: 'a rule that is not a condition',
      schema: withSpec({ type: 'integer', 'x-kubernetes-validations': [{ rule: 'self + 1' }] }),
      says: 'cel-compile /properties/spec/x-kubernetes-validations/0/rule: properties.spec.x-kubernetes-validations[0].rule does not compile: must evaluate to a bool, not to int',
    },
    {
      reason: 'a message that is not a text',
      schema: withSpec({ type: 'integer', 'x-kubernetes-validations': [{ rule: 'true', messageExpression: 'self' }] }),
      says: 'cel-compile /properties/spec/x-kubernetes-validations/0/messageExpression: properties.spec.x-kubernetes-validations[0].messageExpression does not compile: must evaluate to a string, not to int',
    },
    {
      reason: 'a path that leads nowhere',
      schema: withSpec({
        type: 'object',
        properties: { a: TEXT },
        'x-kubernetes-validations': [{ rule: 'true', fieldPath: '.b' }],
      }),
      says: 'schema-not-structural /properties/spec/x-kubernetes-validations/0/fieldPath: properties.spec.x-kubernetes-validations[0].fieldPath must be a path to a field of this schema, such as .spec.name.',
    },
    {
      reason: 'an unknown reason',
      schema: withSpec({ type: 'integer', 'x-kubernetes-validations': [{ rule: 'true', reason: 'Nope' }] }),
      says: 'schema-not-structural /properties/spec/x-kubernetes-validations/0/reason: properties.spec.x-kubernetes-validations[0].reason must be one of FieldValueRequired, FieldValueForbidden, FieldValueInvalid, FieldValueDuplicate.',
    },
    {
      reason: 'oldSelf if entries cannot be matched with their earlier state',
      schema: withSpec({
        type: 'array',
        items: { type: 'integer', 'x-kubernetes-validations': [{ rule: 'self == oldSelf' }] },
      }),
      says: 'schema-not-structural /properties/spec/items/x-kubernetes-validations/0/rule: properties.spec.items.x-kubernetes-validations[0].rule must not use oldSelf: entries of properties.spec cannot be matched with their earlier state.',
    },
    {
      reason: 'optionalOldSelf without oldSelf',
      schema: withSpec({ type: 'integer', 'x-kubernetes-validations': [{ rule: 'true', optionalOldSelf: true }] }),
      says: 'schema-not-structural /properties/spec/x-kubernetes-validations/0/optionalOldSelf: properties.spec.x-kubernetes-validations[0].optionalOldSelf may be set only if the rule uses oldSelf.',
    },
  ])('$reason', ({ schema, says }) => {
    expect(found(schema)).toEqual([says]);
  });
});

describe('a definition', () => {
  const VERSION = { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } };
  const DEFINITION = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'things.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { kind: 'Thing', plural: 'things' },
      versions: [VERSION],
    },
  };

  test.each<{ reason: string; spec: JsonObject; at: string[] }>([
    { reason: 'nothing is wrong', spec: {}, at: [] },
    { reason: 'the name does not match', spec: { group: 'other.com' }, at: ['/metadata/name'] },
    { reason: 'the group is not a domain', spec: { group: 'example' }, at: ['/spec/group', '/metadata/name'] },
    { reason: 'the scope is none', spec: { scope: 'Global' }, at: ['/spec/scope'] },
    { reason: 'no version is stored', spec: { versions: [{ ...VERSION, storage: false }] }, at: ['/spec/versions'] },
    {
      reason: 'a version has no schema',
      spec: { versions: [{ name: 'v1', served: true, storage: true }] },
      at: ['/spec/versions/0/schema/openAPIV3Schema'],
    },
    {
      reason: 'a schema is not structural',
      spec: { versions: [{ ...VERSION, schema: { openAPIV3Schema: withSpec({}) } }] },
      at: ['/spec/versions/0/schema/openAPIV3Schema/properties/spec/type'],
    },
    {
      reason: 'the root has a restriction that a status cannot have',
      spec: {
        versions: [
          {
            ...VERSION,
            subresources: { status: {} },
            schema: { openAPIV3Schema: { type: 'object', maxProperties: 3 } },
          },
        ],
      },
      at: ['/spec/versions/0/schema/openAPIV3Schema/maxProperties'],
    },
  ])('has a finding with its place if $reason', ({ spec, at }) => {
    const findings = checkDefinition({ ...DEFINITION, spec: { ...DEFINITION.spec, ...spec } });
    expect(findings.map(({ pointer }) => pointer)).toEqual(at);
  });
});
