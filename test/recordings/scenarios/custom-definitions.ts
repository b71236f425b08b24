// CustomResourceDefinitions: what they may say, how their kinds are served, discovered and shown.

import type { Json, JsonObject } from '#std/json.ts';
import type { Scenario, Step } from '../scenario.ts';
import { apply, at, create, MERGE_PATCH, patch, read, remove, replace, STRATEGIC_PATCH } from '../scenario.ts';
import { type Custom, custom, define, GROUP, isEstablished, nothing, object, TABLE, text } from './custom-kind.ts';
import { withoutDescriptions } from './documentation.ts';
import * as o from './objects.ts';

/** A definition tried in a dry run. */
function tried(reason: string, spec: JsonObject, more: Partial<o.CrdOptions> = {}): Step {
  const schema = { type: 'object', properties: { spec } };
  const body = o.crd({ group: GROUP, kind: 'Refused', plural: 'refuseds', schema, ...more });
  return create(reason, o.CRDS, body, { query: { dryRun: 'All', fieldValidation: 'Strict' }, pick: nothing });
}

function definitionOf({ kind, plural }: Custom, spec: JsonObject): JsonObject {
  return o.crd({ group: GROUP, kind, plural, schema: { type: 'object', properties: { spec } } });
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
const APPLIED = custom('Applied');
const PRINTED = custom('Printed');
const VERSIONED = custom('Versioned');
const GLOBAL = custom('Global');

const SCHEMA: JsonObject = { type: 'object', properties: { a: text, replicas: { type: 'integer' } } };
const REPORT: JsonObject = { type: 'object', properties: { a: text } };
const STATUS: JsonObject = {
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

export const DEFINITION_SCENARIOS: readonly Scenario[] = [
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
      read('it is established', LIFE.definition, { until: isEstablished, calmMs: 1000 }),
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
        pick: (body) => withoutDescriptions(at(body, '/components/schemas/com.example.recordings.v1.Life') ?? null),
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
    name: 'custom-applied-definition',
    about: 'A definition that is applied: again, changed, and with a version more.',
    outside: [APPLIED.definition],
    ticks: true,
    steps: [
      apply('applied', APPLIED.definition, 'git', definitionOf(APPLIED, SCHEMA)),
      read('it is established', APPLIED.definition, { until: isEstablished, calmMs: 1000 }),
      apply('applied again: nothing is written', APPLIED.definition, 'git', definitionOf(APPLIED, SCHEMA)),
      apply('another schema moves the generation', APPLIED.definition, 'git', definitionOf(APPLIED, REPORT)),
      apply(
        'the definition of another manager is a conflict',
        APPLIED.definition,
        'ops',
        definitionOf(APPLIED, SCHEMA),
      ),
      apply('a plural that is taken by another name', `${o.CRDS}/others.${GROUP}`, 'git', {
        ...definitionOf(APPLIED, SCHEMA),
        metadata: { name: `others.${GROUP}` },
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
          schema: { status: STATUS },
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
      ...define(VERSIONED, SCHEMA, {
        spec: {
          versions: [
            {
              name: 'v1',
              served: true,
              storage: true,
              schema: { openAPIV3Schema: { type: 'object', properties: { spec: SCHEMA } } },
              selectableFields: [{ jsonPath: '.spec.a' }],
            },
            {
              name: 'v1beta1',
              served: true,
              storage: false,
              deprecated: true,
              schema: {
                openAPIV3Schema: { type: 'object', properties: { spec: SCHEMA, status: STATUS } },
              },
            },
            {
              name: 'v1alpha1',
              served: false,
              storage: false,
              schema: { openAPIV3Schema: { type: 'object', properties: { spec: SCHEMA } } },
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
      ...[define(GLOBAL, SCHEMA, { scope: 'Cluster' })].flatMap((steps) => steps.slice(0, 2)),
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

function withoutAges(body: Json): Json {
  const rows = at(body, '/rows');
  const columns = at(body, '/columnDefinitions');
  if (!Array.isArray(rows) || !Array.isArray(columns)) return body;
  const [name = null, ...own] = columns;
  return {
    ...(body as JsonObject),
    columnDefinitions: [withoutDescriptions(name), ...own],
    rows: rows.map((row) => ({
      cells: (at(row, '/cells') as Json[]).map((cell, index) =>
        index === 10 || (index === 5 && /^\d+y/.test(String(cell))) ? '<age>' : cell,
      ),
    })),
  };
}
