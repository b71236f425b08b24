// Writes to objects of custom kinds: status, generation, server-side apply.

import type { JsonObject } from '#std/json.ts';
import type { Scenario } from '../scenario.ts';
import { apply, create, MERGE_PATCH, patch, read, replace } from '../scenario.ts';
import { custom, define, GROUP, object, text } from './custom-kind.ts';

const REPORTED = custom('Reported');
const PLAIN = custom('Plain');
const MERGED = custom('Merged');

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

export const CUSTOM_WRITE_SCENARIOS: readonly Scenario[] = [
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
];
