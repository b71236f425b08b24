import { expect, test } from 'vitest';
import type { KubeObject } from '#kubernetes/rules/object.ts';
import { podImages, withImages } from './pod-images.ts';

const POD = {
  containers: [{ name: 'a', image: 'a:1' }, { name: 'b', image: 'b:1' }, { name: 'none' }],
  initContainers: [{ name: 'c', image: 'c:1' }],
  volumes: [
    { name: 'v', image: { reference: 'd:1' } },
    { name: 'w', emptyDir: {} },
  ],
  imagePullSecrets: [{ name: 'pull' }],
  serviceAccountName: 'runner',
};

function object(kind: string, spec: object): KubeObject {
  return { apiVersion: 'v1', kind, metadata: { name: 'x' }, spec } as KubeObject;
}

test.each([
  ['Deployment', { template: { spec: POD } }],
  ['StatefulSet', { template: { spec: POD } }],
  ['Job', { template: { spec: POD } }],
  ['CronJob', { jobTemplate: { spec: { template: { spec: POD } } } }],
  ['Pod', POD],
])('each image that a %s runs or mounts is found and replaced', (kind, spec) => {
  const found = podImages(object(kind, spec));
  expect(found).toEqual({ images: ['a:1', 'b:1', 'c:1', 'd:1'], pullSecrets: ['pull'], serviceAccount: 'runner' });
  const pins = new Map(found?.images.map((image) => [image, `${image}@pinned`]));
  expect(podImages(withImages(object(kind, spec), pins))?.images).toEqual(
    found?.images.map((image) => `${image}@pinned`),
  );
  expect(podImages(object(kind, spec))?.images).toEqual(found?.images);
});

test('other objects have no pod images', () => {
  expect(podImages(object('Service', { ports: [] }))).toBeUndefined();
});
