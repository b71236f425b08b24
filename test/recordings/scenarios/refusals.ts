import type { Scenario } from '../scenario.ts';
import { apply, create, MERGE_PATCH, patch, read } from '../scenario.ts';
import * as o from './objects.ts';

const ONE = `${o.CONFIG_MAPS}/one`;
const SERVICE = `${o.SERVICES}/one`;
const DEPLOYMENT = `${o.DEPLOYMENTS}/one`;
const DRY = { dryRun: 'All' };

export const REFUSAL_SCENARIOS: readonly Scenario[] = [
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
];
