// Tests how long a result of a dry run is reused. Admission may change although no listed object changes.

import { expect, test } from 'vitest';
import type { KubeObject } from '#kubernetes/rules/object.ts';
import { Failure } from '#std/failure.ts';
import type { ApiResource } from '../ports.ts';
import { openCertainty } from './certainty.ts';

const POLICIES: ApiResource = {
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'MutatingAdmissionPolicy',
  plural: 'mutatingadmissionpolicies',
  namespaced: false,
  verbs: ['list'],
};
const desired = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'a', name: 'b' }, data: { a: 'ours' } };
const live = { ...desired, metadata: { ...desired.metadata, uid: 'u1' }, data: { a: 'forced' } };

function policy(uid: string, generation: number): KubeObject {
  return { apiVersion: POLICIES.apiVersion, kind: POLICIES.kind, metadata: { name: 'force', uid, generation } };
}

/** Returns a server, its clock, and results that a new process can read. */
function world() {
  let now = 1_000_000;
  let policies: readonly KubeObject[] | undefined = [policy('p1', 1)];
  let lists = 0;
  const remembered = new Map<string, string>();
  const cluster = {
    resources: async () => [POLICIES],
    list: async () => {
      lists += 1;
      if (policies === undefined) throw new Failure('cluster-forbidden', 'no');
      return policies;
    },
  };
  return {
    wait: (minutes: number) => {
      now += minutes * 60_000;
    },
    become: (next: readonly KubeObject[] | undefined) => {
      policies = next;
    },
    lists: () => lists,
    look: () => openCertainty({ remembered, cluster, clock: { now: () => now } }, 'skep-test'),
  };
}

test('a result is used for 45 to 75 minutes', async () => {
  const { look, wait } = world();
  await look().remember(desired, live);
  wait(44);
  expect(await look().isKnown(desired, live)).toBe(true);
  wait(32);
  expect(await look().isKnown(desired, live)).toBe(false);
});

test.each([
  { reason: 'a policy was deleted', next: [] },
  { reason: 'a policy was changed', next: [policy('p1', 2)] },
  { reason: 'a policy was created again', next: [policy('p2', 1)] },
  { reason: 'policies may not be read any more', next: undefined },
])('a result is no longer used if $reason', async ({ next }) => {
  const { look, become } = world();
  await look().remember(desired, live);
  become(next);
  expect(await look().isKnown(desired, live)).toBe(false);
});

test('if admission may not be read, a result expires only by its age', async () => {
  const { look, become, wait } = world();
  become(undefined);
  await look().remember(desired, live);
  expect(await look().isKnown(desired, live)).toBe(true);
  wait(76);
  expect(await look().isKnown(desired, live)).toBe(false);
});

test('admission is read at most once per run, and not at all without stored results', async () => {
  const { look, lists } = world();
  expect(await look().isKnown(desired, live)).toBe(false);
  expect(lists()).toBe(0);
  const first = look();
  await first.remember(desired, live);
  await first.isKnown(desired, live);
  expect(lists()).toBe(1);
});
