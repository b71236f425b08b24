import type { Scenario } from '../scenario.ts';
import { create, JSON_PATCH, MERGE_PATCH, patch, STRATEGIC_PATCH } from '../scenario.ts';
import * as o from './objects.ts';

const ONE = `${o.CONFIG_MAPS}/one`;
const SERVICE = `${o.SERVICES}/one`;

export const PATCH_SCENARIOS: readonly Scenario[] = [
  {
    name: 'merge-patch',
    about: 'JSON merge patch (RFC 7396).',
    ticks: true,
    steps: [
      create('an object', o.CONFIG_MAPS, o.configMap('one', { a: '1', b: '2' }, { labels: { app: 'x' } }), {
        save: { uid: '/metadata/uid', version: '/metadata/resourceVersion' },
      }),
      patch('change, add and remove', ONE, MERGE_PATCH, { data: { a: '9', b: null, c: '3' } }),
      patch('no change writes nothing', ONE, MERGE_PATCH, { data: { a: '9' } }),
      patch('null on a whole map', ONE, MERGE_PATCH, { metadata: { labels: null } }),
      patch('an old resourceVersion is a conflict', ONE, MERGE_PATCH, {
        metadata: { resourceVersion: '${version}' },
        data: { a: '10' },
      }),
      patch('a wrong uid is an invalid value', ONE, MERGE_PATCH, {
        metadata: { uid: 'aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee' },
        data: { a: '10' },
      }),
      patch('changes of creationTimestamp and generation are ignored', ONE, MERGE_PATCH, {
        metadata: { generation: 9, creationTimestamp: '2020-01-01T00:00:00Z' },
      }),
      patch('the name cannot be changed', ONE, MERGE_PATCH, { metadata: { name: 'two' } }),
      patch('a value of the wrong type', ONE, MERGE_PATCH, { data: { a: 1 } }),
      patch('a patch that is no object', ONE, MERGE_PATCH, ['a']),
      patch('what is not there', `${o.CONFIG_MAPS}/none`, MERGE_PATCH, { data: {} }),
      create(
        'a service',
        o.SERVICES,
        o.service('one', {
          clusterIP: 'None',
          ports: [
            { name: 'a', port: 1 },
            { name: 'b', port: 2 },
          ],
        }),
      ),
      patch('lists are replaced as a whole', SERVICE, MERGE_PATCH, { spec: { ports: [{ port: 3 }] } }),
    ],
  },
  {
    name: 'json-patch',
    about: 'JSON patch (RFC 6902).',
    ticks: true,
    steps: [
      create('an object', o.CONFIG_MAPS, o.configMap('one', { 'a.b': '1', c: '2' }, { finalizers: ['example.com/a'] })),
      patch('add, replace, remove', ONE, JSON_PATCH, [
        { op: 'add', path: '/metadata/labels', value: { app: 'x' } },
        { op: 'add', path: '/metadata/labels/example.com~1tier', value: 'edge' },
        { op: 'replace', path: '/data/a.b', value: '9' },
        { op: 'remove', path: '/data/c' },
      ]),
      patch('append to a list, move and copy', ONE, JSON_PATCH, [
        { op: 'add', path: '/metadata/finalizers/-', value: 'example.com/b' },
        { op: 'copy', from: '/data/a.b', path: '/data/copied' },
        { op: 'move', from: '/data/a.b', path: '/data/moved' },
      ]),
      patch('a test that holds', ONE, JSON_PATCH, [{ op: 'test', path: '/data/moved', value: '9' }]),
      patch('a test that fails', ONE, JSON_PATCH, [
        { op: 'test', path: '/data/moved', value: 'other' },
        { op: 'remove', path: '/data/moved' },
      ]),
      patch('removing what is not there', ONE, JSON_PATCH, [{ op: 'remove', path: '/data/none' }]),
      patch('adding below what is not there', ONE, JSON_PATCH, [{ op: 'add', path: '/none/x', value: '1' }]),
      patch('an operation that does not exist', ONE, JSON_PATCH, [{ op: 'increment', path: '/data/a' }]),
      patch('a patch that is no list', ONE, JSON_PATCH, { op: 'add' }),
      patch('remove the finalizers', ONE, JSON_PATCH, [{ op: 'remove', path: '/metadata/finalizers' }]),
    ],
  },
  {
    name: 'strategic-merge-patch',
    about: 'Strategic merge patch of built-in kinds: lists with merge keys, directives.',
    ticks: true,
    steps: [
      create(
        'a service',
        o.SERVICES,
        o.service('one', {
          clusterIP: 'None',
          selector: { a: '1' },
          ports: [
            { name: 'a', port: 1 },
            { name: 'b', port: 2 },
          ],
        }),
      ),
      patch('ports are merged by number', SERVICE, STRATEGIC_PATCH, {
        spec: {
          ports: [
            { port: 2, name: 'renamed' },
            { port: 3, name: 'c' },
          ],
        },
      }),
      patch('an item is deleted by directive', SERVICE, STRATEGIC_PATCH, {
        spec: { ports: [{ port: 1, $patch: 'delete' }] },
      }),
      patch('the order is set by directive', SERVICE, STRATEGIC_PATCH, {
        spec: { '$setElementOrder/ports': [{ port: 3 }, { port: 2 }], ports: [{ port: 3, targetPort: 30 }] },
      }),
      patch('a map is replaced by directive', SERVICE, STRATEGIC_PATCH, {
        spec: { selector: { $patch: 'replace', b: '2' } },
      }),
      patch('a key is deleted by null', SERVICE, STRATEGIC_PATCH, { spec: { selector: { b: null, c: '3' } } }),
      patch('a list is replaced by directive', SERVICE, STRATEGIC_PATCH, {
        spec: { ports: [{ $patch: 'replace' }, { port: 9, name: 'only' }] },
      }),
      create('an account', o.SERVICE_ACCOUNTS, {
        apiVersion: 'v1',
        kind: 'ServiceAccount',
        metadata: { name: 'one', finalizers: ['example.com/a', 'example.com/b'] },
      }),
      patch('items of a set are deleted by directive', `${o.SERVICE_ACCOUNTS}/one`, STRATEGIC_PATCH, {
        metadata: { '$deleteFromPrimitiveList/finalizers': ['example.com/a', 'example.com/b'] },
      }),
    ],
  },
];
