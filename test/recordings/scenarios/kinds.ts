// Every built-in kind that a fleet is made of: created, read, refused a second time, replaced, listed, deleted.

import type { JsonObject } from '#std/json.ts';
import type { Scenario, Step } from '../scenario.ts';
import { create, read, remove, replace } from '../scenario.ts';
import * as o from './objects.ts';

/** The life of one object that no controller writes to. */
function life(path: string, object: JsonObject): Step[] {
  const { name } = object.metadata as JsonObject;
  const one = `${path}/${name}`;
  return [
    create('a dry run answers as if it had created, with a uid and without a resourceVersion', path, object, {
      query: { dryRun: 'All' },
    }),
    read('a dry run stores nothing', one),
    create('creating gives the object with defaults, uid, resourceVersion and managedFields', path, object, {
      save: { live: '' },
    }),
    read('what is read is what creating answered', one),
    create('a second object of that name is refused', path, object),
    replace(
      'replacing with the same content changes nothing, not even the resourceVersion',
      one,
      (saved) => saved.live ?? null,
    ),
    replace(
      'replacing with a label more gives a new resourceVersion',
      one,
      (saved) => labelled(saved.live as JsonObject),
      {
        query: { fieldManager: 'editor' },
      },
    ),
    read('a list has the objects without kind and apiVersion', path, { query: { labelSelector: 'tier=edge' } }),
    remove('deleting answers with a Status that names the object', one),
    read('what was deleted is not found', one),
    remove('what is not there cannot be deleted', one),
  ];
}

function labelled(object: JsonObject): JsonObject {
  const { labels, ...metadata } = object.metadata as JsonObject;
  return { ...object, metadata: { ...metadata, labels: { ...(labels as JsonObject | undefined), tier: 'edge' } } };
}

/** The life of an object that a controller writes to: what the controller adds is not part of it. */
function controlledLife(path: string, object: JsonObject): Step[] {
  const { name } = object.metadata as JsonObject;
  const one = `${path}/${name}`;
  return [
    create('a dry run answers with all defaults', path, object, { query: { dryRun: 'All' } }),
    read('a dry run stores nothing', one),
    create('creating answers before any controller has seen the object', path, object),
    create('a second object of that name is refused', path, object),
    remove('deleting answers with a Status that names the object', one, { query: { propagationPolicy: 'Background' } }),
  ];
}

const CONTAINER: JsonObject = {
  name: 'mcp',
  image: 'registry.example.com/mcp/fetch:1.2.0',
  args: ['--port', '8080'],
  env: [
    { name: 'PLAIN', value: 'x' },
    { name: 'FROM_SECRET', valueFrom: { secretKeyRef: { name: 'token', key: 'value' } } },
    { name: 'FROM_FIELD', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
  ],
  ports: [{ containerPort: 8080, name: 'http' }],
  resources: { requests: { cpu: '100m', memory: '128Mi' }, limits: { cpu: '1', memory: '1Gi' } },
  livenessProbe: { httpGet: { path: '/health', port: 'http' } },
  readinessProbe: { tcpSocket: { port: 8080 }, periodSeconds: 5 },
  volumeMounts: [{ name: 'config', mountPath: '/etc/mcp' }],
  securityContext: { runAsNonRoot: true, capabilities: { drop: ['ALL'] } },
};

const POD: JsonObject = {
  serviceAccountName: 'runner',
  containers: [CONTAINER],
  volumes: [
    { name: 'config', configMap: { name: 'runconfig' } },
    { name: 'token', secret: { secretName: 'token' } },
    { name: 'scratch', emptyDir: {} },
  ],
};

const METADATA: JsonObject = { labels: { app: 'fetch' }, annotations: { 'example.com/checksum': 'abc' } };

export const KIND_SCENARIOS: readonly Scenario[] = [
  {
    name: 'kind-config-map',
    about: 'The life of a ConfigMap.',
    ticks: true,
    steps: life(o.CONFIG_MAPS, {
      ...o.configMap('fetch', { 'a.json': '{}', b: '' }, METADATA),
      binaryData: { c: 'AAE=' },
    }),
  },
  {
    name: 'kind-secret',
    about: 'The life of a Secret; stringData is stored as data.',
    ticks: true,
    steps: life(o.SECRETS, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'token', ...METADATA },
      data: { kept: 'b2xk', both: 'b2xk' },
      stringData: { both: 'new', value: 'hunter2' },
    }),
  },
  {
    name: 'kind-service',
    about: 'The life of a Service with a cluster IP.',
    ticks: true,
    steps: life(
      o.SERVICES,
      o.service('fetch', { selector: { app: 'fetch' }, ports: [{ port: 80, targetPort: 'http' }] }, METADATA),
    ),
  },
  {
    name: 'kind-service-headless',
    about: 'The life of a headless Service.',
    ticks: true,
    steps: life(
      o.SERVICES,
      o.service('fetch', { clusterIP: 'None', selector: { app: 'fetch' }, ports: [{ name: 'http', port: 80 }] }),
    ),
  },
  {
    name: 'kind-service-account',
    about: 'The life of a ServiceAccount.',
    ticks: true,
    steps: life(o.SERVICE_ACCOUNTS, {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name: 'runner', ...METADATA },
      imagePullSecrets: [{ name: 'pull' }],
    }),
  },
  {
    name: 'kind-role',
    about: 'The life of a Role.',
    ticks: true,
    steps: life(
      o.ROLES,
      o.role('runner', [{ apiGroups: ['apps'], resources: ['statefulsets'], verbs: ['get', 'watch'] }], METADATA),
    ),
  },
  {
    name: 'kind-role-binding',
    about: 'The life of a RoleBinding; groups of the role and the subjects are filled in.',
    ticks: true,
    steps: life(o.ROLE_BINDINGS, {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'RoleBinding',
      metadata: { name: 'runner' },
      roleRef: { kind: 'Role', name: 'runner', apiGroup: 'rbac.authorization.k8s.io' },
      subjects: [
        { kind: 'ServiceAccount', name: 'runner', namespace: '${ns}' },
        { kind: 'Group', name: 'team' },
      ],
    }),
  },
  {
    name: 'kind-network-policy',
    about: 'The life of a NetworkPolicy; has a generation.',
    ticks: true,
    steps: life(o.NETWORK_POLICIES, {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'NetworkPolicy',
      metadata: { name: 'fetch' },
      spec: {
        podSelector: { matchLabels: { app: 'fetch' } },
        egress: [{ ports: [{ port: 443 }], to: [{ ipBlock: { cidr: '10.0.0.0/8' } }] }],
      },
    }),
  },
  {
    name: 'kind-deployment',
    about: 'A Deployment with what a server of the fleet needs: its defaults.',
    steps: controlledLife(o.DEPLOYMENTS, {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'fetch', ...METADATA },
      spec: {
        selector: { matchLabels: { app: 'fetch' } },
        template: { metadata: { labels: { app: 'fetch' } }, spec: POD },
      },
    }),
  },
  {
    name: 'kind-stateful-set',
    about: 'A StatefulSet with a volume claim: its defaults.',
    steps: controlledLife(o.STATEFUL_SETS, {
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      metadata: { name: 'fetch', ...METADATA },
      spec: {
        replicas: 1,
        serviceName: 'fetch',
        selector: { matchLabels: { app: 'fetch' } },
        template: { metadata: { labels: { app: 'fetch' } }, spec: POD },
        volumeClaimTemplates: [
          {
            metadata: { name: 'data' },
            spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1024Mi' } } },
          },
        ],
      },
    }),
  },
  {
    name: 'kind-namespace',
    about: 'The life of a Namespace: its label, its finalizer, its two phases.',
    outside: ['/api/v1/namespaces/rec-kind-namespace-inner'],
    ticks: true,
    steps: [
      create('a namespace carries its name as a label and is active', '/api/v1/namespaces', {
        apiVersion: 'v1',
        kind: 'Namespace',
        metadata: { name: '${ns}-inner', labels: { team: 'a' } },
      }),
      create('a second namespace of that name is refused', '/api/v1/namespaces', {
        apiVersion: 'v1',
        kind: 'Namespace',
        metadata: { name: '${ns}-inner' },
      }),
      read('namespaces are found by label', '/api/v1/namespaces', {
        query: { labelSelector: 'kubernetes.io/metadata.name=${ns}-inner' },
      }),
      remove('deleting a namespace answers with the namespace, which is terminating', '/api/v1/namespaces/${ns}-inner'),
      read('it is gone when its content is', '/api/v1/namespaces/${ns}-inner', {
        until: (answer) => answer.status === 404,
      }),
    ],
  },
];
