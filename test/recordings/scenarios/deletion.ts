// How objects go: preconditions, finalizers, owners, namespaces.

import type { JsonObject } from '#std/json.ts';
import type { Answer, Scenario, Step } from '../scenario.ts';
import { apply, at, create, MERGE_PATCH, patch, read, remove } from '../scenario.ts';
import * as o from './objects.ts';

const ONE = `${o.CONFIG_MAPS}/one`;
const CHILD = `${o.CONFIG_MAPS}/child`;
const OTHER_UID = 'aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee';

function gone(answer: Answer): boolean {
  return answer.status === 404;
}

function options(fields: JsonObject): JsonObject {
  return { apiVersion: 'v1', kind: 'DeleteOptions', ...fields };
}

function family(child: JsonObject = {}): Step[] {
  return [
    create('the owner', o.CONFIG_MAPS, o.configMap('one', {}), { save: { owner: '/metadata/uid' } }),
    create(
      'what it owns',
      o.CONFIG_MAPS,
      o.configMap(
        'child',
        {},
        {
          ownerReferences: [
            {
              apiVersion: 'v1',
              kind: 'ConfigMap',
              name: 'one',
              uid: '${owner}',
              controller: true,
              blockOwnerDeletion: true,
            },
          ],
          ...child,
        },
      ),
    ),
  ];
}

export const DELETION_SCENARIOS: readonly Scenario[] = [
  {
    name: 'delete-preconditions',
    about: 'uid and resourceVersion as preconditions of a deletion.',
    ticks: true,
    steps: [
      create('an object', o.CONFIG_MAPS, o.configMap('one', { a: '1' }), {
        save: { uid: '/metadata/uid', version: '/metadata/resourceVersion' },
      }),
      remove('a wrong uid is a conflict', ONE, { body: options({ preconditions: { uid: OTHER_UID } }) }),
      patch('the object moves on', ONE, MERGE_PATCH, { data: { a: '2' } }),
      remove('an old resourceVersion is a conflict', ONE, {
        body: options({ preconditions: { resourceVersion: '${version}' } }),
      }),
      remove('options that are no DeleteOptions', ONE, { body: { kind: 'ConfigMap', apiVersion: 'v1' } }),
      remove('an unknown policy', ONE, { body: options({ propagationPolicy: 'Sideways' }) }),
      remove('the policy in the query and in the body', ONE, {
        query: { propagationPolicy: 'Background' },
        body: options({ preconditions: { uid: '${uid}' } }),
      }),
      remove('once gone, it is not found', ONE, { body: options({ preconditions: { uid: '${uid}' } }) }),
    ],
  },
  {
    name: 'delete-finalizer',
    about: 'An object with a finalizer stays until the finalizer is taken away.',
    ticks: true,
    steps: [
      create('an object', o.CONFIG_MAPS, o.configMap('one', { a: '1' }, { finalizers: ['example.com/hold'] })),
      remove('deleting answers with the object, which has a deletionTimestamp', ONE),
      remove('deleting again changes nothing', ONE),
      create('its name is taken', o.CONFIG_MAPS, o.configMap('one', {})),
      patch('it may be changed', ONE, MERGE_PATCH, { data: { a: '2' } }),
      patch('the deletionTimestamp cannot be taken back', ONE, MERGE_PATCH, { metadata: { deletionTimestamp: null } }),
      patch('without finalizers it goes', ONE, MERGE_PATCH, { metadata: { finalizers: null } }),
      read('it is gone', ONE),
      create('a new object of that name has another uid', o.CONFIG_MAPS, o.configMap('one', {})),
    ],
  },
  {
    name: 'delete-foreground',
    about: 'Foreground: what blocks goes first, then the owner.',
    ticks: true,
    steps: [
      ...family({ finalizers: ['example.com/hold'] }),
      remove('the owner gets the finalizer foregroundDeletion', ONE, {
        body: options({ propagationPolicy: 'Foreground' }),
      }),
      read('what it owns is being deleted', CHILD, {
        until: (answer) => at(answer.body, '/metadata/deletionTimestamp') !== undefined,
        calmMs: 300,
      }),
      read('the owner waits for it', ONE),
      patch('the child is let go', CHILD, MERGE_PATCH, { metadata: { finalizers: null } }),
      read('then the owner goes', ONE, { until: gone }),
    ],
  },
  {
    name: 'delete-background',
    about: 'Background: the owner goes at once, what it owns is collected.',
    ticks: true,
    steps: [
      ...family(),
      remove('the owner is gone at once', ONE, { body: options({ propagationPolicy: 'Background' }) }),
      read('the owner is not found', ONE),
      read('what it owned is collected', CHILD, { until: gone }),
    ],
  },
  {
    name: 'delete-orphan',
    about: 'Orphan: what the owner had stays, without its owner.',
    ticks: true,
    steps: [
      ...family(),
      remove('the owner gets the finalizer orphan', ONE, { body: options({ propagationPolicy: 'Orphan' }) }),
      read('the owner goes', ONE, { until: gone }),
      read('what it owned stays', CHILD, {
        until: (answer) => at(answer.body, '/metadata/ownerReferences') === undefined,
        calmMs: 500,
      }),
    ],
  },
  {
    name: 'delete-default-policy',
    about: 'Which policy a kind has where the request names none.',
    ticks: true,
    steps: [
      ...family(),
      remove('a ConfigMap: background', ONE),
      read('what it owned is collected', CHILD, { until: gone }),
      create('a Role', o.ROLES, o.role('one', [])),
      remove('deleting a Role answers with a Status', `${o.ROLES}/one`),
      create('a ServiceAccount', o.SERVICE_ACCOUNTS, {
        apiVersion: 'v1',
        kind: 'ServiceAccount',
        metadata: { name: 'one' },
      }),
      remove('deleting a ServiceAccount answers with the object', `${o.SERVICE_ACCOUNTS}/one`),
    ],
  },
  {
    name: 'owner-that-never-was',
    about: 'An owner that does not exist: what it is said to own is collected.',
    steps: [
      create(
        'a child of nothing',
        o.CONFIG_MAPS,
        o.configMap(
          'child',
          {},
          {
            ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'none', uid: OTHER_UID }],
          },
        ),
      ),
      read('it is collected', CHILD, { until: gone }),
      create('another uid of the name', o.CONFIG_MAPS, o.configMap('one', {})),
      create(
        'is another owner',
        o.CONFIG_MAPS,
        o.configMap(
          'child',
          {},
          {
            ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'one', uid: OTHER_UID }],
          },
        ),
      ),
      read('so it is collected too', CHILD, { until: gone }),
    ],
  },
  {
    name: 'delete-collection',
    about: 'Deleting what a selector matches.',
    ticks: true,
    steps: [
      create('one', o.CONFIG_MAPS, o.configMap('one', {}, { labels: { set: 'x' } })),
      create('two', o.CONFIG_MAPS, o.configMap('two', {}, { labels: { set: 'x' } })),
      create('three', o.CONFIG_MAPS, o.configMap('three', {}, { labels: { set: 'y' } })),
      remove('two of three', o.CONFIG_MAPS, { query: { labelSelector: 'set=x' } }),
      read('one is left', o.CONFIG_MAPS, { query: { labelSelector: 'set' } }),
    ],
  },
  {
    name: 'delete-namespace',
    about: 'A namespace goes when its content is gone; until then nothing new gets in.',
    outside: ['/api/v1/namespaces/rec-delete-namespace-inner'],
    ticks: true,
    steps: [
      create('a namespace', '/api/v1/namespaces', {
        apiVersion: 'v1',
        kind: 'Namespace',
        metadata: { name: '${ns}-inner' },
      }),
      create(
        'something that holds it',
        '/api/v1/namespaces/${ns}-inner/configmaps',
        o.configMap('held', {}, { finalizers: ['example.com/hold'] }),
      ),
      remove('deleting the namespace', '/api/v1/namespaces/${ns}-inner'),
      read('its content is being deleted', '/api/v1/namespaces/${ns}-inner/configmaps/held', {
        until: (answer) => at(answer.body, '/metadata/deletionTimestamp') !== undefined,
      }),
      create(
        'nothing new gets in: 403 with a cause',
        '/api/v1/namespaces/${ns}-inner/configmaps',
        o.configMap('late', {}),
      ),
      create('not even as a dry run', '/api/v1/namespaces/${ns}-inner/configmaps', o.configMap('late', {}), {
        query: { dryRun: 'All' },
      }),
      apply('nor by apply', '/api/v1/namespaces/${ns}-inner/configmaps/late', 'git', o.configMap('late', {})),
      patch('what is there may be changed', '/api/v1/namespaces/${ns}-inner/configmaps/held', MERGE_PATCH, {
        data: { a: '1' },
      }),
      remove('deleting the namespace again changes nothing', '/api/v1/namespaces/${ns}-inner', {
        pick: (body) => at(body, '/status/phase') ?? body,
      }),
      create('the name is taken', '/api/v1/namespaces', {
        apiVersion: 'v1',
        kind: 'Namespace',
        metadata: { name: '${ns}-inner' },
      }),
      patch('let it go', '/api/v1/namespaces/${ns}-inner/configmaps/held', MERGE_PATCH, {
        metadata: { finalizers: null },
      }),
      read('the namespace is gone', '/api/v1/namespaces/${ns}-inner', { until: gone }),
      create(
        'nothing can be made in what is gone',
        '/api/v1/namespaces/${ns}-inner/configmaps',
        o.configMap('late', {}),
      ),
    ],
  },
  {
    name: 'delete-namespace-foreground',
    about: 'A namespace deleted in the foreground still waits for its content.',
    outside: ['/api/v1/namespaces/rec-delete-namespace-foreground-inner'],
    ticks: true,
    steps: [
      create('a namespace', '/api/v1/namespaces', {
        apiVersion: 'v1',
        kind: 'Namespace',
        metadata: { name: '${ns}-inner' },
      }),
      create(
        'something that holds it',
        '/api/v1/namespaces/${ns}-inner/configmaps',
        o.configMap('held', {}, { finalizers: ['example.com/hold'] }),
      ),
      remove('deleting the namespace sets the finalizer of the foreground', '/api/v1/namespaces/${ns}-inner', {
        body: options({ propagationPolicy: 'Foreground' }),
      }),
      read(
        'nothing belongs to it by owner reference, so that finalizer goes, and the namespace stays',
        '/api/v1/namespaces/${ns}-inner',
        {
          until: (answer) => at(answer.body, '/metadata/finalizers') === undefined,
          calmMs: 1000,
          pick: (body) => ({ spec: at(body, '/spec') ?? null, phase: at(body, '/status/phase') ?? null }),
        },
      ),
      patch(
        'let the content go',
        '/api/v1/namespaces/${ns}-inner/configmaps/held',
        MERGE_PATCH,
        { metadata: { finalizers: null } },
        { pick: (body) => at(body, '/metadata/name') ?? null },
      ),
      read('then the namespace goes', '/api/v1/namespaces/${ns}-inner', { until: gone }),
    ],
  },
];
