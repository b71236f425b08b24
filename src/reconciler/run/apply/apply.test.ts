// Tests how a run continues if a finalizer or a dependent keeps a deleted object in the cluster.

import { expect, test } from 'vitest';
import { Failure } from '#std/failure.ts';
import type { ResourceId } from '#std/problem.ts';
import type { Change, Plan } from '../plan/plan.ts';
import { apply } from './apply.ts';

const NONE = { held: [], unchanged: [], waiting: [], approved: [], within: [] };

test('a replacement that takes too long is left to the next run, and dependent changes are not tried', async () => {
  const resource = { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'tools', name: 'one' };
  const { apiVersion, kind } = resource;
  const live = { apiVersion, kind, metadata: { namespace: 'tools', name: 'one', uid: 'old' } };
  let [now, written] = [0, 0];
  const plan: Plan = {
    batches: [
      {
        name: 'apply Deployment',
        changes: [{ action: 'update', resource, key: 'one', object: live, uid: 'old', replaces: true, diff: [] }],
      },
    ],
    ...NONE,
  };
  const cluster = {
    apply: async () => {
      written += 1;
      return live;
    },
    remove: async () => undefined,
    schema: async () => undefined,
    patch: async () => live,
    get: async () => live,
  };
  const clock = {
    monotonic: () => now,
    sleep: async (ms: number) => {
      now += ms;
    },
  };
  const outcomes = await apply(
    { cluster, clock, random: (bytes) => new Uint8Array(bytes), progress: () => undefined },
    { plan, uids: new Map(), run: 'run', force: false },
  );
  expect(outcomes.map(({ action, error }) => [action, error?.code])).toEqual([['failed', 'replace-unfinished']]);
  expect([written, now]).toEqual([0, 60_000]);
});

test.each([
  [
    { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'tools', name: 'one' },
    { apiVersion: 'v1', kind: 'Namespace', name: 'tools' },
  ],
  [
    { apiVersion: 'example.com/v1', kind: 'Widget', namespace: 'tools', name: 'one' },
    { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', name: 'widgets.example.com' },
  ],
])(
  'a namespace or definition is not deleted if an object in it could not be deleted',
  async (content: ResourceId, around: ResourceId) => {
    const tried: string[] = [];
    const cluster = {
      apply: async () => ({ ...content, metadata: { name: 'one' } }),
      remove: async ({ kind }: ResourceId) => {
        tried.push(kind);
        throw new Failure('forbidden', 'not allowed');
      },
      schema: async () => undefined,
      patch: async () => ({ ...content, metadata: { name: 'one' } }),
      get: async () => undefined,
    };
    const batches = [content, around].map((resource) => ({ name: 'delete', changes: [deletion(resource)] }));
    const outcomes = await apply(
      {
        cluster,
        clock: { monotonic: () => 0, sleep: async () => undefined },
        random: (bytes) => new Uint8Array(bytes),
        progress: () => undefined,
      },
      { plan: { ...NONE, batches }, uids: new Map(), run: 'run', force: false },
    );
    expect(outcomes.map(({ resource, error }) => [resource.kind, error?.code])).toEqual([
      [content.kind, 'forbidden'],
      [around.kind, 'blocked'],
    ]);
    expect(tried).toEqual([content.kind]);
  },
);

function deletion(resource: ResourceId): Change {
  return {
    action: 'delete',
    resource,
    key: resource.name,
    source: 'fleet',
    uid: resource.name,
    referrers: [],
    diff: [],
  };
}
