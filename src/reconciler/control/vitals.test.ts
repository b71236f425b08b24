// Tests whether the program counts as stuck or slow, and as ready or not, by the reports of the loop.

import { expect, test } from 'vitest';
import { Failure } from '#std/failure.ts';
import type { RunResult } from '../run/result.ts';
import { createVitals, STUCK_AFTER_MS } from './vitals.ts';

function start() {
  let now = 0;
  const vitals = createVitals({ sources: ['fleet', 'more'], monotonic: () => now });
  return { ...vitals, pass: (ms: number) => (now += ms) };
}

function ended(changes: Partial<RunResult>): { readonly result: RunResult } {
  return { result: { commits: { fleet: 'c1', more: 'c2' }, failures: [], ...changes } as RunResult };
}

test('a run that goes on and on is slow, as long as something of it ends now and then', () => {
  const { began, progressed, stuck, pass } = start();
  began('schedule');
  for (let each = 0; each < 100; each += 1) {
    pass(STUCK_AFTER_MS);
    expect(stuck()).toBeUndefined();
    progressed();
  }
});

test('a run of which nothing ends is stuck, and no more once something does', () => {
  const { began, progressed, stuck, pass } = start();
  began('schedule');
  pass(STUCK_AFTER_MS + 1000);
  expect(stuck()).toBe('no run has begun, and no request of a run has ended, for 301 s');
  progressed();
  expect(stuck()).toBeUndefined();
});

test('a run of which nothing ends but that its lease is kept is stuck', () => {
  const { began, requested, stuck, pass } = start();
  began('schedule');
  for (let each = 0; each < 62; each += 1) {
    pass(5_000);
    requested({ urgent: true });
  }
  expect(stuck()).toBeDefined();
  requested({ urgent: false });
  expect(stuck()).toBeUndefined();
});

test('between runs the loop reports that it is awake; a silent loop is stuck, too', () => {
  const { began, ended: end, beat, stuck, pass } = start();
  began('schedule');
  end(ended({}));
  for (let each = 0; each < 100; each += 1) {
    pass(STUCK_AFTER_MS);
    expect(stuck()).toBeUndefined();
    beat();
  }
  pass(STUCK_AFTER_MS + 1);
  expect(stuck()).toBeDefined();
});

const failure = new Failure('cluster-unreachable', 'no answer of https://k');

test.each([
  { reason: 'before the first run', endings: [], unready: ['no run has ended yet'] },
  { reason: 'after a run', endings: [ended({})], unready: [] },
  {
    reason: 'while a source cannot be read',
    endings: [ended({ commits: { fleet: 'c1' } })],
    unready: ['source more cannot be read'],
  },
  {
    reason: 'while the cluster is away',
    endings: [{ failure }],
    unready: ['cluster-unreachable: no answer of https://k'],
  },
  {
    reason: 'if the cluster became unreachable during the run',
    endings: [ended({ failures: [failure] })],
    unready: ['no answer of https://k'],
  },
  {
    reason: 'if one kind may not be listed',
    endings: [ended({ failures: [new Failure('cluster-forbidden', 'no')] })],
    unready: [],
  },
  { reason: 'standing by', endings: [{ failure: new Failure('locked', 'another run') }], unready: [] },
  { reason: 'after the cluster came back', endings: [{ failure }, ended({})], unready: [] },
])('readiness $reason', ({ endings, unready }) => {
  const vitals = start();
  for (const each of endings) vitals.ended(each);
  expect(vitals.unready()).toEqual(unready);
});
