// Tests the comparison of two objects (reference: "Comparing values", rules 1 to 18, and section 1). In one file,
// because the cases are tables whose rows need the same managedFields entry of this instance.

import { describe, expect, test } from 'vitest';
import { deployment, object, thing, typeOf } from '../../../../test/kubernetes/rules/thing.ts';
import type { KubeObject, ManagedFieldsEntry } from '../object.ts';
import { compare } from './compare.ts';
import { formatFields } from './fieldsv1.ts';
import { ownedSet } from './owned.ts';

const OWN = 'skep-test';

/** Returns the managedFields entry after our manager applied `desired`. */
function entry(desired: KubeObject, changes: Partial<ManagedFieldsEntry> = {}): ManagedFieldsEntry {
  const fieldsV1 = formatFields(ownedSet(desired, typeOf(desired)).set);
  const { apiVersion } = desired;
  return { manager: OWN, operation: 'Apply', apiVersion, fieldsType: 'FieldsV1', fieldsV1, ...changes };
}

/**
 * Returns `live` with the fields that a server adds and our managedFields entry for `desired`. Only the values can then
 * differ.
 */
function applied(desired: KubeObject, live: KubeObject): KubeObject {
  const metadata = { ...live.metadata, uid: 'u', resourceVersion: '7', managedFields: [entry(desired)] };
  return { ...live, metadata };
}

function resultOf(desired: KubeObject, live: KubeObject): string {
  const { result, path } = compare(desired, applied(desired, live), typeOf(desired), OWN);
  return path === undefined ? result : `${result} ${path}`;
}

interface Row {
  readonly desired: KubeObject[string];
  readonly live: KubeObject[string];
  /** The result, and the deciding place relative to the table's root. Without a place if unchanged. */
  readonly is: string;
  readonly reason: string;
}

/** Pod specs of a Deployment: a built-in kind. */
const PODS: readonly Row[] = [
  { desired: { serviceAccountName: 'a' }, live: { serviceAccountName: 'a' }, is: 'unchanged', reason: '1: equal' },
  {
    desired: { schedulerName: 'a' },
    live: { schedulerName: 'b' },
    is: 'changed schedulerName',
    reason: '1: not equal',
  },
  {
    desired: { schedulerName: 'a' },
    live: { schedulerName: 'a', dnsPolicy: 'ClusterFirst', volumes: [{ name: 'v' }] },
    is: 'unchanged',
    reason: 'defaults and fields of others do not matter',
  },
  { desired: { hostNetwork: false }, live: {}, is: 'unchanged', reason: '2: false was never stored' },
  { desired: { hostNetwork: true }, live: {}, is: 'changed hostNetwork', reason: '2: true would be' },
  { desired: { priority: 0, hostname: '' }, live: {}, is: 'unchanged', reason: '2: zero and the empty text' },
  { desired: { tolerations: [], nodeSelector: {} }, live: {}, is: 'unchanged', reason: '2: empty atomic values' },
  { desired: { volumes: [], securityContext: {} }, live: {}, is: 'unchanged', reason: '2: empty granular values' },
  { desired: { volumes: null, hostname: null }, live: {}, is: 'unchanged', reason: '2: null' },
  {
    desired: { volumes: [] },
    live: { volumes: null },
    is: 'unchanged',
    reason: 'a null in the cluster counts as absent',
  },
  {
    desired: { securityContext: { seLinuxOptions: null, runAsUser: null } },
    live: { securityContext: {} },
    is: 'unchanged',
    reason: '3: a struct that holds only nulls is stored empty',
  },
  {
    desired: { dnsConfig: { nameservers: [] } },
    live: {},
    is: 'unknown dnsConfig',
    reason: '3: the empty struct may have been removed, and our set does not show it',
  },
  {
    desired: { containers: [{ name: 'c', securityContext: { capabilities: { add: [] } } }] },
    live: { containers: [{ name: 'c', securityContext: {} }] },
    is: 'unknown containers/[name=c]/securityContext/capabilities',
    reason: '3: also further down',
  },
  {
    desired: { securityContext: { runAsUser: 1 } },
    live: {},
    is: 'changed securityContext/runAsUser',
    reason: '3: a struct that holds something',
  },
  {
    desired: { containers: [{ name: 'c', resources: { limits: { cpu: '1000m', memory: '1024Mi' } } }] },
    live: { containers: [{ name: 'c', resources: { limits: { cpu: '1', memory: '1Gi' } } }] },
    is: 'unchanged',
    reason: '5: stored text of a quantity',
  },
  {
    desired: { containers: [{ name: 'c', resources: { limits: { memory: '1e9' } } }] },
    live: { containers: [{ name: 'c', resources: { limits: { memory: '1G' } } }] },
    is: 'changed containers/[name=c]/resources/limits/memory',
    reason: '5: equal amounts in different stored texts',
  },
  {
    desired: { containers: [{ name: 'c', resources: { limits: { cpu: '100.5m' } } }] },
    live: { containers: [{ name: 'c', resources: { limits: { cpu: '101m' } } }] },
    is: 'unknown containers/[name=c]/resources/limits/cpu',
    reason: '5: finer than a thousandth',
  },
  {
    desired: { volumes: [{ name: 'v', emptyDir: { sizeLimit: '0.5Gi' } }] },
    live: { volumes: [{ name: 'v', emptyDir: { sizeLimit: '512Mi' } }] },
    is: 'unchanged',
    reason: '5: everywhere a quantity may stand',
  },
  {
    desired: { containers: [{ name: 'a' }, { name: 'c' }] },
    live: { containers: [{ name: 'a' }, { name: 'b' }, { name: 'c' }] },
    is: 'unchanged',
    reason: '8: foreign items in between',
  },
  {
    desired: { containers: [{ name: 'c' }, { name: 'a' }] },
    live: { containers: [{ name: 'a' }, { name: 'c' }] },
    is: 'changed containers',
    reason: '8: the merge would move items',
  },
  {
    desired: { containers: [{ name: 'a' }, { name: 'b' }] },
    live: { containers: [{ name: 'a' }] },
    is: 'changed containers/[name=b]',
    reason: '8: an item is missing',
  },
  {
    desired: { containers: [{ name: 'c', ports: [{ containerPort: 80 }] }] },
    live: { containers: [{ name: 'c', ports: [{ containerPort: 80, protocol: 'TCP' }] }] },
    is: 'unchanged',
    reason: '9: matched by the default of the key',
  },
  {
    desired: { volumes: null },
    live: { volumes: [{ name: 'of-others' }] },
    is: 'unchanged',
    reason: '10: null leaves an associative list',
  },
  {
    desired: { tolerations: null },
    live: { tolerations: [{ key: 'a' }] },
    is: 'unknown tolerations',
    reason: '10: null over an atomic list',
  },
  { desired: { hostname: null }, live: { hostname: 'h' }, is: 'unknown hostname', reason: '10: null over a scalar' },
  {
    desired: { tolerations: [{ key: 'a' }] },
    live: { tolerations: [{ key: 'a' }] },
    is: 'unchanged',
    reason: '11: an atomic list, equal',
  },
  {
    desired: { tolerations: [{ key: 'a' }] },
    live: { tolerations: [{ key: 'a' }, { key: 'b' }] },
    is: 'changed tolerations',
    reason: '11: an atomic list of another length',
  },
  {
    desired: { tolerations: [{ key: 'a' }] },
    live: { tolerations: [{ key: 'a', operator: 'Exists' }] },
    is: 'unknown tolerations/0/operator',
    reason: '11: the value in the cluster has more than is explained',
  },
  {
    desired: { nodeSelector: { a: '1' } },
    live: { nodeSelector: { a: '1', b: '2' } },
    is: 'unknown nodeSelector/b',
    reason: '11: an atomic map with a foreign key',
  },
  {
    desired: { containers: [{ name: 'c', env: [{ name: 'E', valueFrom: { fieldRef: { fieldPath: 'p' } } }] }] },
    live: {
      containers: [{ name: 'c', env: [{ name: 'E', valueFrom: { fieldRef: { fieldPath: 'p', apiVersion: 'v1' } } }] }],
    },
    is: 'unchanged',
    reason: '11: a native default that is not published',
  },
  {
    desired: { volumes: [{ name: 'v', projected: { sources: [{ serviceAccountToken: { path: 't' } }] } }] },
    live: {
      volumes: [
        { name: 'v', projected: { sources: [{ serviceAccountToken: { path: 't', expirationSeconds: 3600 } }] } },
      ],
    },
    is: 'unchanged',
    reason: '11: a native default two levels inside an atomic list',
  },
  {
    desired: { tolerations: [{ key: 'a', value: '' }] },
    live: { tolerations: [{ key: 'a' }] },
    is: 'unknown tolerations/0/value',
    reason: '13: an empty scalar inside an atomic value',
  },
  {
    desired: { affinity: { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ preference: {} }] } } },
    live: { affinity: { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{}] } } },
    is: 'unknown affinity/nodeAffinity/preferredDuringSchedulingIgnoredDuringExecution/0/preference',
    reason: '13: an empty struct inside an atomic value',
  },
  {
    desired: {
      topologySpreadConstraints: [
        { topologyKey: 'z', whenUnsatisfiable: 'w', labelSelector: { matchLabels: {}, matchExpressions: [] } },
      ],
    },
    live: { topologySpreadConstraints: [{ topologyKey: 'z', whenUnsatisfiable: 'w', labelSelector: {} }] },
    is: 'unchanged',
    reason: '13: an empty list and a free-form map inside an atomic value',
  },
  {
    desired: { schedulerName: '' },
    live: { schedulerName: 'default-scheduler' },
    is: 'unknown schedulerName',
    reason: '14: empty over a value',
  },
  {
    desired: { containers: [{ name: 'c', env: [{ name: 'E', value: '1' }] }] },
    live: {
      containers: [
        {
          name: 'c',
          env: [
            { name: 'E', value: '1' },
            { name: 'E', value: '2' },
          ],
        },
      ],
    },
    is: 'unknown containers/[name=c]/env/[name=E]',
    reason: '16: an item that exists twice',
  },
  {
    desired: { containers: [{ name: 'c', env: [{ name: 'E', value: '1' }] }] },
    live: { containers: [{ name: 'c', env: [{ name: 'E', value: '1' }, { name: 'F' }, { name: 'F' }] }] },
    is: 'unchanged',
    reason: '16: another item that exists twice',
  },
];

const THINGS: readonly Row[] = [
  { desired: { free: {} }, live: {}, is: 'changed free', reason: '4: {} is a value' },
  { desired: { tags: [] }, live: {}, is: 'changed tags', reason: '4: [] is a value' },
  { desired: { image: '' }, live: {}, is: 'changed image', reason: '4: the empty text is a value' },
  { desired: { enabled: false }, live: {}, is: 'changed enabled', reason: '4: false is a value' },
  { desired: { free: {} }, live: { free: { a: 1 } }, is: 'unchanged', reason: 'merging {} changes nothing' },
  { desired: { cpu: '1000m' }, live: { cpu: '1' }, is: 'changed cpu', reason: '5: no quantities in custom resources' },
  { desired: { tags: ['a', 'c'] }, live: { tags: ['a', 'b', 'c'] }, is: 'unchanged', reason: '8: sets too' },
  { desired: { tags: ['c', 'a'] }, live: { tags: ['a', 'c'] }, is: 'changed tags', reason: '8: sets keep their order' },
  {
    desired: { ports: [{ port: 80 }] },
    live: { ports: [{ port: 80, protocol: 'TCP', name: 'x' }] },
    is: 'unchanged',
    reason: '9: matched by the default of the key',
  },
  { desired: { env: null }, live: { env: { A: '1' } }, is: 'unchanged', reason: '10: null leaves a granular map' },
  { desired: { env: null }, live: {}, is: 'unknown env', reason: '10: null over nothing in a custom resource' },
  { desired: { env: null }, live: { env: {} }, is: 'unknown env', reason: '10: null over an empty map' },
  { desired: { selector: { a: '1' } }, live: { selector: { a: '1' } }, is: 'unchanged', reason: '11: equal' },
  {
    desired: { selector: { a: '1' } },
    live: { selector: { a: '1', b: '2' } },
    is: 'changed selector/b',
    reason: '11: only defaults of the schema are filled in',
  },
  {
    desired: { steps: [{ name: 's' }] },
    live: { steps: [{ name: 's', timeout: 80, options: { a: 'x' } }] },
    is: 'unchanged',
    reason: '12: defaults inside an atomic list, nested ones too',
  },
  {
    desired: { steps: [{ name: 's', options: { b: 'y' } }] },
    live: { steps: [{ name: 's', timeout: 80, options: { a: 'x', b: 'y' } }] },
    is: 'unchanged',
    reason: '12: defaults next to given values',
  },
  {
    desired: { steps: [{ name: 's' }] },
    live: { steps: [{ name: 's', timeout: 81, options: { a: 'x' } }] },
    is: 'changed steps/0/timeout',
    reason: '12: not the default',
  },
  {
    desired: { steps: [{ name: 's' }] },
    live: { steps: [{ name: 's' }] },
    is: 'changed steps/0/timeout',
    reason: '12: the default would be filled in now',
  },
  {
    desired: { semi: { known: { z: '1', gone: 2 } } },
    live: { semi: { known: { z: '1' } } },
    is: 'unchanged',
    reason: '15: a pruned key is owned but never stored',
  },
  {
    desired: { semi: { known: { gone: 2 } } },
    live: { semi: { known: { gone: 2 } } },
    is: 'changed semi/known/gone',
    reason: '15: a pruned key cannot stay',
  },
  {
    desired: { semi: { other: { x: 1 } } },
    live: { semi: { other: { x: 1 } } },
    is: 'unchanged',
    reason: '15: the preserved map itself keeps its keys',
  },
  { desired: { port: 80 }, live: { port: '80' }, is: 'changed port', reason: '17: int-or-string keeps its type' },
  { desired: { ratio: 1.0 }, live: { ratio: 1 }, is: 'unchanged', reason: '18: numbers compare as numbers' },
  {
    desired: { pod: { metadata: { labels: {} } } },
    live: { pod: { metadata: {} } },
    is: 'unchanged',
    reason: 'metadata of an embedded resource loses empty labels',
  },
  {
    desired: { pod: { metadata: {}, spec: {} } },
    live: { pod: { metadata: {} } },
    is: 'changed pod/spec',
    reason: 'the rest of an embedded resource is kept as it is written',
  },
];

test.each(PODS)('pod spec $desired over $live is $is: $reason', ({ desired, live, is }) => {
  expect(resultOf(deployment(desired), deployment(live)).replace('/spec/template/spec/', '')).toBe(is);
});

test.each(THINGS)('custom spec $desired over $live is $is: $reason', ({ desired, live, is }) => {
  expect(resultOf(thing(desired), thing(live)).replace('/spec/', '')).toBe(is);
});

const RBAC = 'rbac.authorization.k8s.io/v1';

const OBJECTS: readonly { desired: KubeObject; live: object; is: string; reason: string }[] = [
  {
    desired: object('v1', 'Secret', { data: { a: 'QUJD\nRA==' } }),
    live: { data: { a: 'QUJDRA==' } },
    is: 'unchanged',
    reason: '6: line breaks in base64',
  },
  {
    desired: object('v1', 'Secret', { data: { b: 'eQ==' }, stringData: { a: 'x' } }),
    live: { data: { a: 'eA==', b: 'eQ==', c: 'eg==' } },
    is: 'unchanged',
    reason: '7: stringData is compared encoded',
  },
  {
    desired: object('v1', 'Secret', { data: { a: 'eQ==' }, stringData: { a: 'x' } }),
    live: { data: { a: 'eQ==' } },
    is: 'changed /data/a',
    reason: '7: stringData goes over data',
  },
  {
    desired: object('v1', 'Secret', { stringData: { a: '' } }),
    live: { data: { b: 'eg==' } },
    is: 'changed /data/a',
    reason: '7: an empty text is stored too, and removing it does not take stringData from us',
  },
  {
    desired: object('v1', 'Secret', { type: '' }),
    live: { type: 'Opaque' },
    is: 'unknown /type',
    reason: '14: empty over the default',
  },
  {
    desired: object('networking.k8s.io/v1', 'NetworkPolicy', { spec: { policyTypes: [] } }),
    live: { spec: { policyTypes: ['Ingress'] } },
    is: 'unknown /spec/policyTypes',
    reason: '14: an empty atomic list over the default',
  },
  {
    desired: object('networking.k8s.io/v1', 'NetworkPolicy', { spec: { ingress: [{ ports: [{ port: 80 }] }] } }),
    live: { spec: { ingress: [{ ports: [{ port: 80, protocol: 'TCP' }] }] } },
    is: 'unchanged',
    reason: '11: protocol of a network policy',
  },
  {
    desired: object(RBAC, 'RoleBinding', {
      roleRef: { kind: 'Role', name: 'r' },
      subjects: [
        { kind: 'User', name: 'u' },
        { kind: 'ServiceAccount', name: 's', namespace: 'n' },
      ],
    }),
    live: {
      roleRef: { kind: 'Role', name: 'r', apiGroup: 'rbac.authorization.k8s.io' },
      subjects: [
        { kind: 'User', name: 'u', apiGroup: 'rbac.authorization.k8s.io' },
        { kind: 'ServiceAccount', name: 's', namespace: 'n' },
      ],
    },
    is: 'unchanged',
    reason: '11: the native default beats the published one',
  },
  {
    desired: object('rbac.authorization.k8s.io/v1', 'RoleBinding', {
      roleRef: { kind: 'Role', name: 'r' },
      subjects: [{ kind: 'ServiceAccount', name: 's', namespace: 'n', apiGroup: '' }],
    }),
    live: {
      roleRef: { kind: 'Role', name: 'r', apiGroup: 'rbac.authorization.k8s.io' },
      subjects: [{ kind: 'ServiceAccount', name: 's', namespace: 'n' }],
    },
    is: 'unchanged',
    reason: '13: an empty native default, written out',
  },
  {
    desired: object('apps/v1', 'StatefulSet', {
      spec: { volumeClaimTemplates: [{ apiVersion: 'v2', kind: 'Claim', metadata: { name: 'd' } }] },
    }),
    live: {
      spec: { volumeClaimTemplates: [{ apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name: 'd' } }] },
    },
    is: 'unchanged',
    reason: '11: the server always writes the version and kind of a claim',
  },
  {
    desired: object('apps/v1', 'StatefulSet', {
      spec: {
        volumeClaimTemplates: [{ metadata: { name: 'd' }, spec: { resources: { requests: { storage: '1024Mi' } } } }],
      },
    }),
    live: {
      spec: {
        volumeClaimTemplates: [
          {
            apiVersion: 'v1',
            kind: 'PersistentVolumeClaim',
            metadata: { name: 'd' },
            spec: { resources: { requests: { storage: '1Gi' } }, volumeMode: 'Filesystem' },
            status: { phase: 'Pending' },
          },
        ],
      },
    },
    is: 'unchanged',
    reason: '11: a claim template and its quantity',
  },
  {
    desired: object(RBAC, 'Role', { rules: null }),
    live: { rules: null },
    is: 'unchanged',
    reason: 'a Role without rules is listed with null',
  },
  {
    desired: object('v1', 'ConfigMap', { metadata: { name: 'a', labels: {}, annotations: null } }),
    live: { metadata: { name: 'a', labels: { of: 'others' } } },
    is: 'unchanged',
    reason: 'labels of others',
  },
  {
    desired: object('apiextensions.k8s.io/v1', 'CustomResourceDefinition', {
      spec: { versions: [{ name: 'v1', schema: { openAPIV3Schema: { maxLength: 0, default: {} } } }] },
    }),
    live: { spec: { versions: [{ name: 'v1', schema: { openAPIV3Schema: { maxLength: 0 } } }] } },
    is: 'changed /spec/versions/0/schema/openAPIV3Schema/default',
    reason: '4: raw JSON inside a built-in kind is kept as written',
  },
  {
    desired: object('apiextensions.k8s.io/v1', 'CustomResourceDefinition', {
      spec: {
        versions: [
          { name: 'v1', schema: { openAPIV3Schema: { additionalProperties: { type: 'string', nullable: false } } } },
        ],
      },
    }),
    live: {
      spec: { versions: [{ name: 'v1', schema: { openAPIV3Schema: { additionalProperties: { type: 'string' } } } }] },
    },
    is: 'unknown /spec/versions/0/schema/openAPIV3Schema/additionalProperties/nullable',
    reason: '13: structs whose fields are not published',
  },
  {
    desired: object('coordination.k8s.io/v1', 'Lease', { spec: { renewTime: '2026-01-01T01:00:00+01:00' } }),
    live: { spec: { renewTime: '2026-01-01T00:00:00.000000Z' } },
    is: 'unknown /spec/renewTime',
    reason: 'the same instant in another notation',
  },
];

test.each(OBJECTS)('$desired.kind is $is: $reason', ({ desired, live, is }) => {
  const { apiVersion, kind, metadata } = desired;
  expect(resultOf(desired, { apiVersion, kind, metadata, ...live })).toBe(is);
});

describe('before values are compared', () => {
  const desired = thing({ image: 'i' });
  const type = typeOf(desired);

  function liveWith(...managedFields: ManagedFieldsEntry[]): KubeObject {
    return { ...desired, metadata: { ...desired.metadata, managedFields } };
  }

  const OWNERS: readonly { entries: readonly ManagedFieldsEntry[]; is: object; reason: string }[] = [
    { entries: [entry(desired)], is: { result: 'unchanged' }, reason: 'our entry, the same fields' },
    {
      entries: [],
      is: { result: 'changed', path: '', reason: 'not applied by this instance before' },
      reason: 'no entry: the apply would add one',
    },
    {
      entries: [entry(desired, { manager: 'other' })],
      is: { result: 'changed', path: '', reason: 'not applied by this instance before' },
      reason: 'only the entry of another',
    },
    {
      entries: [entry(desired, { operation: 'Update' })],
      is: { result: 'changed', path: '', reason: 'not applied by this instance before' },
      reason: 'only an update of ours',
    },
    {
      entries: [entry(desired, { subresource: 'status' })],
      is: { result: 'changed', path: '', reason: 'not applied by this instance before' },
      reason: 'only an apply to a subresource',
    },
    {
      entries: [entry(desired, { apiVersion: 'things.example/v0' })],
      is: { result: 'changed', path: '', reason: 'applied as things.example/v0 before' },
      reason: 'applied in another version',
    },
    {
      entries: [entry(thing({ image: 'i', replicas: 1 }))],
      is: { result: 'changed', path: '/spec/replicas', reason: 'no longer declared' },
      reason: 'a field is no longer declared',
    },
    {
      entries: [entry(thing({ replicas: 1 }))],
      is: { result: 'changed', path: '/spec/image', reason: 'not applied by this instance before' },
      reason: 'another manager took a field',
    },
    {
      entries: [entry(desired, { fieldsV1: { 'k:{': {} } })],
      is: { result: 'unknown', path: '', reason: 'the managedFields entry of this instance cannot be read' },
      reason: 'an entry no server wrote',
    },
  ];

  test.each(OWNERS)('$reason', ({ entries, is }) => {
    expect(compare(desired, liveWith(...entries), type, OWN)).toEqual(is);
  });

  test('an object without fields to own needs no entry', () => {
    const nothing = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } };
    expect(compare(nothing, { ...nothing, data: { a: 'b' } }, typeOf(nothing), OWN)).toEqual({ result: 'unchanged' });
  });

  test('without a type the result is unknown', () => {
    expect(compare(desired, liveWith(entry(desired)), undefined, OWN).result).toBe('unknown');
  });

  test('the result for an object that the server will refuse is unknown', () => {
    expect(compare(thing({ image: 7 }), liveWith(entry(desired)), type, OWN)).toEqual({
      result: 'unknown',
      path: '/spec/image',
      reason: 'a string is expected',
    });
  });
});

test('an unknown field takes precedence over a changed field', () => {
  const desired = deployment({ schedulerName: 'a', tolerations: null });
  const live = deployment({ schedulerName: 'b', tolerations: [{ key: 'x' }] });
  expect(resultOf(desired, live)).toBe('unknown /spec/template/spec/tolerations');
});

test('the reason contains no value of the object', () => {
  const secret = 'c2VjcmV0LXZhbHVl';
  const desired = object('v1', 'Secret', { data: { a: secret }, type: 7 });
  expect(JSON.stringify(compare(desired, desired, typeOf(desired), OWN))).not.toContain(secret);
});

test('ten thousand objects are compared in less than ten seconds of processor time', () => {
  const pairs = Array.from({ length: 10_000 }, (_, index) => pairOf(index));
  const started = process.cpuUsage();
  const results = pairs.map(({ desired, live }) => compare(desired, live, typeOf(desired), OWN).result);
  const usedMs = process.cpuUsage(started).user / 1000;
  expect(new Set(results)).toEqual(new Set(['unchanged']));
  // Measured: half a second of processor time. A quadratic walk would take minutes.
  expect(usedMs).toBeLessThan(10_000);
});

/** Returns a Deployment if the index is a multiple of three, else a ConfigMap. No two objects share a value. */
function pairOf(index: number): { readonly desired: KubeObject; readonly live: KubeObject } {
  const text = String(index);
  const container = {
    name: 'main',
    image: `registry/image:${text}`,
    args: ['--id', text],
    env: [
      { name: 'A', value: text },
      { name: 'B', value: 'b' },
    ],
    ports: [{ containerPort: 8080 }],
    resources: { limits: { cpu: '500m', memory: '128Mi' } },
  };
  const labels = { 'app.kubernetes.io/name': text, app: 'x' };
  const desired: KubeObject =
    index % 3 === 0
      ? deployment({ containers: [container], volumes: [{ name: 'v', emptyDir: {} }] }, text)
      : { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: text, labels }, data: { a: text, b: text } };
  return { desired, live: structuredClone(applied(desired, desired)) };
}
