// CustomResourceDefinitions and their objects: what a schema may say, and what a server makes of it.

import type { Json, JsonObject } from '../../../src/std/json.ts';
import type { Answer, Scenario, Step } from '../scenario.ts';
import { apply, at, create, MERGE_PATCH, patch, read, remove, replace, STRATEGIC_PATCH } from '../scenario.ts';
import * as o from './objects.ts';

const GROUP = 'recordings.example.com';
const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';
const DRY = { dryRun: 'All' };

interface Custom {
  readonly kind: string;
  readonly plural: string;
  /** Collection and definition. */
  readonly path: string;
  readonly definition: string;
}

function custom(kind: string): Custom {
  const plural = `${kind.toLowerCase()}s`;
  return {
    kind,
    plural,
    path: `/apis/${GROUP}/v1/namespaces/\${ns}/${plural}`,
    definition: `${o.CRDS}/${plural}.${GROUP}`,
  };
}

function object(of: Custom, spec: Json, metadata: JsonObject = {}, more: JsonObject = {}): JsonObject {
  return { apiVersion: `${GROUP}/v1`, kind: of.kind, metadata: { name: 'one', ...metadata }, spec, ...more };
}

function isEstablished(answer: Answer): boolean {
  const conditions = at(answer.body, '/status/conditions');
  return (
    Array.isArray(conditions) &&
    conditions.some((one) => at(one, '/type') === 'Established' && at(one, '/status') === 'True')
  );
}

/** Only what the definition came to. */
function status(body: Json): Json {
  return at(body, '/status') ?? body;
}

/** Defines a kind and waits until it is served. */
function define(of: Custom, spec: JsonObject, more: Partial<o.CrdOptions> = {}): Step[] {
  const schema = { type: 'object', properties: { spec, ...((more.schema as JsonObject | undefined) ?? {}) } };
  return [
    create(
      'the definition is taken',
      o.CRDS,
      o.crd({ group: GROUP, kind: of.kind, plural: of.plural, ...more, schema }),
      { pick: nothing },
    ),
    read('it is established', of.definition, { until: isEstablished, pick: status }),
    read('its objects are served', of.path, { until: (answer) => answer.status === 200 }),
  ];
}

/** The definition itself is recorded where it is the subject. */
function nothing(body: Json): Json {
  return at(body, '/kind') === 'Status' ? body : { kind: at(body, '/kind') ?? null };
}

const text: JsonObject = { type: 'string' };

/** A definition tried in a dry run. */
function tried(reason: string, spec: JsonObject, more: Partial<o.CrdOptions> = {}): Step {
  const schema = { type: 'object', properties: { spec } };
  const body = o.crd({ group: GROUP, kind: 'Refused', plural: 'refuseds', schema, ...more });
  return create(reason, o.CRDS, body, { query: { dryRun: 'All', fieldValidation: 'Strict' }, pick: nothing });
}

function withRule(rule: JsonObject, schema: JsonObject = {}): JsonObject {
  return {
    type: 'object',
    properties: { a: text, n: { type: 'integer' } },
    'x-kubernetes-validations': [rule],
    ...schema,
  };
}

const LIFE = custom('Life');
const CHECKED = custom('Checked');
const DEFAULTED = custom('Defaulted');
const RULED = custom('Ruled');
const REPORTED = custom('Reported');
const PLAIN = custom('Plain');
const MERGED = custom('Merged');
const PRINTED = custom('Printed');
const VERSIONED = custom('Versioned');
const GLOBAL = custom('Global');

const CHECKED_SCHEMA: JsonObject = {
  type: 'object',
  required: ['image'],
  properties: {
    image: { type: 'string', minLength: 1, maxLength: 10, pattern: '^[a-z]+$' },
    transport: { type: 'string', enum: ['stdio', 'sse'] },
    port: { type: 'integer', minimum: 1, maximum: 65535, format: 'int32' },
    ratio: { type: 'number', multipleOf: 0.5 },
    above: { type: 'number', exclusiveMinimum: true, minimum: 0 },
    on: { type: 'boolean' },
    tags: { type: 'array', minItems: 1, maxItems: 2, items: text },
    names: { type: 'array', items: text, 'x-kubernetes-list-type': 'set' },
    ports: {
      type: 'array',
      items: { type: 'object', required: ['name'], properties: { name: text, port: { type: 'integer' } } },
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
    },
    labels: { type: 'object', additionalProperties: { type: 'string', maxLength: 3 }, maxProperties: 2 },
    either: { 'x-kubernetes-int-or-string': true },
    one: { type: 'object', properties: { a: text, b: text }, oneOf: [{ required: ['a'] }, { required: ['b'] }] },
    when: { type: 'string', format: 'date-time' },
    maybe: { type: 'string', nullable: true },
    site: { type: 'string', format: 'uri' },
    not: { type: 'string', not: { enum: ['bad'] } },
  },
};

function checked(reason: string, fields: JsonObject): Step {
  return create(reason, CHECKED.path, object(CHECKED, { image: 'ok', ...fields }), {
    query: { dryRun: 'All', fieldValidation: 'Strict' },
  });
}

const DEFAULTED_SCHEMA: JsonObject = {
  type: 'object',
  properties: {
    mode: { type: 'string', default: 'auto' },
    maybe: { type: 'string', nullable: true, default: 'set' },
    nested: { type: 'object', default: {}, properties: { level: { type: 'integer', default: 3 }, free: text } },
    undefaulted: { type: 'object', properties: { level: { type: 'integer', default: 3 } } },
    items: {
      type: 'array',
      items: { type: 'object', properties: { name: text, weight: { type: 'integer', default: 1 } } },
    },
    map: {
      type: 'object',
      additionalProperties: { type: 'object', properties: { on: { type: 'boolean', default: true } } },
    },
    open: {
      type: 'object',
      properties: { known: { type: 'object', properties: { a: text } } },
      'x-kubernetes-preserve-unknown-fields': true,
    },
    template: { type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true },
    any: { 'x-kubernetes-preserve-unknown-fields': true },
  },
};

const RULED_SCHEMA: JsonObject = {
  type: 'object',
  properties: {
    min: { type: 'integer' },
    max: { type: 'integer' },
    source: {
      type: 'object',
      properties: { git: text, file: text },
      'x-kubernetes-validations': [
        { rule: '[has(self.git), has(self.file)].exists_one(x, x)', message: 'exactly one of git and file is needed' },
      ],
    },
    fixed: {
      type: 'string',
      'x-kubernetes-validations': [{ rule: 'self == oldSelf', message: 'fixed cannot be changed' }],
    },
    names: {
      type: 'array',
      maxItems: 5,
      items: {
        type: 'string',
        maxLength: 10,
        'x-kubernetes-validations': [
          { rule: "!self.startsWith('x')", messageExpression: "'\\'' + self + '\\' starts with x'" },
        ],
      },
    },
    once: {
      type: 'string',
      'x-kubernetes-validations': [
        {
          rule: '!oldSelf.hasValue() || oldSelf.value() == self',
          optionalOldSelf: true,
          message: 'once set, set for good',
        },
      ],
    },
    entries: {
      type: 'array',
      maxItems: 5,
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
      items: {
        type: 'object',
        required: ['name'],
        properties: { name: { type: 'string', maxLength: 10 }, value: text },
        'x-kubernetes-validations': [{ rule: "self.name != 'bad'" }],
      },
    },
  },
  'x-kubernetes-validations': [
    {
      rule: '!has(self.min) || !has(self.max) || self.min <= self.max',
      message: 'min is above max',
      fieldPath: '.min',
      reason: 'FieldValueInvalid',
    },
    {
      rule: "!has(self.source) || !has(self.source.git) || self.source.git.matches('^https://')",
      reason: 'FieldValueForbidden',
      message: 'git needs https',
    },
  ],
};

const REPORTED_SCHEMA: JsonObject = { type: 'object', properties: { a: text, replicas: { type: 'integer' } } };
const REPORTED_STATUS: JsonObject = {
  type: 'object',
  properties: {
    phase: { type: 'string', enum: ['Ready', 'Failed'] },
    conditions: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['type'],
      items: { type: 'object', required: ['type', 'status'], properties: { type: text, status: text } },
    },
  },
};

const MERGED_SCHEMA: JsonObject = {
  type: 'object',
  properties: {
    ports: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['port', 'protocol'],
      items: {
        type: 'object',
        required: ['port'],
        properties: { port: { type: 'integer' }, protocol: { type: 'string', default: 'TCP' }, name: text },
      },
    },
    tags: { type: 'array', items: text, 'x-kubernetes-list-type': 'set' },
    args: {
      type: 'array',
      items: { type: 'object', properties: { name: text, weight: { type: 'integer', default: 1 } } },
    },
    options: { type: 'object', additionalProperties: text },
    selector: { type: 'object', additionalProperties: text, 'x-kubernetes-map-type': 'atomic' },
    nested: { type: 'object', properties: { a: text, b: { type: 'string', default: 'B' } } },
    open: {
      type: 'object',
      properties: { known: { type: 'object', properties: { a: text } } },
      'x-kubernetes-preserve-unknown-fields': true,
    },
    either: { 'x-kubernetes-int-or-string': true },
    maybe: { type: 'string', nullable: true },
  },
};

export const CUSTOM_SCENARIOS: readonly Scenario[] = [
  {
    name: 'custom-life',
    about: 'A definition: created, served, discovered, published, changed, deleted with its objects.',
    outside: [LIFE.definition],
    ticks: true,
    steps: [
      create(
        'the definition gets defaults and an empty status',
        o.CRDS,
        o.crd({
          group: GROUP,
          kind: LIFE.kind,
          plural: LIFE.plural,
          schema: { type: 'object', properties: { spec: { type: 'object', properties: { a: text } } } },
          spec: {
            names: {
              kind: 'Life',
              plural: 'lifes',
              singular: 'life',
              listKind: 'LifeList',
              shortNames: ['lf'],
              categories: ['all'],
            },
          },
        }),
      ),
      read('it is established', LIFE.definition, { until: isEstablished, calmMs: 1000, pick: byManager }),
      read('an empty list', LIFE.path, { until: (answer) => answer.status === 200 }),
      create('an object', LIFE.path, object(LIFE, { a: '1' }), { save: { live: '' } }),
      create('a second of that name', LIFE.path, object(LIFE, { a: '2' })),
      replace(
        'a custom resource needs its resourceVersion to be replaced',
        `${LIFE.path}/one`,
        object(LIFE, { a: '2' }),
      ),
      replace('with it', `${LIFE.path}/one`, (saved) => ({ ...(saved.live as JsonObject), spec: { a: '2' } })),
      replace('with an old one', `${LIFE.path}/one`, (saved) => ({ ...(saved.live as JsonObject), spec: { a: '3' } })),
      patch('a merge patch', `${LIFE.path}/one`, MERGE_PATCH, { spec: { a: '4' } }),
      patch('a strategic merge patch is refused', `${LIFE.path}/one`, STRATEGIC_PATCH, { spec: { a: '5' } }),
      read('a list says apiVersion and kind of its items', LIFE.path),
      read('another kind in that group', `/apis/${GROUP}/v1/namespaces/\${ns}/others`),
      read('the resources of the group', `/apis/${GROUP}/v1`, {
        until: (answer) => Array.isArray(at(answer.body, '/resources')),
        pick: (body) => (at(body, '/resources') as Json[]).filter((one) => at(one, '/kind') === 'Life'),
      }),
      read('aggregated', '/apis', {
        accept: 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList',
        until: (answer) => lifeOf(answer.body) !== undefined,
        pick: (body) => lifeOf(body) ?? null,
      }),
      read('its OpenAPI document', `/openapi/v3/apis/${GROUP}/v1`, {
        until: (answer) => at(answer.body, '/components/schemas/com.example.recordings.v1.Life') !== undefined,
        pick: (body) => at(body, '/components/schemas/com.example.recordings.v1.Life') ?? null,
      }),
      apply(
        'an applied object of a kind that nobody knows',
        `/apis/${GROUP}/v1/namespaces/\${ns}/others/one`,
        'git',
        object(custom('Other'), {}),
      ),
      remove('the definition is deleted', LIFE.definition, { pick: nothing }),
      read('it is gone', LIFE.definition, { until: (answer) => answer.status === 404 }),
      read('so are its objects', `${LIFE.path}/one`, {
        until: (answer) => answer.status === 404,
        pick: (body) => (typeof body === 'string' ? body : (at(body, '/message') ?? null)),
      }),
    ],
  },
  {
    name: 'custom-definitions-refused',
    about: 'Definitions that a server refuses (but for one), with its reasons.',
    steps: [
      tried('a schema without type', { properties: { a: text } }),
      tried('a field without type', { type: 'object', properties: { a: {} } }),
      tried('an array without items', { type: 'object', properties: { a: { type: 'array' } } }),
      tried('additionalProperties beside properties', {
        type: 'object',
        properties: { a: text },
        additionalProperties: text,
      }),
      tried('additionalProperties false is taken', { type: 'object', additionalProperties: false }),
      tried('uniqueItems', { type: 'object', properties: { a: { type: 'array', items: text, uniqueItems: true } } }),
      tried('type inside of anyOf', {
        type: 'object',
        properties: { a: { anyOf: [{ type: 'string' }, { type: 'integer' }] } },
      }),
      tried('$ref', { type: 'object', properties: { a: { $ref: '#/definitions/x' } } }),
      tried('const, a field that nobody knows', { type: 'object', properties: { a: { type: 'string', const: 'x' } } }),
      tried('a default of the wrong type', { type: 'object', properties: { a: { type: 'string', default: 1 } } }),
      tried('a default outside of the enum', {
        type: 'object',
        properties: { a: { type: 'string', enum: ['x'], default: 'y' } },
      }),
      tried('a default with unknown fields', { type: 'object', default: { b: 1 }, properties: { a: text } }),
      tried('a list map without keys', {
        type: 'object',
        properties: { a: { type: 'array', items: { type: 'object' }, 'x-kubernetes-list-type': 'map' } },
      }),
      tried('a key that the items do not have', {
        type: 'object',
        properties: {
          a: {
            type: 'array',
            items: { type: 'object', properties: { b: text } },
            'x-kubernetes-list-type': 'map',
            'x-kubernetes-list-map-keys': ['name'],
          },
        },
      }),
      tried('a key that is neither required nor has a default', {
        type: 'object',
        properties: {
          a: {
            type: 'array',
            items: { type: 'object', properties: { name: text } },
            'x-kubernetes-list-type': 'map',
            'x-kubernetes-list-map-keys': ['name'],
          },
        },
      }),
      tried('a set of objects', {
        type: 'object',
        properties: { a: { type: 'array', items: { type: 'object' }, 'x-kubernetes-list-type': 'set' } },
      }),
      tried('a pattern that is none', { type: 'object', properties: { a: { type: 'string', pattern: '(' } } }),
      tried('an unknown type', { type: 'object', properties: { a: { type: 'text' } } }),
      tried('a rule that does not compile', withRule({ rule: 'self.a ==' })),
      tried('a rule about a field that is not there', withRule({ rule: "self.b == 'x'" })),
      tried('a rule that compares types', withRule({ rule: 'self.a == 1' })),
      tried('a rule that is no boolean', withRule({ rule: 'self.a' })),
      tried('a rule about another object', withRule({ rule: 'object.a == self.a' })),
      tried('an empty rule', withRule({ rule: '' })),
      tried('a message with a line break', withRule({ rule: 'true', message: 'a\nb' })),
      tried('a messageExpression that is no text', withRule({ rule: 'true', messageExpression: '1' })),
      tried('an unknown reason', withRule({ rule: 'true', reason: 'Because' })),
      tried('a fieldPath that is not there', withRule({ rule: 'true', fieldPath: '.b' })),
      tried('a rule that may cost too much', {
        type: 'object',
        properties: {
          a: {
            type: 'array',
            items: { type: 'object', properties: { b: { type: 'array', items: text } } },
            'x-kubernetes-validations': [{ rule: "self.all(x, self.all(y, x.b.all(z, z.contains('a'))))" }],
          },
        },
      }),
      tried('oldSelf below a list that is no map', {
        type: 'object',
        properties: {
          a: { type: 'array', items: { type: 'string', 'x-kubernetes-validations': [{ rule: 'self == oldSelf' }] } },
        },
      }),
      tried('a name that is not plural and group', { type: 'object' }, { spec: { group: 'other.example.com' } }),
      tried('no version that is stored', { type: 'object' }, { version: { storage: false } }),
      tried('a version without schema', { type: 'object' }, { version: { schema: {} } }),
      tried(
        'a short name that is none',
        { type: 'object' },
        {
          spec: {
            names: {
              kind: 'Refused',
              plural: 'refuseds',
              singular: 'refused',
              listKind: 'RefusedList',
              shortNames: ['A_B'],
            },
          },
        },
      ),
      tried(
        'a printer column without a path',
        { type: 'object' },
        { version: { additionalPrinterColumns: [{ name: 'A', type: 'string', jsonPath: 'spec' }] } },
      ),
      tried(
        'a printer column of an unknown type',
        { type: 'object' },
        { version: { additionalPrinterColumns: [{ name: 'A', type: 'text', jsonPath: '.spec.a' }] } },
      ),
      tried('preserving at the root', { type: 'object' }, { spec: { preserveUnknownFields: true } }),
    ],
  },
  {
    name: 'custom-validation',
    about: 'Objects against every keyword of a schema: 422 with causes.',
    outside: [CHECKED.definition],
    steps: [
      ...define(CHECKED, CHECKED_SCHEMA),
      create(
        'a good one',
        CHECKED.path,
        object(CHECKED, {
          image: 'ok',
          transport: 'sse',
          port: 80,
          ratio: 1.5,
          on: false,
          tags: ['a'],
          names: ['a', 'b'],
          ports: [{ name: 'a', port: 1 }],
          labels: { a: 'b' },
          either: '80%',
          one: { a: 'x' },
          when: '2026-01-01T00:00:00Z',
          maybe: null,
          site: 'https://example.com',
          not: 'good',
        }),
        { query: { dryRun: 'All', fieldValidation: 'Strict' } },
      ),
      create(
        'no spec is fine where it is not required',
        CHECKED.path,
        { apiVersion: `${GROUP}/v1`, kind: CHECKED.kind, metadata: { name: 'one' } },
        { query: DRY },
      ),
      create('required', CHECKED.path, object(CHECKED, {}), { query: DRY }),
      create('a spec that is text', CHECKED.path, object(CHECKED, 'x'), { query: DRY }),
      checked('enum', { transport: 'http' }),
      checked('minLength', { image: '' }),
      checked('maxLength and pattern', { image: 'UPPERCASE-AND-LONG' }),
      checked('minimum', { port: 0 }),
      checked('maximum', { port: 70000 }),
      checked('text for a number', { port: '80' }),
      checked('a fraction for an integer', { port: 1.5 }),
      checked('a number for a boolean', { on: 1 }),
      checked('exclusiveMinimum', { above: 0 }),
      checked('multipleOf', { ratio: 0.3 }),
      checked('minItems', { tags: [] }),
      checked('maxItems and a wrong item', { tags: ['a', 'b', 3] }),
      checked('a set with a value twice', { names: ['a', 'a'] }),
      checked('a list map with a key twice', { ports: [{ name: 'a' }, { name: 'a' }] }),
      checked('an item without its required field', { ports: [{ port: 1 }] }),
      checked('values of a map', { labels: { a: 'long' } }),
      checked('maxProperties', { labels: { a: 'a', b: 'b', c: 'c' } }),
      checked('int-or-string takes no boolean', { either: true }),
      checked('oneOf: none', { one: {} }),
      checked('oneOf: both', { one: { a: 'x', b: 'y' } }),
      checked('date-time', { when: 'yesterday' }),
      checked('null where it is not nullable is dropped', { transport: null }),
      checked('uri', { site: 'not a uri' }),
      checked('not', { not: 'bad' }),
      checked('several at once', { transport: 'http', port: 0, on: 'yes' }),
      checked('an unknown field', { colour: 'red' }),
      checked('an unknown field deep inside', { ports: [{ name: 'a', colour: 'red' }] }),
      create('an unknown field with a warning', CHECKED.path, object(CHECKED, { image: 'ok', colour: 'red' }), {
        query: { dryRun: 'All', fieldValidation: 'Warn' },
      }),
      create('an unknown field ignored is pruned', CHECKED.path, object(CHECKED, { image: 'ok', colour: 'red' }), {
        query: { dryRun: 'All', fieldValidation: 'Ignore' },
      }),
      {
        reason: 'a key twice',
        method: 'POST',
        path: CHECKED.path,
        contentType: 'application/json',
        query: { dryRun: 'All', fieldValidation: 'Strict' },
        text: `{"apiVersion":"${GROUP}/v1","kind":"Checked","metadata":{"name":"one"},"spec":{"image":"a","image":"b"}}`,
      },
      apply(
        'applied: a wrong enum',
        `${CHECKED.path}/one`,
        'git',
        object(CHECKED, { image: 'ok', transport: 'http' }),
        { query: DRY },
      ),
      apply('applied: text for a number', `${CHECKED.path}/one`, 'git', object(CHECKED, { image: 'ok', port: '80' }), {
        query: DRY,
      }),
      apply(
        'applied: an unknown field, Strict',
        `${CHECKED.path}/one`,
        'git',
        object(CHECKED, { image: 'ok', colour: 'red' }),
        { query: { dryRun: 'All', fieldValidation: 'Strict' } },
      ),
      apply(
        'applied: an unknown field, Warn',
        `${CHECKED.path}/one`,
        'git',
        object(CHECKED, { image: 'ok', colour: 'red' }),
        { query: { dryRun: 'All', fieldValidation: 'Warn' } },
      ),
      apply(
        'applied: an unknown field, Ignore',
        `${CHECKED.path}/one`,
        'git',
        object(CHECKED, { image: 'ok', colour: 'red' }),
        { query: { dryRun: 'All', fieldValidation: 'Ignore' } },
      ),
      apply(
        'applied: an unknown field of metadata, Strict',
        `${CHECKED.path}/one`,
        'git',
        object(CHECKED, { image: 'ok' }, { colour: 'red' }),
        { query: { dryRun: 'All', fieldValidation: 'Strict' } },
      ),
      create(
        'created: an unknown field of metadata, Strict',
        CHECKED.path,
        object(CHECKED, { image: 'ok' }, { colour: 'red' }),
        { query: { dryRun: 'All', fieldValidation: 'Strict' } },
      ),
      apply(
        'applied: a set with a value twice',
        `${CHECKED.path}/one`,
        'git',
        object(CHECKED, { image: 'ok', names: ['a', 'a'] }),
        { query: DRY },
      ),
      apply(
        'applied: a list map with a key twice',
        `${CHECKED.path}/one`,
        'git',
        object(CHECKED, { image: 'ok', ports: [{ name: 'a' }, { name: 'a' }] }),
        { query: DRY },
      ),
      apply(
        'applied: an item without its key',
        `${CHECKED.path}/one`,
        'git',
        object(CHECKED, { image: 'ok', ports: [{ port: 1 }] }),
        { query: DRY },
      ),
      apply(
        'applied: null is not dropped',
        `${CHECKED.path}/one`,
        'git',
        object(CHECKED, { image: 'ok', transport: null }),
        { query: DRY },
      ),
      create('a name that is none', CHECKED.path, object(CHECKED, { image: 'ok' }, { name: 'Not_A_Name' }), {
        query: DRY,
      }),
      create('a label that is none', CHECKED.path, object(CHECKED, { image: 'ok' }, { labels: { a: 'b c' } }), {
        query: DRY,
      }),
      create('a label that is a number', CHECKED.path, object(CHECKED, { image: 'ok' }, { labels: { a: 1 } }), {
        query: DRY,
      }),
      create('another kind', CHECKED.path, { ...object(CHECKED, { image: 'ok' }), kind: 'Other' }, { query: DRY }),
      create(
        'another version',
        CHECKED.path,
        { ...object(CHECKED, { image: 'ok' }), apiVersion: `${GROUP}/v2` },
        { query: DRY },
      ),
    ],
  },
  {
    name: 'custom-defaults',
    about: 'Defaults and pruning of custom resources.',
    outside: [DEFAULTED.definition],
    ticks: true,
    steps: [
      ...define(DEFAULTED, DEFAULTED_SCHEMA),
      create('an empty spec is filled', DEFAULTED.path, object(DEFAULTED, {})),
      create('without a spec nothing is filled', DEFAULTED.path, {
        apiVersion: `${GROUP}/v1`,
        kind: DEFAULTED.kind,
        metadata: { name: 'bare' },
      }),
      create(
        'items and values of maps are filled, empty objects too',
        DEFAULTED.path,
        object(DEFAULTED, { items: [{ name: 'a' }, {}], map: { x: {} }, undefaulted: {} }, { name: 'items' }),
      ),
      create(
        'null is replaced by the default, unless it is allowed',
        DEFAULTED.path,
        object(DEFAULTED, { mode: null, maybe: null }, { name: 'nulls' }),
      ),
      create(
        'unknown fields are pruned, below preserved ones they are kept',
        DEFAULTED.path,
        object(
          DEFAULTED,
          {
            colour: 'red',
            nested: { colour: 'red' },
            open: { colour: 'red', known: { a: 'x', colour: 'red' } },
            any: { deep: { deeper: [1, null, {}] } },
            template: {
              apiVersion: 'v1',
              kind: 'Pod',
              metadata: { name: 'x', colour: 'red', labels: {} },
              spec: { colour: 'red' },
            },
          },
          { name: 'pruned' },
        ),
      ),
      create(
        'an embedded resource needs its kind',
        DEFAULTED.path,
        object(DEFAULTED, { template: { metadata: {} } }, { name: 'embedded' }),
      ),
      apply(
        'what is applied is owned, what is filled is not',
        `${DEFAULTED.path}/applied`,
        'git',
        object(DEFAULTED, { items: [{ name: 'a' }], nested: {} }, { name: 'applied' }),
      ),
      apply(
        'applying it again writes nothing',
        `${DEFAULTED.path}/applied`,
        'git',
        object(DEFAULTED, { items: [{ name: 'a' }], nested: {} }, { name: 'applied' }),
      ),
      apply(
        'a field that is dropped gets its default',
        `${DEFAULTED.path}/applied`,
        'git',
        object(DEFAULTED, { mode: 'manual' }, { name: 'applied' }),
      ),
      apply(
        'again',
        `${DEFAULTED.path}/applied`,
        'git',
        object(DEFAULTED, { nested: { free: 'x' } }, { name: 'applied' }),
      ),
      patch('a merge patch with null', `${DEFAULTED.path}/applied`, MERGE_PATCH, {
        spec: { mode: null, nested: null },
      }),
    ],
  },
  {
    name: 'custom-rules',
    about: 'CEL rules of custom resources: what they say when they do not hold.',
    outside: [RULED.definition],
    ticks: true,
    steps: [
      ...define(RULED, RULED_SCHEMA),
      create(
        'all rules hold',
        RULED.path,
        object(RULED, {
          min: 1,
          max: 2,
          source: { git: 'https://a' },
          fixed: 'a',
          names: ['a'],
          once: 'x',
          entries: [{ name: 'a' }],
        }),
        { save: { live: '' } },
      ),
      create('neither of two', RULED.path, object(RULED, { source: {} }), { query: DRY }),
      create('both of two', RULED.path, object(RULED, { source: { git: 'https://a', file: 'b' } }), { query: DRY }),
      create('a rule with a fieldPath', RULED.path, object(RULED, { min: 3, max: 2 }), { query: DRY }),
      create('a rule with a reason', RULED.path, object(RULED, { source: { git: 'http://a' } }), { query: DRY }),
      create('a rule with a messageExpression', RULED.path, object(RULED, { names: ['a', 'xa', 'xb'] }), {
        query: DRY,
      }),
      create('a rule without a message', RULED.path, object(RULED, { entries: [{ name: 'ok' }, { name: 'bad' }] }), {
        query: DRY,
      }),
      create('several rules', RULED.path, object(RULED, { min: 3, max: 2, source: {}, names: ['x'] }), { query: DRY }),
      create('a wrong type hides the rules', RULED.path, object(RULED, { min: 'x', source: {} }), { query: DRY }),
      create(
        'a list above its limit hides the rules of its items',
        RULED.path,
        object(RULED, { names: ['xa', 'a', 'a', 'a', 'a', 'a'] }),
        { query: DRY },
      ),
      patch('a field that may not change', `${RULED.path}/one`, MERGE_PATCH, { spec: { fixed: 'b' } }),
      patch('it may go', `${RULED.path}/one`, MERGE_PATCH, { spec: { fixed: null } }),
      patch('a value that is set for good', `${RULED.path}/one`, MERGE_PATCH, { spec: { once: 'y' } }),
      apply(
        'an applied object that breaks a rule',
        `${RULED.path}/applied`,
        'git',
        object(RULED, { source: {} }, { name: 'applied' }),
      ),
      patch('labels may change', `${RULED.path}/one`, MERGE_PATCH, { metadata: { labels: { a: 'b' } } }),
    ],
  },
  {
    name: 'custom-status',
    about: 'A kind with a status subresource: who writes what, and the generation.',
    outside: [REPORTED.definition],
    ticks: true,
    steps: [
      ...define(REPORTED, REPORTED_SCHEMA, {
        version: { subresources: { status: {} } },
        schema: { status: REPORTED_STATUS },
      }),
      apply(
        'status is not stored through the object',
        `${REPORTED.path}/one`,
        'git',
        object(REPORTED, { a: '1' }, {}, { status: { phase: 'Ready' } }),
      ),
      apply(
        'the status of an apply: spec and labels are not stored',
        `${REPORTED.path}/one/status`,
        'git',
        object(REPORTED, { a: 'x' }, { labels: { a: 'b' } }, { status: { phase: 'Ready' } }),
      ),
      apply('the same status again writes nothing', `${REPORTED.path}/one/status`, 'git', {
        apiVersion: `${GROUP}/v1`,
        kind: REPORTED.kind,
        metadata: { name: 'one' },
        status: { phase: 'Ready' },
      }),
      apply('and once more', `${REPORTED.path}/one/status`, 'git', {
        apiVersion: `${GROUP}/v1`,
        kind: REPORTED.kind,
        metadata: { name: 'one' },
        status: { phase: 'Ready' },
      }),
      apply('conditions of two managers', `${REPORTED.path}/one/status`, 'ops', {
        apiVersion: `${GROUP}/v1`,
        kind: REPORTED.kind,
        metadata: { name: 'one' },
        status: { conditions: [{ type: 'Synced', status: 'True' }] },
      }),
      apply('a phase of another manager is a conflict', `${REPORTED.path}/one/status`, 'ops', {
        apiVersion: `${GROUP}/v1`,
        kind: REPORTED.kind,
        metadata: { name: 'one' },
        status: { phase: 'Failed' },
      }),
      apply('a phase that is none', `${REPORTED.path}/one/status`, 'git', {
        apiVersion: `${GROUP}/v1`,
        kind: REPORTED.kind,
        metadata: { name: 'one' },
        status: { phase: 'Lost' },
      }),
      apply('the spec again: the status stays', `${REPORTED.path}/one`, 'git', object(REPORTED, { a: '1' })),
      apply('a changed spec moves the generation', `${REPORTED.path}/one`, 'git', object(REPORTED, { a: '2' }), {
        save: { live: '' },
      }),
      patch(
        'labels do not',
        `${REPORTED.path}/one`,
        MERGE_PATCH,
        { metadata: { labels: { a: 'b' } } },
        { save: { live: '' } },
      ),
      patch('a status patched through the object is ignored', `${REPORTED.path}/one`, MERGE_PATCH, {
        status: { phase: 'Failed' },
      }),
      replace(
        'a replaced status leaves spec and labels',
        `${REPORTED.path}/one/status`,
        (saved) => ({
          ...(saved.live as JsonObject),
          metadata: { ...((saved.live as JsonObject).metadata as JsonObject), labels: { c: 'd' } },
          spec: { a: '9' },
          status: { phase: 'Failed' },
        }),
        { query: { fieldManager: 'writer' } },
      ),
      patch('a merge patch of the status', `${REPORTED.path}/one/status`, MERGE_PATCH, { status: { phase: null } }),
      read('the status subresource reads as the object', `${REPORTED.path}/one/status`),
      apply('the status of what is not there is not found', `${REPORTED.path}/none/status`, 'git', {
        apiVersion: `${GROUP}/v1`,
        kind: REPORTED.kind,
        metadata: { name: 'none' },
        status: {},
      }),
      create(
        'a created object has no status',
        REPORTED.path,
        object(REPORTED, {}, { name: 'two', generation: 9 }, { status: { phase: 'Ready' } }),
      ),
    ],
  },
  {
    name: 'custom-plain',
    about: 'A kind without a status subresource: everything but metadata moves the generation.',
    outside: [PLAIN.definition],
    ticks: true,
    steps: [
      ...define(PLAIN, REPORTED_SCHEMA, { schema: { status: REPORTED_STATUS } }),
      create(
        'status is a field like any other',
        PLAIN.path,
        object(PLAIN, { a: '1' }, {}, { status: { phase: 'Ready' } }),
      ),
      patch('it moves the generation', `${PLAIN.path}/one`, MERGE_PATCH, { status: { phase: 'Failed' } }),
      patch('labels do not', `${PLAIN.path}/one`, MERGE_PATCH, { metadata: { labels: { a: 'b' } } }),
      patch('there is no such subresource', `${PLAIN.path}/one/status`, MERGE_PATCH, { status: { phase: 'Ready' } }),
      apply(
        'so when it is applied',
        `${PLAIN.path}/two`,
        'git',
        object(PLAIN, { a: '1' }, { name: 'two' }, { status: { phase: 'Ready' } }),
      ),
    ],
  },
  {
    name: 'custom-apply',
    about: 'Server-side apply by the list and map types of a definition.',
    outside: [MERGED.definition],
    ticks: true,
    steps: [
      ...define(MERGED, MERGED_SCHEMA),
      apply(
        'everything once',
        `${MERGED.path}/one`,
        'git',
        object(MERGED, {
          ports: [{ port: 80 }, { port: 81, protocol: 'UDP', name: 'u' }],
          tags: ['a', 'b'],
          args: [{ name: 'x' }],
          options: { k: 'v' },
          selector: { app: 'a' },
          nested: { a: '1' },
          open: { x: { y: [1] } },
          either: 80,
        }),
      ),
      apply(
        'again: nothing is written',
        `${MERGED.path}/one`,
        'git',
        object(MERGED, {
          ports: [{ port: 80 }, { port: 81, protocol: 'UDP', name: 'u' }],
          tags: ['a', 'b'],
          args: [{ name: 'x' }],
          options: { k: 'v' },
          selector: { app: 'a' },
          nested: { a: '1' },
          open: { x: { y: [1] } },
          either: 80,
        }),
      ),
      apply(
        'another manager adds to each',
        `${MERGED.path}/one`,
        'ops',
        object(MERGED, {
          ports: [{ port: 82 }],
          tags: ['c'],
          options: { l: 'w' },
          nested: { b: '2' },
          open: { z: true },
        }),
      ),
      apply(
        'what is atomic conflicts',
        `${MERGED.path}/one`,
        'ops',
        object(MERGED, { args: [{ name: 'y' }], selector: { tier: 'b' }, open: { x: { y: [2] } }, either: '80' }),
      ),
      apply(
        'the first drops some of each',
        `${MERGED.path}/one`,
        'git',
        object(MERGED, {
          ports: [{ port: 80 }],
          tags: ['b'],
          args: [],
          options: {},
          selector: {},
          nested: {},
          open: {},
        }),
      ),
      apply(
        'the order of a list map and of a set',
        `${MERGED.path}/one`,
        'git',
        object(MERGED, { ports: [{ port: 90 }, { port: 80 }], tags: ['z', 'b'] }),
      ),
      apply(
        'null',
        `${MERGED.path}/one`,
        'git',
        object(MERGED, { maybe: null, tags: null, options: null, nested: null }),
      ),
      apply(
        'a field that nobody knows',
        `${MERGED.path}/two`,
        'git',
        object(MERGED, { nested: { colour: 'red' } }, { name: 'two' }),
      ),
      apply(
        'below a preserved field it is owned and pruned',
        `${MERGED.path}/two`,
        'git',
        object(MERGED, { open: { known: { colour: 'red' } } }, { name: 'two' }),
      ),
      apply(
        'so every apply is a write that moves the generation',
        `${MERGED.path}/two`,
        'git',
        object(MERGED, { open: { known: { colour: 'red' } } }, { name: 'two' }),
      ),
      apply(
        'empty labels of a custom resource',
        `${MERGED.path}/three`,
        'git',
        object(MERGED, {}, { name: 'three', labels: {}, annotations: {} }),
      ),
      apply(
        'are a write every time',
        `${MERGED.path}/three`,
        'git',
        object(MERGED, {}, { name: 'three', labels: {}, annotations: {} }),
      ),
      apply(
        'a wrong uid of a custom resource',
        `${MERGED.path}/three`,
        'git',
        object(MERGED, { tags: ['a'] }, { name: 'three', uid: 'aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee' }),
      ),
    ],
  },
  {
    name: 'custom-table',
    about: 'Printer columns of a definition.',
    outside: [PRINTED.definition],
    steps: [
      ...define(
        PRINTED,
        {
          type: 'object',
          properties: {
            a: text,
            n: { type: 'integer' },
            on: { type: 'boolean' },
            r: { type: 'number' },
            when: { type: 'string', format: 'date-time' },
            list: { type: 'array', items: text },
            deep: { type: 'object', additionalProperties: text },
          },
        },
        {
          version: {
            additionalPrinterColumns: [
              { name: 'Text', type: 'string', jsonPath: '.spec.a', description: 'a text' },
              { name: 'Number', type: 'integer', jsonPath: '.spec.n', format: 'int32' },
              { name: 'On', type: 'boolean', jsonPath: '.spec.on' },
              { name: 'Ratio', type: 'number', jsonPath: '.spec.r' },
              { name: 'When', type: 'date', jsonPath: '.spec.when' },
              { name: 'First', type: 'string', jsonPath: '.spec.list[0]' },
              { name: 'All', type: 'string', jsonPath: '.spec.list', priority: 1 },
              { name: 'Deep', type: 'string', jsonPath: ".spec.deep['a.b']" },
              { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
              { name: 'Old', type: 'date', jsonPath: '.metadata.creationTimestamp' },
            ],
          },
          schema: { status: REPORTED_STATUS },
        },
      ),
      create(
        'a full one',
        PRINTED.path,
        object(
          PRINTED,
          { a: 'x', n: 3, on: false, r: 1.5, when: '2020-01-01T00:00:00Z', list: ['p', 'q'], deep: { 'a.b': 'c' } },
          {},
          { status: { conditions: [{ type: 'Ready', status: 'True' }] } },
        ),
        { pick: nothing },
      ),
      create('an empty one', PRINTED.path, object(PRINTED, {}, { name: 'two' }), { pick: nothing }),
      create(
        'one with text where a date is',
        PRINTED.path,
        object(PRINTED, { when: '2999-01-01T00:00:00Z' }, { name: 'zee' }),
        { pick: nothing },
      ),
      read('the table', PRINTED.path, { accept: TABLE, pick: withoutAges }),
    ],
  },
  {
    name: 'custom-versions',
    about: 'Two versions of one kind without conversion, and selectable fields.',
    outside: [VERSIONED.definition],
    ticks: true,
    steps: [
      ...define(VERSIONED, REPORTED_SCHEMA, {
        spec: {
          versions: [
            {
              name: 'v1',
              served: true,
              storage: true,
              schema: { openAPIV3Schema: { type: 'object', properties: { spec: REPORTED_SCHEMA } } },
              selectableFields: [{ jsonPath: '.spec.a' }],
            },
            {
              name: 'v1beta1',
              served: true,
              storage: false,
              deprecated: true,
              schema: {
                openAPIV3Schema: { type: 'object', properties: { spec: REPORTED_SCHEMA, status: REPORTED_STATUS } },
              },
            },
            {
              name: 'v1alpha1',
              served: false,
              storage: false,
              schema: { openAPIV3Schema: { type: 'object', properties: { spec: REPORTED_SCHEMA } } },
            },
          ],
        },
      }),
      apply(
        'applied in the older version: a warning, and the entry names it',
        `/apis/${GROUP}/v1beta1/namespaces/\${ns}/versioneds/one`,
        'git',
        { ...object(VERSIONED, { a: '1' }), apiVersion: `${GROUP}/v1beta1` },
      ),
      read('read in the newer', `${VERSIONED.path}/one`),
      apply(
        'applied in the newer: the entry changes its version',
        `${VERSIONED.path}/one`,
        'git',
        object(VERSIONED, { a: '1' }),
      ),
      read('a version that is not served', `/apis/${GROUP}/v1alpha1/namespaces/\${ns}/versioneds/one`),
      read('a field that can be selected by', VERSIONED.path, {
        query: { fieldSelector: 'spec.a=1' },
        pick: (body) => (at(body, '/items') as Json[] | undefined)?.length ?? body,
      }),
      read('one that does not match', VERSIONED.path, {
        query: { fieldSelector: 'spec.a=2' },
        pick: (body) => (at(body, '/items') as Json[] | undefined)?.length ?? body,
      }),
      read('one that cannot', VERSIONED.path, { query: { fieldSelector: 'spec.replicas=1' } }),
      read('by name', VERSIONED.path, {
        query: { fieldSelector: 'metadata.name=one' },
        pick: (body) => (at(body, '/items') as Json[] | undefined)?.length ?? body,
      }),
    ],
  },
  {
    name: 'custom-cluster-scope',
    about: 'A kind without namespaces.',
    outside: [GLOBAL.definition],
    ticks: true,
    steps: [
      ...[define(GLOBAL, REPORTED_SCHEMA, { scope: 'Cluster' })].flatMap((steps) => steps.slice(0, 2)),
      apply('an object without a namespace', `/apis/${GROUP}/v1/globals/one`, 'git', object(GLOBAL, { a: '1' }), {
        until: (answer) => answer.status !== 404,
      }),
      apply(
        'a namespace in the object is dropped',
        `/apis/${GROUP}/v1/globals/two`,
        'git',
        object(GLOBAL, { a: '1' }, { name: 'two', namespace: 'default' }),
      ),
      read('through a namespace it is not found', `${GLOBAL.path}/one`),
    ],
  },
];

function lifeOf(body: Json): Json | undefined {
  const items = at(body, '/items');
  const group = Array.isArray(items) ? items.find((item) => at(item, '/metadata/name') === GROUP) : undefined;
  const resources = at(group, '/versions/0/resources');
  return Array.isArray(resources) ? resources.find((one) => at(one, '/responseKind/kind') === 'Life') : undefined;
}

/** The entries of one second have no order of their own. */
function byManager(body: Json): Json {
  const entries = at(body, '/metadata/managedFields') as JsonObject[];
  const sorted = [...entries].sort((a, b) => String(a.manager).localeCompare(String(b.manager)));
  return { ...(body as JsonObject), metadata: { ...(at(body, '/metadata') as JsonObject), managedFields: sorted } };
}

function withoutAges(body: Json): Json {
  const rows = at(body, '/rows');
  if (!Array.isArray(rows)) return body;
  return {
    ...(body as JsonObject),
    rows: rows.map((row) => ({
      cells: (at(row, '/cells') as Json[]).map((cell, index) =>
        index === 10 || (index === 5 && /^\d+y/.test(String(cell))) ? '<age>' : cell,
      ),
    })),
  };
}
