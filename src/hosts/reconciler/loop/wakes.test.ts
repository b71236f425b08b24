// Tests which changes in the cluster start a run, and how often changes of one object start runs.

import { expect, test } from 'vitest';
import type { ObjectChange } from '#adapters/cluster/kept/kept-list.ts';
import type { KubeObject, ManagedFieldsEntry } from '#kubernetes/rules/object.ts';
import { applySetId, PART_OF } from '#reconciler/run/labels.ts';
import { mattersTo, openWakes, type WakesOptions } from './wakes.ts';

const options: WakesOptions = {
  instance: 'test',
  homeNamespace: 'home',
  namespaces: ['team-*'],
  scope: 'cluster',
  apiGroup: 'example.com',
};
const ours = { [PART_OF]: applySetId('test', 'home') };

function object(
  kind: string,
  more: Partial<KubeObject> = {},
  metadata: Partial<KubeObject['metadata']> = {},
): KubeObject {
  const apiVersion = kind === 'MCPServer' ? 'example.com/v1' : 'apps/v1';
  return { apiVersion, kind, metadata: { name: 'x', namespace: 'team-a', ...metadata }, ...more };
}

const kept = object('Deployment', { spec: { replicas: 1 } }, { labels: ours });

function entry(manager: string, field: string): ManagedFieldsEntry {
  return {
    manager,
    operation: 'Apply',
    apiVersion: 'apps/v1',
    fieldsType: 'FieldsV1',
    fieldsV1: { [field]: {} },
  };
}

test.each<[string, ObjectChange, boolean]>([
  ['an object of the instance that is created', { after: kept }, true],
  ['... deleted', { before: kept }, true],
  ['... changed', { before: kept, after: { ...kept, spec: { replicas: 2 } } }, true],
  ['... that loses its label', { before: kept, after: object('Deployment', { spec: { replicas: 1 } }) }, true],
  ['... whose status changes', { before: kept, after: { ...kept, status: { replicas: 1 } } }, false],
  [
    '... of which another manager takes a field',
    {
      before: object('Deployment', {}, { labels: ours, managedFields: [entry('skep-test', 'f:a')] }),
      after: object('Deployment', {}, { labels: ours, managedFields: [entry('skep-test', 'f:b')] }),
    },
    true,
  ],
  [
    '... of which another manager owns a field as well',
    {
      before: object('Deployment', {}, { labels: ours, managedFields: [entry('other', 'f:a')] }),
      after: object('Deployment', {}, { labels: ours, managedFields: [entry('other', 'f:b')] }),
    },
    false,
  ],
  ['an object of others', { after: object('Deployment') }, false],
  ['a custom resource of others', { after: object('MCPServer') }, true],
  ['... outside of the namespaces', { after: object('MCPServer', {}, { namespace: 'other' }) }, false],
  [
    'an approval',
    {
      after: {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'skep-test-approval', namespace: 'home' },
      },
    },
    true,
  ],
  [
    'an approval of another instance',
    {
      after: {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'skep-other-approval', namespace: 'home' },
      },
    },
    false,
  ],
])('%s: %#', (_name, change, wakes) => {
  expect(mattersTo(options)(change)).toBe(wakes);
});

test('without permissions for the cluster, custom resources of other managers start no run', () => {
  expect(mattersTo({ ...options, scope: 'git' })({ after: object('MCPServer') })).toBe(false);
});

test('an object that changes again and again starts runs at growing intervals, and other objects start runs at once', () => {
  let now = 0;
  let wakes = 0;
  const waits: number[] = [];
  const clock = {
    monotonic: () => now,
    sleep: (ms: number) => {
      waits.push(ms);
      now += ms;
      return Promise.resolve();
    },
  };
  const wake = (): void => {
    wakes += 1;
  };
  const deps = { clock, wake };
  const { take } = openWakes(deps, options);
  for (let count = 0; count < 4; count += 1) take([{ after: kept }]);
  expect([wakes, waits]).toEqual([4, []]);
  take([{ after: kept }]);
  expect([wakes, waits]).toEqual([4, [1000]]);
  take([{ after: object('Deployment', {}, { name: 'y', labels: ours }) }, { after: kept }]);
  expect(wakes).toBe(5);
  now += 60_000;
  take([{ after: kept }]);
  expect(wakes).toBe(6);
  const known = waits.length;
  // A Secret is in two lists: one with metadata, one with contents.
  for (let count = 0; count < 3; count += 1) take([{ after: kept }, { after: kept }]);
  expect(waits.length).toBe(known);
});
