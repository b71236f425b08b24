// Tests how paths in errors of the API server are resolved.

import { expect, test } from 'vitest';
import { deployment, object, thing, typeOf } from '../../../../test/kubernetes/rules/thing.ts';
import type { KubeObject } from '../object.ts';
import { placeNamed } from './named-place.ts';
import { pointerOf } from './place.ts';

const PODS = deployment({
  containers: [
    { name: 'web', image: 'a', ports: [{ containerPort: 80, protocol: 'TCP' }] },
    { name: 'log', image: 'b' },
  ],
  volumes: [{ name: 'data', emptyDir: {} }],
} as KubeObject[string]);

test.each([
  [PODS, 'spec.replicas', '/spec/replicas'],
  [PODS, 'spec.Replicas', '/spec/replicas'],
  [PODS, 'spec.template.spec.volumes[0].configMap', '/spec/template/spec/volumes/[name=data]/configMap'],
  [
    PODS,
    'spec.template.spec.containers[0].ports[0].name',
    '/spec/template/spec/containers/[name=web]/ports/[containerPort=80,protocol=TCP]/name',
  ],
  [PODS, 'metadata.labels[a.b/c]', '/metadata/labels/a.b~1c'],
  [object('v1', 'ConfigMap', { data: { 'a.b': '1' } }), 'data[a.b]', '/data/a.b'],
  [thing({ image: 'a' }), '', ''],
])('of %j, %s is %s', (owner, field, pointer) => {
  const { elements, isWhole } = placeNamed(owner, typeOf(owner), field);
  expect([pointerOf(elements), isWhole]).toEqual([pointer, true]);
});

test.each([
  [PODS, 'spec.template.spec.containers[7].image', '/spec/template/spec/containers'],
  [thing({ steps: [{ name: 'x' }] }), 'spec.steps[0].name', '/spec/steps'],
])('of %j, %s is found only up to %s', (owner, field, pointer) => {
  const { elements, isWhole } = placeNamed(owner, typeOf(owner), field);
  expect([pointerOf(elements), isWhole]).toEqual([pointer, false]);
});
