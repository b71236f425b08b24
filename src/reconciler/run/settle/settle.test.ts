// Tests how often a waiting run reads the cluster, and how often it reports its wait.

import { expect, test } from 'vitest';
import { Failure } from '#std/failure.ts';
import type { WaitReason } from '../waiting.ts';
import { type ObservedState, type SettleInput, settle } from './settle.ts';

/** State with a kind that could not be listed, so that the run always waits. */
const OBSERVED: ObservedState = {
  living: () => undefined,
  views: () => ({ find: () => undefined, all: () => [] }),
  unlisted: new Set(['Service']),
  departing: [],
  owned: [],
};

const INPUT: SettleInput = {
  standings: [],
  childErrors: new Map(),
  kept: [],
  catalogue: new Map(),
  storeFailures: new Map(),
  tokenIssuer: undefined,
  statuses: 'ours',
};

test('a run reads the cluster at most every two seconds, reports its wait every ten seconds, and ends in time', async () => {
  let now = 0;
  const looks: number[] = [];
  const reports: { readonly at: number; readonly waiting: WaitReason }[] = [];
  const unused = () => Promise.reject(new Failure('cluster-error', 'nothing is written'));
  const deps = {
    cluster: { apply: unused, create: unused },
    clock: {
      now: () => now,
      monotonic: () => now,
      sleep: async (ms: number) => {
        now += ms;
      },
    },
    instance: 'test',
    waiting: (waiting: WaitReason) => reports.push({ at: now, waiting }),
  };
  const look = async (): Promise<ObservedState> => {
    looks.push(now);
    return OBSERVED;
  };
  await settle(deps, INPUT, OBSERVED, look, 300_000);

  const pauses = looks.map((at, index) => at - (looks[index - 1] ?? 0)).slice(0, -1);
  expect(Math.min(...pauses)).toBeGreaterThanOrEqual(2000);
  expect(looks.length).toBeLessThan(90);
  expect(now).toBe(300_000);
  expect(reports.length).toBeGreaterThan(20);
  const gaps = reports.map(({ at }, index) => at - (reports[index - 1]?.at ?? 0));
  expect(Math.max(...gaps)).toBeLessThanOrEqual(15_000);
  expect(reports[0]?.waiting).toMatchObject({ for: 'resources', unlisted: ['Service'] });
  for (const { at, waiting } of reports) expect(waiting.leftMs).toBe(300_000 - at);
});
