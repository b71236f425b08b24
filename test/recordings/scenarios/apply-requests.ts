// Server-side apply as a request: preconditions, what is refused, subresources, values that mean nothing.

import type { JsonObject } from '#std/json.ts';
import type { Scenario } from '../scenario.ts';
import { apply, MERGE_PATCH, patch, read, remove, replace, settle } from '../scenario.ts';
import { deploymentSettled } from './controllers.ts';
import * as o from './objects.ts';

const ONE = `${o.CONFIG_MAPS}/one`;
const SERVICE = `${o.SERVICES}/one`;
const DEPLOYMENT = `${o.DEPLOYMENTS}/one`;

export const APPLY_REQUEST_SCENARIOS: readonly Scenario[] = [
  {
    name: 'apply-preconditions',
    about: 'A uid or a resourceVersion in the applied object is a precondition; they fail differently.',
    ticks: true,
    steps: [
      apply('a manager creates', ONE, 'git', o.configMap('one', { a: '1' }), {
        save: { uid: '/metadata/uid', version: '/metadata/resourceVersion' },
      }),
      apply('the right uid', ONE, 'git', o.configMap('one', { a: '2' }, { uid: '${uid}' })),
      apply(
        'a wrong uid is an invalid value, not a conflict',
        ONE,
        'git',
        o.configMap('one', { a: '3' }, { uid: 'aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee' }),
      ),
      apply(
        'so with force',
        ONE,
        'git',
        o.configMap('one', { a: '3' }, { uid: 'aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee' }),
        { force: true },
      ),
      apply(
        'an old resourceVersion is a conflict',
        ONE,
        'git',
        o.configMap('one', { a: '3' }, { resourceVersion: '${version}' }),
      ),
      apply(
        'a uid for an object that does not exist is a conflict',
        `${o.CONFIG_MAPS}/none`,
        'git',
        o.configMap('none', { a: '3' }, { uid: '${uid}' }),
      ),
      apply(
        'a resourceVersion for an object that does not exist is ignored',
        `${o.CONFIG_MAPS}/none`,
        'git',
        o.configMap('none', { a: '3' }, { resourceVersion: '${version}' }),
      ),
    ],
  },
  {
    name: 'apply-refused',
    about: 'Apply requests that are wrong in themselves.',
    steps: [
      {
        reason: 'apply needs a field manager',
        method: 'PATCH',
        path: ONE,
        contentType: 'application/apply-patch+yaml',
        body: o.configMap('one', {}),
      },
      apply('a field manager has at most 128 characters', ONE, 'm'.repeat(129), o.configMap('one', {})),
      apply('a field manager is printable', ONE, 'a\u0001b', o.configMap('one', {})),
      apply(
        'managedFields must not be applied',
        ONE,
        'git',
        o.configMap('one', {}, { managedFields: [{ manager: 'x', operation: 'Apply' }] }),
      ),
      apply('the name in the object must be that of the URL', ONE, 'git', o.configMap('two', {})),
      apply(
        'the namespace in the object must be that of the URL',
        ONE,
        'git',
        o.configMap('one', {}, { namespace: 'default' }),
      ),
      apply('the kind must be that of the URL', ONE, 'git', {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'one' },
      }),
      apply('the apiVersion must be that of the URL', ONE, 'git', {
        apiVersion: 'v2',
        kind: 'ConfigMap',
        metadata: { name: 'one' },
      }),
      apply('an object without apiVersion', ONE, 'git', { kind: 'ConfigMap', metadata: { name: 'one' } }),
      apply('the object must have a name', ONE, 'git', { apiVersion: 'v1', kind: 'ConfigMap', data: { a: '1' } }),
      apply('dryRun takes only All', ONE, 'git', o.configMap('one', {}), { query: { dryRun: 'Some' } }),
      {
        reason: 'force belongs to apply',
        method: 'PATCH',
        path: ONE,
        contentType: MERGE_PATCH,
        query: { force: 'true' },
        body: { data: { a: '1' } },
      },
      apply('a namespace that does not exist', '/api/v1/namespaces/none/configmaps/one', 'git', o.configMap('one', {})),
      {
        reason: 'text that is no YAML',
        method: 'PATCH',
        path: ONE,
        contentType: 'application/apply-patch+yaml',
        query: { fieldManager: 'git' },
        text: 'a: [',
      },
      {
        reason: 'YAML is taken',
        method: 'PATCH',
        path: `${o.CONFIG_MAPS}/yaml`,
        contentType: 'application/apply-patch+yaml',
        query: { fieldManager: 'git' },
        text: 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: yaml\ndata:\n  a: "1" # a comment\n',
      },
      apply('a value of the wrong type is a 500 without a reason', ONE, 'git', {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'one' },
        data: { a: 1 },
      }),
      apply('so is a list in the place of a map', ONE, 'git', {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'one' },
        data: ['a'],
      }),
      apply('and a field that the kind does not have', ONE, 'git', {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'one' },
        datum: {},
      }),
      apply('an invalid name', `${o.CONFIG_MAPS}/One_`, 'git', o.configMap('One_', {})),
      apply('an invalid label', ONE, 'git', o.configMap('one', {}, { labels: { app: 'not valid!' } })),
      apply('an invalid key of data', ONE, 'git', o.configMap('one', { 'a/b': '1' })),
    ],
  },
  {
    name: 'apply-empty-values',
    about: 'null, empty maps and empty lists in an apply: owned or not, stored or not.',
    ticks: true,
    steps: [
      apply('empty maps of metadata are dropped but owned', ONE, 'git', {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'one', labels: {}, annotations: {} },
        data: {},
      }),
      apply('nulls', `${o.CONFIG_MAPS}/nulls`, 'git', {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'nulls', labels: null },
        data: { a: null, b: '2' },
      }),
      apply('an empty string is a value', `${o.CONFIG_MAPS}/empty`, 'git', o.configMap('empty', { a: '' })),
      apply('an empty list map is not owned', SERVICE, 'git', o.service('one', { clusterIP: 'None', ports: [] })),
      apply(
        'false and zero of a typed kind are dropped but owned',
        DEPLOYMENT,
        'git',
        o.deployment(
          'one',
          [{ name: 'mcp', image: 'a:1', tty: false, env: [], ports: [{ containerPort: 80, hostPort: 0 }] }],
          { paused: false, minReadySeconds: 0 },
        ),
        { query: { dryRun: 'All' } },
      ),
    ],
  },
  {
    name: 'apply-secret',
    about: 'A Secret applied with stringData: owned as stringData, stored as data.',
    ticks: true,
    steps: [
      apply('stringData', `${o.SECRETS}/one`, 'git', {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'one' },
        stringData: { a: 'x', b: 'y' },
      }),
      apply('a key dropped from stringData stays in data', `${o.SECRETS}/one`, 'git', {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'one' },
        stringData: { a: 'x' },
      }),
      apply('data is pruned', `${o.SECRETS}/two`, 'git', {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'two' },
        data: { a: 'eA==', b: 'eQ==' },
      }),
      apply('to what is left', `${o.SECRETS}/two`, 'git', {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'two' },
        data: { a: 'eA==' },
      }),
      apply('the type is immutable', `${o.SECRETS}/two`, 'git', {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'two' },
        type: 'example.com/x',
        data: { a: 'eA==' },
      }),
      apply('what is not base64 is a 500', `${o.SECRETS}/two`, 'git', {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'two' },
        data: { a: '?' },
      }),
      apply('an immutable Secret', `${o.SECRETS}/three`, 'git', {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'three' },
        immutable: true,
        data: { a: 'eA==' },
      }),
      apply('cannot be changed', `${o.SECRETS}/three`, 'git', {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'three' },
        immutable: true,
        data: { a: 'eQ==' },
      }),
    ],
  },
  {
    name: 'apply-status',
    about: 'The status subresource is applied for itself: it has an entry of its own.',
    ticks: true,
    steps: [
      apply('the object', SERVICE, 'git', o.service('one', { type: 'ClusterIP', clusterIP: 'None' })),
      apply(
        'its status, by the same manager: an entry with the subresource; spec is ignored, labels are not',
        `${SERVICE}/status`,
        'git',
        {
          apiVersion: 'v1',
          kind: 'Service',
          metadata: { name: 'one', labels: { written: 'no' } },
          spec: { sessionAffinity: 'ClientIP' },
          status: {
            conditions: [
              { type: 'Ready', status: 'True', reason: 'Up', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' },
            ],
          },
        },
      ),
      apply('a status through the object is ignored, yet the entry gets a new time', SERVICE, 'git', {
        ...o.service('one', { type: 'ClusterIP', clusterIP: 'None' }),
        status: {
          conditions: [
            { type: 'Ready', status: 'False', reason: 'Down', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' },
          ],
        },
      }),
      apply('a condition of another manager beside it', `${SERVICE}/status`, 'ops', {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { name: 'one' },
        status: {
          conditions: [
            { type: 'Synced', status: 'True', reason: 'Up', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' },
          ],
        },
      }),
      patch(
        'a status that does not fit the spec is invalid',
        `${SERVICE}/status`,
        MERGE_PATCH,
        { status: { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } } },
        {
          query: { fieldManager: 'editor' },
        },
      ),
      read('the status subresource reads as the object', `${SERVICE}/status`),
      apply('a status of what is not there is tried as a creation', `${o.SERVICES}/none/status`, 'git', {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { name: 'none' },
        status: {},
      }),
    ],
  },
  {
    name: 'apply-scale',
    about: 'A write through the scale subresource takes the replicas out of the entry of Apply.',
    ticks: true,
    steps: [
      apply('a Deployment', DEPLOYMENT, 'git', o.deployment('one', [{ name: 'mcp', image: 'a:1' }])),
      settle('the controller has written the status', DEPLOYMENT, deploymentSettled),
      read('its scale', `${DEPLOYMENT}/scale`, { save: { scale: '' } }),
      replace(
        'replaced by somebody',
        `${DEPLOYMENT}/scale`,
        (saved) => ({ ...(saved.scale as JsonObject), spec: { replicas: 1 } }),
        {
          query: { fieldManager: 'scaler', dryRun: 'All' },
        },
      ),
    ],
  },
  {
    name: 'apply-terminating',
    about: 'Applying to an object that is being deleted.',
    ticks: true,
    steps: [
      apply(
        'an object with a finalizer',
        ONE,
        'git',
        o.configMap('one', { a: '1' }, { finalizers: ['example.com/hold'] }),
      ),
      remove('deleting it sets the deletionTimestamp and answers with the object', ONE),
      apply(
        'its data may still change',
        ONE,
        'git',
        o.configMap('one', { a: '2' }, { finalizers: ['example.com/hold'] }),
      ),
      apply(
        'a new finalizer may not be added',
        ONE,
        'git',
        o.configMap('one', { a: '2' }, { finalizers: ['example.com/hold', 'example.com/more'] }),
      ),
      apply('without its last finalizer it goes', ONE, 'git', o.configMap('one', { a: '2' })),
      read('it is gone', ONE),
    ],
  },
];
