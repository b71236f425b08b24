import { expect, test } from 'vitest';
import { type Deletion, listOf } from './guard.ts';

function deletions(count: number, role: Deletion['role'] = 'own'): Deletion[] {
  return Array.from({ length: count }, (_, i) => ({
    id: `tools/ConfigMap/${i}`,
    kind: 'ConfigMap',
    uid: `${i}`,
    role,
  }));
}

function reasons(of: readonly Deletion[], maxDeletes: number, maxDeletesPercent: number): readonly string[] {
  const holdings = { own: 100, kinds: new Map([['ConfigMap', 100]]), declares: 50, configured: true };
  return listOf('fleet', of, { holdings, limits: { maxDeletes, maxDeletesPercent }, faults: [] }).reasons;
}

test.each([
  { reason: 'the first deletion never exceeds a share', count: 1, max: 20, percent: 0, waits: [] },
  { reason: 'nor does it exceed a count of one', count: 1, max: 1, percent: 0, waits: [] },
  {
    reason: 'a limit of zero requires an approval for every deletion, including the first',
    count: 1,
    max: 0,
    percent: 100,
    waits: ['1 deletion, more than apply.maxDeletes allows (0)'],
  },
  {
    reason: 'from the second one on the share counts',
    count: 2,
    max: 20,
    percent: 1,
    waits: ['2 of 100 ConfigMap, more than apply.maxDeletesPercent allows (1 %)'],
  },
])('$count of 100 with maxDeletes $max and $percent %: $reason', ({ count, max, percent, waits }) => {
  expect(reasons(deletions(count), max, percent)).toEqual(waits);
});

test('children that are deleted with their owner are not counted, even with a limit of zero', () => {
  expect(reasons(deletions(3, 'follows'), 0, 0)).toEqual([]);
});

test('kinds that may not be listed need an approval, with the same hash for a user who lists them and finds none', () => {
  const holdings = { own: 100, kinds: new Map(), declares: 50, configured: true };
  const known = { holdings, limits: { maxDeletes: 20, maxDeletesPercent: 100 }, faults: [] };
  const [namespace] = deletions(1);
  const listed = (more: Partial<Deletion>) =>
    listOf('fleet', namespace === undefined ? [] : [{ ...namespace, ...more }], known);
  const [blind, seeing] = [listed({ mayTake: ['LimitRange', 'Lease'] }), listed({})];
  expect(blind.reasons).toEqual([
    'deleting tools/ConfigMap/0 also deletes all objects of kinds that may not be listed: LimitRange, Lease',
  ]);
  expect([blind.hash, seeing.reasons]).toEqual([seeing.hash, []]);
  expect(listed({ takes: ['tools/Lease/theirs'] }).hash).not.toBe(seeing.hash);
});
