// Tests the form in which desired objects are applied (reference: "Better: normalise D before applying").

import { describe, expect, test } from 'vitest';
import { deployment, object, thing, typeOf } from '../../../test/kubernetes/rules/thing.ts';
import { normalise } from './normalise.ts';
import type { KubeObject } from './object.ts';

const ROWS: readonly { given: KubeObject; normal: KubeObject; reason: string }[] = [
  {
    given: deployment({ hostname: null, containers: [{ name: 'c', command: null }] }),
    normal: deployment({ containers: [{ name: 'c' }] }),
    reason: 'nulls go',
  },
  {
    given: object('apps/v1', 'Deployment', { spec: { template: { metadata: { creationTimestamp: null } } } }),
    normal: object('apps/v1', 'Deployment', { spec: { template: { metadata: {} } } }),
    reason: 'the null that client libraries write into templates goes',
  },
  {
    given: { ...thing({ image: 'i' }), status: { phase: 'Up' } },
    normal: thing({ image: 'i' }),
    reason: 'status goes',
  },
  {
    given: object('v1', 'ConfigMap', {
      metadata: { name: 'a', labels: {}, annotations: {} },
      data: {},
      binaryData: {},
    }),
    normal: object('v1', 'ConfigMap', { metadata: { name: 'a' } }),
    reason: 'empty labels, annotations and data go',
  },
  {
    given: object('v1', 'ConfigMap', { metadata: { name: 'a', labels: { a: null } }, data: { b: null } }),
    normal: object('v1', 'ConfigMap', { metadata: { name: 'a' } }),
    reason: 'also when only nulls were in them',
  },
  {
    given: object('apps/v1', 'Deployment', { spec: { template: { metadata: { labels: {}, annotations: {} } } } }),
    normal: object('apps/v1', 'Deployment', { spec: { template: { metadata: {} } } }),
    reason: 'in templates too',
  },
  {
    given: thing({ pod: { metadata: { labels: {} }, spec: { labels: {} } } }),
    normal: thing({ pod: { metadata: {}, spec: { labels: {} } } }),
    reason: 'in embedded resources too, but not a field that is only called labels',
  },
  {
    given: object('v1', 'ConfigMap', { data: { a: '', b: 'x' } }),
    normal: object('v1', 'ConfigMap', { data: { a: '', b: 'x' } }),
    reason: 'empty texts are data',
  },
  {
    given: object('v1', 'Secret', { data: { a: 'b2xk', b: 'QUJD\r\nRA==' }, stringData: { a: 'new', c: 'ü' } }),
    normal: object('v1', 'Secret', { data: { a: 'bmV3', b: 'QUJDRA==', c: 'w7w=' } }),
    reason: 'stringData goes over data as base64 of its UTF-8; base64 loses its line breaks',
  },
  {
    given: object('v1', 'Secret', { stringData: {} }),
    normal: object('v1', 'Secret', {}),
    reason: 'empty stringData goes',
  },
  {
    given: object('v1', 'Secret', { stringData: 'nonsense' }),
    normal: object('v1', 'Secret', { stringData: 'nonsense' }),
    reason: 'values that the server will refuse are left unchanged',
  },
  {
    given: object('v1', 'ConfigMap', { stringData: { a: 'b' } }),
    normal: object('v1', 'ConfigMap', { stringData: { a: 'b' } }),
    reason: 'stringData is nothing to other kinds',
  },
  {
    given: deployment({ containers: [{ name: 'c', resources: { limits: { cpu: '1000m', memory: 0.5 } } }] }),
    normal: deployment({ containers: [{ name: 'c', resources: { limits: { cpu: '1', memory: '500m' } } }] }),
    reason: 'quantities in stored form',
  },
  {
    given: deployment({ containers: [{ name: 'c', resources: { limits: { cpu: '100.5m', memory: 'nonsense' } } }] }),
    normal: deployment({ containers: [{ name: 'c', resources: { limits: { cpu: '100.5m', memory: 'nonsense' } } }] }),
    reason: 'quantities whose stored form is not known are left',
  },
  {
    given: thing({ cpu: '1000m', image: null, free: { a: null, b: [null] } }),
    normal: thing({ cpu: '1000m', free: { b: [null] } }),
    reason: 'custom resources: no quantities; nulls go, but items of lists keep their places',
  },
  {
    given: object('apiextensions.k8s.io/v1', 'CustomResourceDefinition', {
      spec: { versions: [{ schema: { openAPIV3Schema: { default: { a: null }, nullable: null } } }] },
    }),
    normal: object('apiextensions.k8s.io/v1', 'CustomResourceDefinition', {
      spec: { versions: [{ schema: { openAPIV3Schema: { default: { a: null } } } }] },
    }),
    reason: 'raw JSON inside a built-in kind is data',
  },
  {
    given: deployment({ hostNetwork: false, containers: [{ name: 'c', env: [{ name: 'E', value: '' }] }] }),
    normal: deployment({ hostNetwork: false, containers: [{ name: 'c', env: [{ name: 'E', value: '' }] }] }),
    reason: 'other empty values may mean something and stay',
  },
];

test.each(ROWS)('$given.kind: $reason', ({ given, normal }) => {
  const copy = structuredClone(given);
  expect(normalise(given, typeOf(given))).toEqual(normal);
  expect(given).toEqual(copy);
});

describe('without a type', () => {
  test('steps that need no type are applied', () => {
    const given = object('v1', 'Secret', { metadata: { name: 'a', labels: {} }, stringData: { a: 'x' }, type: null });
    expect(normalise(given, undefined)).toEqual(
      object('v1', 'Secret', { metadata: { name: 'a' }, data: { a: 'eA==' } }),
    );
  });

  test('quantities and base64 are unchanged', () => {
    const given = object('v1', 'Secret', { data: { a: 'QUJD\nRA==' } });
    expect(normalise(given, undefined)).toEqual(given);
  });
});
