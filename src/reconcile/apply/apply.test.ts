// What comes of changes where something keeps an object that was deleted.

import { expect, test } from 'vitest';
import type { Plan } from '../plan/plan.ts';
import { apply } from './apply.ts';

test('a replacement that something keeps is left to the next run, and what it leads to is not tried', async () => {
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
    held: [],
    unchanged: [],
    waiting: [],
    approved: [],
    within: [],
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
