// Create and replace: conflicts, names, dry runs, unknown fields, generation, spellings.

import type { JsonObject } from '#std/json.ts';
import type { Scenario, Step } from '../scenario.ts';
import { apply, create, JSON_PATCH, MERGE_PATCH, patch, read, remove, replace, settle } from '../scenario.ts';
import { deploymentSettled } from './controllers.ts';
import * as o from './objects.ts';

const ONE = `${o.CONFIG_MAPS}/one`;
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
