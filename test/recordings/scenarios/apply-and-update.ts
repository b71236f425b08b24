// Server-side apply among other writes: what becomes of managedFields when both kinds of managers write one object.

import type { Json, JsonObject } from '#std/json.ts';
import type { Scenario } from '../scenario.ts';
import { apply, create, MERGE_PATCH, patch, replace } from '../scenario.ts';
import * as o from './objects.ts';

const ONE = `${o.CONFIG_MAPS}/one`;

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';
const LAST =
  '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"annotations":{},"name":"one"},"data":{"a":"1","b":"2"}}\n';

function withData(live: Json | undefined, data: JsonObject, metadata: JsonObject = {}): JsonObject {
  const object = live as JsonObject;
  return { ...object, metadata: { ...(object.metadata as JsonObject), ...metadata }, data };
}

function withoutManagers(object: JsonObject): JsonObject {
  const { managedFields: _dropped, ...metadata } = object.metadata as JsonObject;
  return { ...object, metadata };
}

export const APPLY_AND_UPDATE_SCENARIOS: readonly Scenario[] = [
  {
    name: 'apply-after-update',
    about: 'A manager applies to an object that others have created and patched.',
    ticks: true,
    steps: [
      create('somebody creates', o.CONFIG_MAPS, o.configMap('one', { a: '1', b: '2' }), {
        query: { fieldManager: 'editor' },
      }),
      apply('applying the same values: co-owner beside the Update entry', ONE, 'git', o.configMap('one', { a: '1' })),
      apply(
        'another value conflicts with the Update entry: the cause names the version that it was written in',
        ONE,
        'git',
        o.configMap('one', { a: '1', b: 'x' }),
      ),
      apply('force takes the field from the Update entry', ONE, 'git', o.configMap('one', { a: '1', b: 'x' }), {
        force: true,
      }),
      patch(
        'the manager that applies patches too: a second entry of its name, without what is the same',
        ONE,
        MERGE_PATCH,
        { data: { b: 'y', c: '3' } },
        {
          query: { fieldManager: 'git' },
        },
      ),
      apply('its own Update entry is a conflict like any other', ONE, 'git', o.configMap('one', { a: '1', b: 'z' })),
      apply(
        'with the same value there is none, and both entries own it',
        ONE,
        'git',
        o.configMap('one', { a: '1', b: 'y' }),
      ),
      apply(
        'a field that the Update entry owns too survives when the apply drops it',
        ONE,
        'git',
        o.configMap('one', { a: '1' }),
      ),
    ],
  },
  {
    name: 'update-after-apply',
    about: 'Others write to an object that was applied: what they change is taken out of the entry of Apply.',
    ticks: true,
    steps: [
      apply(
        'a manager applies',
        ONE,
        'git',
        o.configMap('one', { a: '1', b: '2' }, { labels: { app: 'x' }, annotations: { note: 'n' } }),
        { save: { live: '' } },
      ),
      patch(
        'a merge patch takes the field that it changes',
        ONE,
        MERGE_PATCH,
        { data: { a: 'patched' } },
        { query: { fieldManager: 'editor' } },
      ),
      patch(
        'a patch with the value that is there changes nothing',
        ONE,
        MERGE_PATCH,
        { data: { b: '2' } },
        { query: { fieldManager: 'editor' } },
      ),
      patch(
        'a patch that removes a field takes it from everybody',
        ONE,
        MERGE_PATCH,
        { data: { b: null } },
        { query: { fieldManager: 'editor' }, save: { live: '' } },
      ),
      replace('a replacement adds a key: a new entry', ONE, (saved) => withData(saved.live, { a: 'patched', c: '3' }), {
        query: { fieldManager: 'writer' },
        save: { live: '' },
      }),
      replace(
        'the same manager again: the same entry',
        ONE,
        (saved) => withData(saved.live, { a: 'patched', c: '4', d: '5' }),
        {
          query: { fieldManager: 'writer' },
          save: { live: '' },
        },
      ),
      replace(
        'a replacement that says nothing of managedFields keeps them',
        ONE,
        (saved) => withoutManagers(withData(saved.live, { a: 'patched', c: '4', d: '6' })),
        {
          query: { fieldManager: 'writer' },
          save: { live: '' },
        },
      ),
      apply(
        'the first manager applies again: in conflict with both',
        ONE,
        'git',
        o.configMap('one', { a: '1', c: '1' }),
      ),
      apply('and forces', ONE, 'git', o.configMap('one', { a: '1', c: '1' }), { force: true, save: { live: '' } }),
      replace(
        'a replacement with an empty list of managedFields wipes them',
        ONE,
        (saved) => withData(saved.live, { e: '7' }, { managedFields: [] as Json[] }),
        {
          query: { fieldManager: 'writer' },
        },
      ),
    ],
  },
  {
    name: 'apply-before-first-apply',
    about: 'An object whose managedFields were wiped: the next write attributes what is there to before-first-apply.',
    ticks: true,
    steps: [
      create('an object', o.CONFIG_MAPS, o.configMap('one', { a: '1', b: '2' }, { labels: { app: 'x' } })),
      patch('one empty entry wipes all of them', ONE, MERGE_PATCH, { metadata: { managedFields: [{}] } }),
      apply('the first apply after that adds before-first-apply', ONE, 'git', o.configMap('one', { a: '1' })),
      apply('another value is a conflict with before-first-apply', ONE, 'git', o.configMap('one', { a: '1', b: 'x' })),
      apply('which force resolves', ONE, 'git', o.configMap('one', { a: '1', b: 'x' }), { force: true }),
      create('a second object', o.CONFIG_MAPS, o.configMap('two', { a: '1' })),
      patch('wiped too', `${o.CONFIG_MAPS}/two`, MERGE_PATCH, { metadata: { managedFields: [{}] } }),
      patch(
        'a patch to an object without entries does not track anything',
        `${o.CONFIG_MAPS}/two`,
        MERGE_PATCH,
        { data: { b: '2' } },
        {
          query: { fieldManager: 'editor' },
        },
      ),
    ],
  },
  {
    name: 'apply-after-client-side-apply',
    about: 'An object that kubectl applied in the client: its annotation stands for what it owns.',
    ticks: true,
    steps: [
      create(
        'as kubectl apply creates it',
        o.CONFIG_MAPS,
        o.configMap('one', { a: '1', b: '2' }, { annotations: { [LAST_APPLIED]: LAST } }),
        {
          query: { fieldManager: 'kubectl-client-side-apply' },
        },
      ),
      apply('for any other manager it is a conflict', ONE, 'git', o.configMap('one', { a: 'x' })),
      apply(
        'for the manager kubectl it is none, and the annotation follows',
        ONE,
        'kubectl',
        o.configMap('one', { a: 'x', b: '2' }),
      ),
      apply('another manager adds a field', ONE, 'git', o.configMap('one', { c: '3' })),
      apply('which is a conflict for kubectl too', ONE, 'kubectl', o.configMap('one', { a: 'x', b: '2', c: '4' })),
    ],
  },
  {
    name: 'update-many-managers',
    about: 'More than ten managers that update: the oldest ones become one entry.',
    ticks: true,
    steps: [
      create('an object', o.CONFIG_MAPS, o.configMap('one', { a: '1' })),
      ...Array.from({ length: 12 }, (_, index) =>
        patch(
          `manager ${index + 1}`,
          ONE,
          MERGE_PATCH,
          { data: { [`k${index + 1}`]: 'x' } },
          { query: { fieldManager: `manager-${index + 1}` } },
        ),
      ),
    ],
  },
];
