// Tests defaults, unknown fields, values, rules and updates by structural schemas. In one file, because each test
// compiles a schema of one `spec` and applies it to the same kind of object.

import { describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '#std/json.ts';
import { describePattern } from '#std/schema/pattern-meanings.ts';
import { compileStructural, type Structural } from './structural.ts';

const META = { apiVersion: 'example.com/v1', kind: 'Thing', metadata: { name: 'x' } };

function schemaOf(spec: JsonObject): JsonObject {
  return { type: 'object', properties: { spec } };
}

/** Returns the findings for an object whose spec is `value`. `spec` is the schema of the spec. */
function check(spec: JsonObject, value: Json, old?: Json): string[] {
  const structural = compileStructural(schemaOf(spec));
  const before = old === undefined ? undefined : structural.withDefaults({ ...META, spec: old });
  return structural
    .validate(structural.withDefaults({ ...META, spec: value }), before)
    .map(({ code, severity, pointer, message }) => `${severity} ${code} ${pointer}: ${message}`);
}

function defaulted(spec: JsonObject, value: Json | undefined): Json | undefined {
  return compileStructural(schemaOf(spec)).withDefaults(value === undefined ? META : { ...META, spec: value }).spec;
}

describe('defaults', () => {
  const NESTED: JsonObject = {
    type: 'object',
    properties: {
      a: { type: 'integer', default: 7 },
      inner: { type: 'object', properties: { b: { type: 'string', default: 'deep' } } },
      full: { type: 'object', default: {}, properties: { c: { type: 'boolean', default: false } } },
    },
  };

  test.each([
    { value: undefined, result: undefined, reason: 'a parent that is absent gets nothing' },
    { value: {}, result: { a: 7, full: { c: false } }, reason: 'a default of an object itself gets defaults' },
    {
      value: { inner: {} },
      result: { a: 7, inner: { b: 'deep' }, full: { c: false } },
      reason: 'an existing parent is filled in',
    },
    {
      value: { a: 0, full: { c: true } },
      result: { a: 0, full: { c: true } },
      reason: 'written values stay as they are',
    },
    { value: { a: null }, result: { a: 7, full: { c: false } }, reason: 'a null that is not allowed is replaced' },
    { value: { inner: null }, result: { a: 7, full: { c: false } }, reason: 'a null without default is dropped' },
  ])('$value becomes $result: $reason', ({ value, result }) => {
    expect(defaulted(NESTED, value)).toEqual(result);
  });

  test('a null of a nullable field is kept', () => {
    expect(
      defaulted({ type: 'object', properties: { n: { type: 'string', nullable: true, default: 'x' } } }, { n: null }),
    ).toEqual({
      n: null,
    });
  });

  test('entries of lists and maps get defaults', () => {
    const entry: JsonObject = { type: 'object', properties: { x: { type: 'string', default: 'd' } } };
    const spec: JsonObject = {
      type: 'object',
      properties: { list: { type: 'array', items: entry }, map: { type: 'object', additionalProperties: entry } },
    };
    expect(defaulted(spec, { list: [{}], map: { k: {} } })).toEqual({ list: [{ x: 'd' }], map: { k: { x: 'd' } } });
  });

  test('the argument is not changed', () => {
    const object = { ...META, spec: { inner: {} } };
    compileStructural(schemaOf(NESTED)).withDefaults(object);
    expect(object).toEqual({ ...META, spec: { inner: {} } });
  });
});

describe('unknown fields', () => {
  const SPEC: JsonObject = {
    type: 'object',
    properties: {
      image: { type: 'string' },
      open: {
        type: 'object',
        'x-kubernetes-preserve-unknown-fields': true,
        properties: { known: { type: 'object', properties: { a: { type: 'string' } } } },
      },
      env: { type: 'array', items: { type: 'object', properties: { name: { type: 'string' } } } },
      labels: { type: 'object', additionalProperties: { type: 'object', properties: { v: { type: 'string' } } } },
      embedded: {
        type: 'object',
        'x-kubernetes-embedded-resource': true,
        properties: { spec: { type: 'object', properties: { a: { type: 'string' } } } },
      },
    },
  };

  function unknown(object: JsonObject): string[] {
    return compileStructural(schemaOf(SPEC))
      .unknownFields(object)
      .map(({ pointer, message, at }) => `${pointer} (${at}): ${message}`);
  }

  test.each([
    {
      spec: { imgae: 'x' },
      found: ['/spec/imgae (key): spec has no field "imgae", so the API server would drop it. Did you mean "image"?'],
      reason: 'a typing error is reported with the likely name',
    },
    {
      spec: { env: [{ name: 'a', vale: 1 }] },
      found: ['/spec/env/0/vale (key): spec.env[0] has no field "vale", so the API server would drop it.'],
      reason: 'inside of lists',
    },
    {
      spec: { labels: { a: { v: 'x', w: 1 } } },
      found: ['/spec/labels/a/w (key): spec.labels.a has no field "w", so the API server would drop it.'],
      reason: 'inside of maps, whose keys are free',
    },
    { spec: { open: { anything: { at: 'all' } } }, found: [], reason: 'some objects keep unknown fields' },
    {
      spec: { open: { known: { b: 1 } } },
      found: ['/spec/open/known/b (key): spec.open.known has no field "b", so the API server would drop it.'],
      reason: 'but not inside of their known fields',
    },
    { spec: { embedded: { apiVersion: 'v1', kind: 'X', metadata: {} } }, found: [], reason: 'resources have metadata' },
  ])('$reason', ({ spec, found }) => {
    expect(unknown({ ...META, spec })).toEqual(found);
  });

  test('of the object itself are found, but its metadata is not checked', () => {
    expect(unknown({ ...META, data: 1 })).toEqual([
      '/data (key): this kind has no field "data", so the API server would drop it.',
    ]);
  });

  test('are removed by prune', () => {
    const object = { ...META, spec: { image: 'x', imgae: 'y', open: { z: 1, known: { a: 'x', b: 1 } } }, data: 1 };
    expect(compileStructural(schemaOf(SPEC)).prune(object)).toEqual({
      ...META,
      spec: { image: 'x', open: { z: 1, known: { a: 'x' } } },
    });
  });
});

describe('values', () => {
  const field = (schema: JsonObject): JsonObject => ({ type: 'object', properties: { f: schema } });

  test.each<{ schema: JsonObject; value: Json; found: string | undefined; reason: string }>([
    { schema: { type: 'string' }, value: 'x', found: undefined, reason: 'the right type' },
    {
      schema: { type: 'string' },
      value: 5,
      found: 'schema-type /spec/f: spec.f must be a string, not an integer: put it in quotes.',
      reason: 'YAML reads a bare number as one',
    },
    {
      schema: { type: 'integer' },
      value: 1.5,
      found: 'schema-type /spec/f: spec.f must be an integer, not a number with a fraction.',
      reason: 'no fraction',
    },
    { schema: { type: 'number' }, value: 1, found: undefined, reason: 'an integer is a number' },
    {
      schema: { type: 'array', items: { type: 'string' } },
      value: {},
      found: 'schema-type /spec/f: spec.f must be a list, not a mapping.',
      reason: 'a list',
    },
    { schema: { 'x-kubernetes-int-or-string': true }, value: '50%', found: undefined, reason: 'either' },
    {
      schema: { 'x-kubernetes-int-or-string': true },
      value: 1.5,
      found: 'schema-type /spec/f: spec.f must be an integer or a string, not a number with a fraction.',
      reason: 'neither',
    },
    {
      schema: { type: 'integer', format: 'int32' },
      value: 3_000_000_000,
      found: 'schema-range /spec/f: spec.f must fit in 32 bits.',
      reason: 'the format bounds it',
    },
    {
      schema: { type: 'string', enum: ['stdio', 'sse'] },
      value: 'stdoi',
      found: 'schema-enum /spec/f: spec.f must be one of "stdio", "sse". Did you mean "stdio"?',
      reason: 'enum with a suggestion',
    },
    {
      schema: { type: 'string', enum: ['stdio', 'sse'] },
      value: 'http',
      found: 'schema-enum /spec/f: spec.f must be one of "stdio", "sse".',
      reason: 'enum without',
    },
    {
      schema: { type: 'string', nullable: true, enum: ['a'] },
      value: null,
      found: 'schema-enum /spec/f: spec.f must be one of "a".',
      reason: 'null is one of the values or none',
    },
    {
      schema: { type: 'integer', minimum: 0, maximum: 9 },
      value: 10,
      found: 'schema-range /spec/f: spec.f must be at most 9.',
      reason: 'bounds',
    },
    {
      schema: { type: 'number', minimum: 0, exclusiveMinimum: true },
      value: 0,
      found: 'schema-range /spec/f: spec.f must be above 0.',
      reason: 'bounds that exclude themselves',
    },
    { schema: { type: 'number', multipleOf: 0.1 }, value: 0.3, found: undefined, reason: 'multiples of fractions' },
    {
      schema: { type: 'string', minLength: 1 },
      value: '',
      found: 'schema-length /spec/f: spec.f must not be empty.',
      reason: 'empty text',
    },
    {
      schema: { type: 'string', maxLength: 3 },
      value: 'é😀x',
      found: undefined,
      reason: 'characters are counted, not bytes',
    },
    {
      schema: { type: 'string', maxLength: 2 },
      value: 'abc',
      found: 'schema-length /spec/f: spec.f must have at most 2 characters, not 3.',
      reason: 'too long',
    },
    {
      schema: { type: 'string', pattern: '^https?://' },
      value: 'ftp://x',
      found: 'schema-pattern /spec/f: spec.f must match the pattern ^https?://.',
      reason: 'pattern',
    },
    {
      schema: { type: 'string', format: 'ipv4' },
      value: '10.0.0.256',
      found: 'schema-format /spec/f: spec.f must be an IPv4 address.',
      reason: 'format',
    },
    {
      schema: { type: 'string', format: 'unheard-of' },
      value: 'x',
      found: undefined,
      reason: 'unknown formats are ignored',
    },
    {
      schema: { type: 'array', minItems: 1, items: { type: 'string' } },
      value: [],
      found: 'schema-items /spec/f: spec.f must have at least 1 entry, not 0.',
      reason: 'too few',
    },
    {
      schema: { type: 'object', maxProperties: 1, additionalProperties: { type: 'string' } },
      value: { a: 'x', b: 'y' },
      found: 'schema-items /spec/f: spec.f must have at most 1 entry, not 2.',
      reason: 'too many',
    },
    {
      schema: { type: 'object', required: ['name'], properties: { name: { type: 'string' } } },
      value: {},
      found: 'schema-required /spec/f/name: spec.f.name is required.',
      reason: 'missing',
    },
    {
      schema: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } },
      value: ['a', 'b', 'a'],
      found: 'schema-duplicate-item /spec/f/2: spec.f[2] repeats entry 0; every entry may occur only once.',
      reason: 'a set',
    },
    {
      schema: {
        type: 'array',
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['name'],
        items: { type: 'object', required: ['name'], properties: { name: { type: 'string' } } },
      },
      value: [{ name: 'a' }, { name: 'a' }],
      found: 'schema-duplicate-item /spec/f/1: spec.f[1] has the same name as entry 0.',
      reason: 'a list with keys',
    },
    {
      schema: {
        type: 'object',
        properties: { a: { type: 'string' }, b: { type: 'string' } },
        oneOf: [{ required: ['a'] }, { required: ['b'] }],
      },
      value: { a: 'x', b: 'y' },
      found: 'schema-alternative /spec/f: spec.f fits 2 alternatives that exclude each other.',
      reason: 'oneOf',
    },
    {
      schema: { type: 'object', properties: { a: { type: 'string' } }, anyOf: [{ required: ['a'] }] },
      value: {},
      found: 'schema-alternative /spec/f: spec.f fits none of the alternatives. spec.f.a is required.',
      reason: 'anyOf reports the nearest alternative',
    },
    {
      schema: { type: 'object', properties: { a: { type: 'string' } }, not: { required: ['a'] } },
      value: { a: 'x' },
      found: 'schema-alternative /spec/f: spec.f is excluded by the schema.',
      reason: 'not',
    },
    {
      schema: { type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true },
      value: { apiVersion: 'v1' },
      found: 'schema-required /spec/f/kind: spec.f.kind is required.',
      reason: 'an object inside of another has a kind',
    },
  ])('$reason: $value under $schema', ({ schema, value, found }) => {
    expect(check(field(schema), { f: value })).toEqual(found === undefined ? [] : [`error ${found}`]);
  });

  test('a type that all bounds of a schema exclude is wrong, but a schema without bounds accepts every type', () => {
    const TEXT_OR_OBJECT: JsonObject = {
      'x-kubernetes-preserve-unknown-fields': true,
      ...{ minLength: 1, properties: { name: { type: 'string' } }, required: ['name'] },
      ...{ minItems: 1, maxItems: 0, minimum: 1, maximum: 0, not: { enum: [true, false] } },
    };
    const wrong = (value: Json) => check(TEXT_OR_OBJECT, value).map((text) => text.replace('error ', ''));
    expect([wrong('a'), wrong({ name: 'a' })]).toEqual([[], []]);
    expect(wrong(5)).toEqual(['schema-type /spec: spec must be a string or a mapping, not an integer.']);
    expect(wrong(true)).toEqual(['schema-type /spec: spec must be a string or a mapping, not a boolean.']);
    expect(wrong([])).toEqual(['schema-type /spec: spec must be a string or a mapping, not a list.']);
    expect(wrong('')).toEqual(['schema-length /spec: spec must not be empty.']);
    expect(wrong({})).toEqual(['schema-required /spec/name: spec.name is required.']);
    expect(check({ 'x-kubernetes-preserve-unknown-fields': true }, 5)).toEqual([]);
  });

  test('all faults are found, and no message contains a value', () => {
    const schema: JsonObject = {
      type: 'object',
      properties: { token: { type: 'string', maxLength: 3, pattern: '^a' }, port: { type: 'integer', maximum: 1 } },
    };
    const found = check(schema, { token: 'hunter2', port: 99 });
    expect(found).toHaveLength(3);
    expect(found.join()).not.toContain('hunter2');
  });

  test('keys with slashes and dots are escaped in pointers and names', () => {
    const schema: JsonObject = { type: 'object', additionalProperties: { type: 'string' } };
    expect(check(schema, { 'a.b/c': 1 })).toEqual([
      'error schema-type /spec/a.b~1c: spec["a.b/c"] must be a string, not an integer: put it in quotes.',
    ]);
  });
});

describe('rules', () => {
  const ruled = (rules: Json[], more: JsonObject = {}): JsonObject => ({
    type: 'object',
    properties: {
      min: { type: 'integer' },
      max: { type: 'integer' },
      name: { type: 'string' },
      list: {
        type: 'array',
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['key'],
        items: {
          type: 'object',
          required: ['key'],
          properties: { key: { type: 'string' }, n: { type: 'integer' } },
          'x-kubernetes-validations': [{ rule: 'self.n >= oldSelf.n', message: 'n may not shrink' }],
        },
      },
      words: {
        type: 'array',
        items: { type: 'string', 'x-kubernetes-validations': [{ rule: "self != 'no'", message: 'not that word' }] },
      },
      ...more,
    },
    'x-kubernetes-validations': rules,
  });

  test('a false rule is reported with the message of its author, at the place of the rule', () => {
    expect(
      check(ruled([{ rule: 'self.min <= self.max', message: 'min must not exceed max' }]), { min: 2, max: 1 }),
    ).toEqual(['error cel-rule /spec: spec: min must not exceed max']);
  });

  test('messageExpression takes precedence over message if its result is one line', () => {
    const rule = { rule: 'false', message: 'plain' };
    expect(check(ruled([{ ...rule, messageExpression: "'min is ' + string(self.min)" }]), { min: 2 })).toEqual([
      'error cel-rule /spec: spec: min is 2',
    ]);
    expect(check(ruled([{ ...rule, messageExpression: 'self.name' }]), { min: 2 })).toEqual([
      'error cel-rule /spec: spec: plain',
    ]);
    expect(check(ruled([{ ...rule, messageExpression: "'a\\nb'" }]), {})).toEqual([
      'error cel-rule /spec: spec: plain',
    ]);
    expect(check(ruled([{ rule: 'false' }]), {})).toEqual(['error cel-rule /spec: spec: failed rule: false']);
  });

  test('a finding has the fieldPath and reason of its rule', () => {
    const structural = compileStructural(
      schemaOf(ruled([{ rule: 'false', message: 'm', fieldPath: '.name', reason: 'FieldValueForbidden' }])),
    );
    expect(structural.validate({ ...META, spec: {} })).toEqual([
      {
        code: 'cel-rule',
        severity: 'error',
        pointer: '/spec/name',
        message: 'spec.name: m',
        reason: 'FieldValueForbidden',
      },
    ]);
  });

  test('rules at every level are evaluated, including rules in lists', () => {
    expect(check(ruled([]), { words: ['yes', 'no'] })).toEqual([
      'error cel-rule /spec/words/1: spec.words[1]: not that word',
    ]);
  });

  test('a rule at the root can read metadata', () => {
    const structural = compileStructural({
      type: 'object',
      properties: { spec: { type: 'object' } },
      'x-kubernetes-validations': [{ rule: 'self.metadata.name.size() <= 3', message: 'short names only' }],
    });
    expect(structural.validate(META)).toEqual([]);
    expect(structural.validate({ ...META, metadata: { name: 'long' } })).toMatchObject([
      { pointer: '', message: 'the object: short names only' },
    ]);
  });

  test('a rule whose evaluation fails is an error', () => {
    expect(check(ruled([{ rule: "self.name == 'x'", message: 'm' }]), {})).toEqual([
      "error cel-error /spec: spec cannot be checked by a rule of its schema: No such key: name (self.name == 'x')",
    ]);
  });

  test('a rule that only a cluster can evaluate is a warning', () => {
    expect(check(ruled([{ rule: '(self.list + self.list).size() == 0', message: 'm' }]), { list: [] })).toEqual([
      'warning cel-unsupported /spec: spec has a rule that only the API server can check: + on a list of type map cannot be evaluated without a cluster ((self.list + self.list).size() == 0)',
    ]);
  });

  test('a rule that does not compile is an error of the schema', () => {
    expect(check(ruled([{ rule: 'self.nope == 1', message: 'm' }]), {})).toEqual([
      'error cel-compile /spec: spec has a rule that does not compile: No such key: nope (self.nope == 1)',
    ]);
  });

  test('rules are not evaluated after a wrong type', () => {
    expect(check(ruled([{ rule: 'self.min <= self.max', message: 'm' }]), { min: 'x', max: 1 })).toEqual([
      'error schema-type /spec/min: spec.min must be an integer, not a string.',
    ]);
  });

  test('transition rules compare with the existing object', () => {
    const immutable = ruled([{ rule: 'self.name == oldSelf.name', message: 'name is immutable' }]);
    expect(check(immutable, { name: 'b' })).toEqual([]);
    expect(check(immutable, { name: 'b' }, { name: 'a' })).toEqual(['error cel-rule /spec: spec: name is immutable']);
  });

  test('items of lists with keys are compared by their keys, at any position', () => {
    const old = {
      list: [
        { key: 'a', n: 5 },
        { key: 'b', n: 1 },
      ],
    };
    expect(
      check(
        ruled([]),
        {
          list: [
            { key: 'b', n: 0 },
            { key: 'a', n: 5 },
            { key: 'c', n: 0 },
          ],
        },
        old,
      ),
    ).toEqual(['error cel-rule /spec/list/0: spec.list[0]: n may not shrink']);
  });

  test('a rule with optionalOldSelf is also evaluated on creation', () => {
    const schema = ruled([
      { rule: "oldSelf.hasValue() || self.name != 'x'", optionalOldSelf: true, message: 'no new x' },
    ]);
    expect(check(schema, { name: 'x' })).toEqual(['error cel-rule /spec: spec: no new x']);
    expect(check(schema, { name: 'x', min: 1 }, { name: 'x' })).toEqual([]);
  });

  test('field names that are not identifiers are escaped, reserved words need not be escaped', () => {
    const more = { 'a-b': { type: 'string' }, namespace: { type: 'string' }, $x: { type: 'string' } };
    const rule = "self.a__dash__b == 'x' && self.__namespace__ == 'y' && self.namespace == 'y'";
    expect(check(ruled([{ rule, message: 'm' }], more), { 'a-b': 'x', namespace: 'y', $x: 'z' })).toEqual([]);
  });
});

describe('updates', () => {
  const schema: JsonObject = {
    type: 'object',
    properties: {
      a: { type: 'integer', maximum: 1 },
      b: { type: 'string', 'x-kubernetes-validations': [{ rule: "self == 'x'", message: 'm' }] },
      c: { type: 'string' },
    },
  };

  test('unchanged faults are accepted', () => {
    expect(check(schema, { a: 5, b: 'y', c: 'new' }, { a: 5, b: 'y', c: 'old' })).toEqual([]);
  });

  test('changed values must be valid', () => {
    expect(check(schema, { a: 6, b: 'z' }, { a: 5, b: 'y' })).toEqual([
      'error schema-range /spec/a: spec.a must be at most 1.',
      'error cel-rule /spec/b: spec.b: m',
    ]);
  });
});

test('ten thousand objects are validated in less than three seconds of processor time', () => {
  const structural = compileStructural({
    type: 'object',
    properties: {
      spec: {
        type: 'object',
        properties: {
          image: { type: 'string', minLength: 1 },
          port: { type: 'integer', minimum: 1, maximum: 65535, default: 8080 },
          env: {
            type: 'array',
            items: { type: 'object', required: ['name'], properties: { name: { type: 'string' } } },
          },
        },
        'x-kubernetes-validations': [{ rule: "self.port != 22 || self.image == 'ssh'", message: 'm' }],
      },
    },
  });
  const objects = Array.from({ length: 10_000 }, (_, index) => ({
    ...META,
    spec: { image: `image:${index}`, env: [{ name: 'A' }, { name: 'B' }] },
  }));
  const start = process.cpuUsage();
  const findings = objects.flatMap((object) => structural.validate(structural.withDefaults(object)));
  expect(findings).toEqual([]);
  expect(process.cpuUsage(start).user / 1000).toBeLessThan(3000);
});

test('a pattern is described in words if the caller can describe it, otherwise quoted', () => {
  const schema = schemaOf({ type: 'object', properties: { f: { type: 'string', pattern: '^[^:]+$' } } });
  const object = { ...META, spec: { f: 'a:b' } };
  const messagesOf = (structural: Structural) => structural.validate(object).map(({ message }) => message);
  expect(messagesOf(compileStructural(schema))).toEqual(['spec.f must match the pattern ^[^:]+$.']);
  expect(messagesOf(compileStructural(schema, describePattern))).toEqual([
    'spec.f must be a path without ":", such as /data.',
  ]);
});
