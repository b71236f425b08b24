// Create, replace and the three kinds of patch: conflicts, dry runs, unknown fields, generation, spellings.

import type { JsonObject } from '../../../src/std/json.ts';
import type { Scenario, Step } from '../scenario.ts';
import {
  apply,
  create,
  JSON_PATCH,
  MERGE_PATCH,
  patch,
  read,
  remove,
  replace,
  STRATEGIC_PATCH,
  settle,
} from '../scenario.ts';
import { deploymentSettled } from './controllers.ts';
import * as o from './objects.ts';

const ONE = `${o.CONFIG_MAPS}/one`;
const SERVICE = `${o.SERVICES}/one`;
const DEPLOYMENT = `${o.DEPLOYMENTS}/one`;
const DRY = { dryRun: 'All' };

function changed(live: JsonObject, fields: JsonObject, metadata: JsonObject = {}): JsonObject {
  return { ...live, metadata: { ...(live.metadata as JsonObject), ...metadata }, ...fields };
}

const TYPO: JsonObject = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'one', labls: { a: 'b' } },
  data: { a: '1' },
  datum: {},
};
const DUPLICATES = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"one"},"data":{"a":"1","a":"2"}}';
const MODES = ['Strict', 'Warn', 'Ignore'] as const;

function fieldValidation(): Step[] {
  return MODES.flatMap((mode) => [
    create(`create with unknown fields, ${mode}`, o.CONFIG_MAPS, TYPO, { query: { ...DRY, fieldValidation: mode } }),
    {
      reason: `create with a key twice, ${mode}`,
      method: 'POST' as const,
      path: o.CONFIG_MAPS,
      contentType: 'application/json',
      query: { ...DRY, fieldValidation: mode },
      text: DUPLICATES,
    },
    apply(
      `apply with an unknown field, ${mode}`,
      ONE,
      'git',
      { ...o.configMap('one', {}), datum: {} },
      { query: { ...DRY, fieldValidation: mode } },
    ),
    apply(`apply with an unknown field of metadata, ${mode}`, ONE, 'git', o.configMap('one', {}, { labls: {} }), {
      query: { ...DRY, fieldValidation: mode },
    }),
    patch(
      `merge patch with unknown fields, ${mode}`,
      `${o.CONFIG_MAPS}/kept`,
      MERGE_PATCH,
      { datum: {} },
      { query: { ...DRY, fieldValidation: mode } },
    ),
    replace(
      `replace with unknown fields, ${mode}`,
      `${o.CONFIG_MAPS}/kept`,
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'kept' }, datum: {} },
      { query: { ...DRY, fieldValidation: mode } },
    ),
  ]);
}

export const WRITE_SCENARIOS: readonly Scenario[] = [
  {
    name: 'replace-conflict',
    about: 'A replacement with an old resourceVersion is a conflict; without one it is not.',
    ticks: true,
    steps: [
      create('an object', o.CONFIG_MAPS, o.configMap('one', { a: '1' }), { save: { live: '' } }),
      replace('with the resourceVersion that is stored', ONE, (saved) =>
        changed(saved.live as JsonObject, { data: { a: '2' } }),
      ),
      replace('with the old one', ONE, (saved) => changed(saved.live as JsonObject, { data: { a: '3' } })),
      replace('a dry run conflicts too', ONE, (saved) => changed(saved.live as JsonObject, { data: { a: '3' } }), {
        query: { dryRun: 'All' },
      }),
      replace('without one', ONE, o.configMap('one', { a: '4' })),
      replace('with another uid', ONE, o.configMap('one', { a: '5' }, { uid: 'aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee' })),
      replace(
        'a resourceVersion that is no number is a 500',
        ONE,
        o.configMap('one', { a: '5' }, { resourceVersion: 'x' }),
      ),
      replace('what is not there', `${o.CONFIG_MAPS}/none`, o.configMap('none', {})),
      replace('another name than that of the URL', ONE, o.configMap('two', {})),
      create('so is a resourceVersion at creation', o.CONFIG_MAPS, o.configMap('two', {}, { resourceVersion: '1' })),
      create(
        'a uid at creation is ignored, a generation is not',
        o.CONFIG_MAPS,
        o.configMap('two', {}, { uid: 'aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee', generation: 7 }),
      ),
    ],
  },
  {
    name: 'create-names',
    about: 'How names come about and are refused.',
    steps: [
      create('a generated name', o.CONFIG_MAPS, {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { generateName: 'gen-' },
      }),
      create('neither name nor generateName', o.CONFIG_MAPS, { apiVersion: 'v1', kind: 'ConfigMap', metadata: {} }),
      create('a name that is none', o.CONFIG_MAPS, o.configMap('Not_A_Name', {})),
      create('a Service has a stricter name', o.SERVICES, o.service('a.b', { ports: [{ port: 80 }] })),
      create('another namespace than that of the URL', o.CONFIG_MAPS, o.configMap('one', {}, { namespace: 'default' })),
      create('a namespace that does not exist', '/api/v1/namespaces/rec-none/configmaps', o.configMap('one', {})),
      create('another kind than that of the URL', o.CONFIG_MAPS, {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'one' },
      }),
      create('another apiVersion than that of the URL', o.CONFIG_MAPS, {
        apiVersion: 'apps/v1',
        kind: 'ConfigMap',
        metadata: { name: 'one' },
      }),
      create('neither kind nor apiVersion: those of the URL', o.CONFIG_MAPS, { metadata: { name: 'bare' } }),
      create(
        'labels, annotations and finalizers are checked',
        o.CONFIG_MAPS,
        o.configMap(
          'one',
          {},
          {
            labels: { 'a/b/c': 'x', ok: `${'l'.repeat(64)}` },
            annotations: { '-': 'x' },
            finalizers: ['nodomain'],
          },
        ),
      ),
      create(
        'an ownerReference needs all its fields',
        o.CONFIG_MAPS,
        o.configMap('one', {}, { ownerReferences: [{ kind: 'ConfigMap', name: 'x' }] }),
      ),
    ],
  },
  {
    name: 'dry-run',
    about: 'dryRun=All of every write: the answer as if, and nothing stored.',
    ticks: true,
    steps: [
      create('an object', o.CONFIG_MAPS, o.configMap('one', { a: '1' }), { save: { live: '' } }),
      replace('replace', ONE, (saved) => changed(saved.live as JsonObject, { data: { a: '2' } }), { query: DRY }),
      patch('merge patch', ONE, MERGE_PATCH, { data: { a: '2' } }, { query: DRY }),
      patch('JSON patch', ONE, JSON_PATCH, [{ op: 'replace', path: '/data/a', value: '2' }], { query: DRY }),
      apply('apply that is a conflict', ONE, 'git', o.configMap('one', { a: '2' }), { query: DRY }),
      apply('forced apply', ONE, 'git', o.configMap('one', { a: '2' }), { query: DRY, force: true }),
      apply('apply that changes nothing but ownership', ONE, 'git', o.configMap('one', { a: '1' }), { query: DRY }),
      remove('delete', ONE, { query: DRY }),
      create('create what is there', o.CONFIG_MAPS, o.configMap('one', {}), { query: DRY }),
      create('create what is invalid', o.CONFIG_MAPS, o.configMap('One_', {}), { query: DRY }),
      read('all of that stored nothing', ONE),
      apply('the generation in a dry run counts on', `${o.NETWORK_POLICIES}/one`, 'git', {
        apiVersion: 'networking.k8s.io/v1',
        kind: 'NetworkPolicy',
        metadata: { name: 'one' },
        spec: { podSelector: {} },
      }),
      apply(
        'as if it were stored',
        `${o.NETWORK_POLICIES}/one`,
        'git',
        {
          apiVersion: 'networking.k8s.io/v1',
          kind: 'NetworkPolicy',
          metadata: { name: 'one' },
          spec: { podSelector: {}, policyTypes: ['Egress'] },
        },
        { query: DRY },
      ),
    ],
  },
  {
    name: 'field-validation',
    about: 'Unknown and duplicate fields of a built-in kind under the three modes of fieldValidation.',
    ticks: true,
    steps: [
      create('an object to write to', o.CONFIG_MAPS, o.configMap('kept', {})),
      ...fieldValidation(),
      create('the default is Warn', o.CONFIG_MAPS, TYPO, { query: DRY }),
      create('another mode is refused', o.CONFIG_MAPS, TYPO, { query: { ...DRY, fieldValidation: 'Sometimes' } }),
      create(
        'deep in a Deployment',
        o.DEPLOYMENTS,
        o.deployment('one', [{ name: 'a', image: 'a:1', imagePullPolice: 'Always', env: [{ name: 'X', valeu: '' }] }]),
        {
          query: { ...DRY, fieldValidation: 'Strict' },
        },
      ),
      apply(
        'and applied',
        DEPLOYMENT,
        'git',
        o.deployment('one', [{ name: 'a', image: 'a:1', imagePullPolice: 'Always' }]),
        {
          query: { ...DRY, fieldValidation: 'Strict' },
        },
      ),
    ],
  },
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
  {
    name: 'generation',
    about: 'What moves the generation, and what does not.',
    ticks: true,
    steps: [
      create('a kind with a spec starts at 1', o.NETWORK_POLICIES, {
        apiVersion: 'networking.k8s.io/v1',
        kind: 'NetworkPolicy',
        metadata: { name: 'one', generation: 5 },
        spec: { podSelector: {} },
      }),
      patch('labels do not move it', `${o.NETWORK_POLICIES}/one`, MERGE_PATCH, { metadata: { labels: { a: 'b' } } }),
      patch('the spec does', `${o.NETWORK_POLICIES}/one`, MERGE_PATCH, {
        spec: { policyTypes: ['Ingress', 'Egress'] },
      }),
      create('a ConfigMap has none', o.CONFIG_MAPS, o.configMap('one', {})),
      create('a Service has none either', o.SERVICES, o.service('one', { clusterIP: 'None' })),
      create(
        'a Deployment has',
        o.DEPLOYMENTS,
        o.deployment('one', [{ name: 'a', image: 'a:1' }], {}, { finalizers: ['example.com/hold'] }),
      ),
      settle('its status does not move it', DEPLOYMENT, deploymentSettled),
      patch('annotations of a Deployment move it', DEPLOYMENT, MERGE_PATCH, { metadata: { annotations: { a: 'b' } } }),
      settle('and the controller follows', DEPLOYMENT, deploymentSettled),
      patch('labels of a Deployment do not', DEPLOYMENT, MERGE_PATCH, { metadata: { labels: { a: 'b' } } }),
      patch('status through the object is ignored', DEPLOYMENT, MERGE_PATCH, { status: { replicas: 7 } }),
      remove('the beginning of a deletion moves it', DEPLOYMENT, { query: { propagationPolicy: 'Background' } }),
      patch('let it go', DEPLOYMENT, MERGE_PATCH, { metadata: { finalizers: null } }),
    ],
  },
  {
    name: 'quantities',
    about: 'The form in which quantities are stored.',
    steps: [
      apply(
        'requests and limits',
        DEPLOYMENT,
        'git',
        o.deployment('one', [
          {
            name: 'a',
            image: 'a:1',
            resources: {
              limits: { cpu: '1000m', memory: '1024Mi', 'example.com/a': '1e3', 'example.com/b': '06' },
              requests: { cpu: 0.5, memory: '1.5Gi', 'example.com/a': '1E3', 'example.com/b': 6 },
            },
          },
        ]),
        { query: DRY },
      ),
      apply(
        'not a quantity',
        DEPLOYMENT,
        'git',
        o.deployment('one', [{ name: 'a', image: 'a:1', resources: { limits: { cpu: 'much' } } }]),
        { query: DRY },
      ),
      apply(
        'a request above its limit',
        DEPLOYMENT,
        'git',
        o.deployment('one', [{ name: 'a', image: 'a:1', resources: { limits: { cpu: '1' }, requests: { cpu: '2' } } }]),
        { query: DRY },
      ),
    ],
  },
  {
    name: 'immutable-fields',
    about: 'Fields that cannot be changed once they are stored.',
    ticks: true,
    steps: [
      apply('a Deployment', DEPLOYMENT, 'git', o.deployment('one', [{ name: 'a', image: 'a:1' }])),
      apply(
        'another selector',
        DEPLOYMENT,
        'git',
        o.deployment('one', [{ name: 'a', image: 'a:1' }], {
          selector: { matchLabels: { app: 'two' } },
          template: { metadata: { labels: { app: 'two' } }, spec: { containers: [{ name: 'a', image: 'a:1' }] } },
        }),
        { query: DRY },
      ),
      apply(
        'a selector that does not match the template',
        `${o.DEPLOYMENTS}/two`,
        'git',
        o.deployment('two', [{ name: 'a', image: 'a:1' }], {
          selector: { matchLabels: { app: 'other' } },
        }),
        { query: DRY },
      ),
      apply('a RoleBinding', `${o.ROLE_BINDINGS}/one`, 'git', {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'RoleBinding',
        metadata: { name: 'one' },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'a' },
        subjects: [],
      }),
      apply('another role', `${o.ROLE_BINDINGS}/one`, 'git', {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'RoleBinding',
        metadata: { name: 'one' },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'b' },
        subjects: [],
      }),
      apply('an immutable ConfigMap', ONE, 'git', { ...o.configMap('one', { a: '1' }), immutable: true }),
      apply('cannot be changed', ONE, 'git', { ...o.configMap('one', { a: '2' }), immutable: true }),
      apply('nor be made mutable', ONE, 'git', o.configMap('one', { a: '1' })),
      create('a Service', o.SERVICES, o.service('one', { ports: [{ port: 80 }] })),
      patch('another cluster IP', SERVICE, MERGE_PATCH, { spec: { clusterIP: 'None', clusterIPs: ['None'] } }),
    ],
  },
  {
    name: 'invalid-objects',
    about: 'Objects of built-in kinds that a server refuses.',
    steps: [
      create('a Deployment without containers', o.DEPLOYMENTS, o.deployment('one', []), { query: DRY }),
      create(
        'a Deployment without selector',
        o.DEPLOYMENTS,
        {
          apiVersion: 'apps/v1',
          kind: 'Deployment',
          metadata: { name: 'one' },
          spec: { template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'a', image: 'a:1' }] } } },
        },
        { query: DRY },
      ),
      create(
        'a container without image and with a bad port',
        o.DEPLOYMENTS,
        o.deployment('one', [{ name: 'a', ports: [{ containerPort: 0 }] }]),
        { query: DRY },
      ),
      create(
        'two containers of one name',
        o.DEPLOYMENTS,
        o.deployment('one', [
          { name: 'a', image: 'a:1' },
          { name: 'a', image: 'b:1' },
        ]),
        { query: DRY },
      ),
      create(
        'a mount without a volume',
        o.DEPLOYMENTS,
        o.deployment('one', [{ name: 'a', image: 'a:1', volumeMounts: [{ name: 'none', mountPath: '/x' }] }]),
        { query: DRY },
      ),
      create(
        'replicas that are text',
        o.DEPLOYMENTS,
        o.deployment('one', [{ name: 'a', image: 'a:1' }], { replicas: 'two' }),
        { query: DRY },
      ),
      create(
        'replicas below zero',
        o.DEPLOYMENTS,
        o.deployment('one', [{ name: 'a', image: 'a:1' }], { replicas: -1 }),
        { query: DRY },
      ),
      create('a Service with a bad port', o.SERVICES, o.service('one', { ports: [{ port: 70000 }] }), { query: DRY }),
      create(
        'a Service with two ports without names',
        o.SERVICES,
        o.service('one', { ports: [{ port: 80 }, { port: 81 }] }),
        { query: DRY },
      ),
      create('a Service with an unknown type', o.SERVICES, o.service('one', { type: 'Other', ports: [{ port: 80 }] }), {
        query: DRY,
      }),
      create('a ConfigMap with data that is a number', o.CONFIG_MAPS, o.configMap('one', { a: 1 }), { query: DRY }),
      create('a ConfigMap with a bad key', o.CONFIG_MAPS, o.configMap('one', { 'a b': '1' }), { query: DRY }),
      create(
        'a Secret that is not base64',
        o.SECRETS,
        { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'one' }, data: { a: '?' } },
        { query: DRY },
      ),
      create('a Role without verbs', o.ROLES, o.role('one', [{ apiGroups: [''], resources: ['pods'] }]), {
        query: DRY,
      }),
      create(
        'a RoleBinding to nothing',
        o.ROLE_BINDINGS,
        { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'RoleBinding', metadata: { name: 'one' } },
        { query: DRY },
      ),
      create(
        'a NetworkPolicy with a bad block',
        o.NETWORK_POLICIES,
        {
          apiVersion: 'networking.k8s.io/v1',
          kind: 'NetworkPolicy',
          metadata: { name: 'one' },
          spec: { podSelector: {}, egress: [{ to: [{ ipBlock: { cidr: '10.0.0.0/99' } }] }] },
        },
        { query: DRY },
      ),
    ],
  },
  {
    name: 'errors',
    about: 'Requests that no object can be blamed for.',
    steps: [
      read('an unknown path', '/nothing'),
      read('an unknown group', '/apis/example.org/v1/namespaces/${ns}/things'),
      read('an unknown version', '/apis/apps/v9/namespaces/${ns}/deployments'),
      read('an unknown resource', '/api/v1/namespaces/${ns}/things'),
      read('an unknown subresource', `${o.CONFIG_MAPS}/one/status`),
      read('a namespaced kind without namespace and with a name', '/api/v1/configmaps/one'),
      {
        reason: 'POST to an object',
        method: 'POST',
        path: ONE,
        contentType: 'application/json',
        body: o.configMap('one', {}),
      },
      {
        reason: 'PUT to a collection',
        method: 'PUT',
        path: o.CONFIG_MAPS,
        contentType: 'application/json',
        body: o.configMap('one', {}),
      },
      { reason: 'PATCH of a collection', method: 'PATCH', path: o.CONFIG_MAPS, contentType: MERGE_PATCH, body: {} },
      { reason: 'a patch without a type', method: 'PATCH', path: ONE, body: {} },
      { reason: 'a patch of an unknown type', method: 'PATCH', path: ONE, contentType: 'text/plain', body: {} },
      { reason: 'a patch that says JSON', method: 'PATCH', path: ONE, contentType: 'application/json', body: {} },
      {
        reason: 'a creation that is plain text',
        method: 'POST',
        path: o.CONFIG_MAPS,
        contentType: 'text/plain',
        text: 'hello',
      },
      {
        reason: 'a creation that is not JSON',
        method: 'POST',
        path: o.CONFIG_MAPS,
        contentType: 'application/json',
        text: '{"a":',
      },
      {
        reason: 'a creation without a body',
        method: 'POST',
        path: o.CONFIG_MAPS,
        contentType: 'application/json',
        text: '',
      },
      {
        reason: 'a creation in YAML',
        method: 'POST',
        path: o.CONFIG_MAPS,
        contentType: 'application/yaml',
        text: 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: yaml}\n',
      },
      read('an answer in a form that nobody has', o.CONFIG_MAPS, { accept: 'text/html' }),
      create('a dry run of another kind', o.CONFIG_MAPS, o.configMap('one', {}), { query: { dryRun: 'Some' } }),
      read('what is not there', ONE),
      read('a namespaced list of a namespace that does not exist is empty', '/api/v1/namespaces/rec-none/configmaps'),
      read('one object of a namespace that does not exist is not found', '/api/v1/namespaces/rec-none/configmaps/one'),
    ],
  },
  {
    name: 'leases',
    about: 'A Lease as a lock: created once, replaced by who read it last.',
    ticks: true,
    steps: [
      create(
        'the first one gets it',
        o.LEASES,
        {
          apiVersion: 'coordination.k8s.io/v1',
          kind: 'Lease',
          metadata: { name: 'lock' },
          spec: {
            holderIdentity: 'a',
            leaseDurationSeconds: 15,
            acquireTime: '2026-01-01T00:00:00.000000Z',
            renewTime: '2026-01-01T00:00:00.000000Z',
            leaseTransitions: 0,
          },
        },
        { save: { live: '' } },
      ),
      create('the second one does not', o.LEASES, {
        apiVersion: 'coordination.k8s.io/v1',
        kind: 'Lease',
        metadata: { name: 'lock' },
        spec: { holderIdentity: 'b' },
      }),
      replace('the holder renews', `${o.LEASES}/lock`, (saved) =>
        changed(saved.live as JsonObject, {
          spec: { holderIdentity: 'a', leaseDurationSeconds: 15, renewTime: '2026-01-01T00:00:05.123456Z' },
        }),
      ),
      replace('who read before that is late', `${o.LEASES}/lock`, (saved) =>
        changed(saved.live as JsonObject, { spec: { holderIdentity: 'b', leaseDurationSeconds: 15 } }),
      ),
      read('the holder has it still', `${o.LEASES}/lock`, { save: { live: '' } }),
      replace('who reads first may take it', `${o.LEASES}/lock`, (saved) =>
        changed(saved.live as JsonObject, {
          spec: {
            holderIdentity: 'b',
            leaseDurationSeconds: 15,
            renewTime: '2026-01-01T00:01:00.000000Z',
            leaseTransitions: 1,
          },
        }),
      ),
      create('a time needs all six digits of its microseconds', o.LEASES, {
        apiVersion: 'coordination.k8s.io/v1',
        kind: 'Lease',
        metadata: { name: 'bad' },
        spec: { holderIdentity: 'a', renewTime: '2026-01-01T00:00:00Z' },
      }),
      create('the duration is above zero', o.LEASES, {
        apiVersion: 'coordination.k8s.io/v1',
        kind: 'Lease',
        metadata: { name: 'bad' },
        spec: { holderIdentity: 'a', leaseDurationSeconds: 0 },
      }),
      create('a time that is none', o.LEASES, {
        apiVersion: 'coordination.k8s.io/v1',
        kind: 'Lease',
        metadata: { name: 'bad' },
        spec: { renewTime: 'yesterday' },
      }),
    ],
  },
  {
    name: 'events',
    about: 'Events: created, counted up by a patch, found by their object.',
    ticks: true,
    steps: [
      create('an event', o.EVENTS, {
        apiVersion: 'v1',
        kind: 'Event',
        metadata: { name: 'one.1' },
        involvedObject: {
          apiVersion: 'v1',
          kind: 'ConfigMap',
          name: 'one',
          namespace: '${ns}',
          uid: 'aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee',
        },
        reason: 'Synced',
        message: 'as Git says',
        type: 'Normal',
        source: { component: 'recorder' },
        firstTimestamp: '2026-01-01T00:00:00Z',
        lastTimestamp: '2026-01-01T00:00:00Z',
        count: 1,
      }),
      patch('counted up', `${o.EVENTS}/one.1`, MERGE_PATCH, { count: 2, lastTimestamp: '2026-01-01T00:01:00Z' }),
      read('found by the name of its object', o.EVENTS, {
        query: { fieldSelector: 'involvedObject.name=one,involvedObject.namespace=${ns},type=Normal' },
      }),
      read('not found by another', o.EVENTS, { query: { fieldSelector: 'involvedObject.name=two' } }),
      read('the same event in the newer group', '/apis/events.k8s.io/v1/namespaces/${ns}/events/one.1'),
      create('its object must be of the namespace', o.EVENTS, {
        apiVersion: 'v1',
        kind: 'Event',
        metadata: { name: 'two.1' },
        involvedObject: { apiVersion: 'v1', kind: 'ConfigMap', name: 'one', namespace: 'default' },
      }),
    ],
  },
];
