// Objects of custom kinds against their schemas: validation, defaults, pruning, CEL rules.

import type { JsonObject } from '#std/json.ts';
import type { Scenario, Step } from '../scenario.ts';
import { apply, create, MERGE_PATCH, patch } from '../scenario.ts';
import { custom, DRY, define, GROUP, object, text } from './custom-kind.ts';

const CHECKED = custom('Checked');
const DEFAULTED = custom('Defaulted');
const RULED = custom('Ruled');

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

export const CUSTOM_VALIDATION_SCENARIOS: readonly Scenario[] = [
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
              metadata: { name: 'x', labels: {} },
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
      create(
        'unknown metadata of an embedded resource is pruned too',
        DEFAULTED.path,
        object(
          DEFAULTED,
          { template: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'x', colour: 'red' } } },
          { name: 'last' },
        ),
      ),
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
];
