// Tests the order in which built-in kinds are applied.

import { expect, test } from 'vitest';
import { applyOrder } from './order.ts';
import { bundledKinds } from './schemas/bundled.ts';

type Kind = readonly [apiVersion: string, kind: string];

const ROWS: readonly { before: Kind; after: Kind; reason: string }[] = [
  {
    before: ['apiextensions.k8s.io/v1', 'CustomResourceDefinition'],
    after: ['v1', 'Namespace'],
    reason: 'definitions come first of all',
  },
  { before: ['v1', 'Namespace'], after: ['v1', 'ServiceAccount'], reason: 'objects are in namespaces' },
  { before: ['v1', 'Namespace'], after: ['v1', 'ResourceQuota'], reason: 'objects are in namespaces' },
  { before: ['v1', 'ResourceQuota'], after: ['apps/v1', 'Deployment'], reason: 'limits apply to later objects' },
  {
    before: ['rbac.authorization.k8s.io/v1', 'Role'],
    after: ['rbac.authorization.k8s.io/v1', 'RoleBinding'],
    reason: 'binding reads the role',
  },
  { before: ['v1', 'ServiceAccount'], after: ['v1', 'Secret'], reason: 'design: RBAC before configuration' },
  { before: ['v1', 'ConfigMap'], after: ['v1', 'Service'], reason: 'design: configuration before services' },
  { before: ['v1', 'Service'], after: ['apps/v1', 'StatefulSet'], reason: 'a StatefulSet names its Service' },
  {
    before: ['networking.k8s.io/v1', 'NetworkPolicy'],
    after: ['apps/v1', 'Deployment'],
    reason: 'no pod runs unguarded',
  },
  {
    before: ['apps/v1', 'Deployment'],
    after: ['autoscaling/v2', 'HorizontalPodAutoscaler'],
    reason: 'an autoscaler names its target',
  },
  {
    before: ['policy/v1', 'PodDisruptionBudget'],
    after: ['toolhive.stacklok.dev/v1alpha1', 'MCPServer'],
    reason: 'custom resources come last',
  },
];

test.each(ROWS)('$before comes before $after: $reason', ({ before, after }) => {
  expect(applyOrder(...before)).toBeLessThan(applyOrder(...after));
});

test('the version does not affect the order', () => {
  expect(applyOrder('autoscaling/v1', 'HorizontalPodAutoscaler')).toBe(
    applyOrder('autoscaling/v2', 'HorizontalPodAutoscaler'),
  );
});

test('a custom kind is not ordered as the built-in kind with the same name', () => {
  expect(applyOrder('example.com/v1', 'Service')).toBe(applyOrder('example.com/v1', 'Anything'));
});

test('every bundled kind has a step, except kinds on which no other kind depends', () => {
  const last = applyOrder('example.com/v1', 'Anything');
  const unlisted = bundledKinds().filter(({ apiVersion, kind }) => applyOrder(apiVersion, kind) === last);
  expect([...new Set(unlisted.map(({ kind }) => kind))].toSorted()).toEqual([
    'APIService',
    'CSINode',
    'CSIStorageCapacity',
    'CertificateSigningRequest',
    'ControllerRevision',
    'EndpointSlice',
    'Endpoints',
    'Event',
    'FlowSchema',
    'IPAddress',
    'Lease',
    'ResourceSlice',
    'ServiceCIDR',
    'VolumeAttachment',
  ]);
});
