// Tests which plan files are refused after a rollback, and that a plan file belongs to one cluster.

import { expect, test } from 'vitest';
import { NO_RECORD } from '../records/long-record.ts';
import type { Quarantined } from '../records/quarantine.ts';
import { checkRollback, identifyCluster } from './binding.ts';

const [GOOD, BAD, OLDER, OTHER] = ['a', 'b', 'c', 'd'].map((digit) => digit.repeat(40)) as [
  string,
  string,
  string,
  string,
];
const ENTRY: Quarantined = {
  source: 'fleet',
  good: GOOD,
  bad: BAD,
  older: [OLDER, GOOD],
  run: 'run-1',
  since: '2026-01-01T12:00:00.000Z',
};
const [BEFORE, AFTER] = ['2026-01-01T11:59:59.000Z', '2026-01-01T12:00:01.000Z'] as const;

test.each([
  { commit: OTHER, createdAt: BEFORE, refused: true, reason: 'it was made before the rollback' },
  { commit: BAD, createdAt: BEFORE, refused: true, reason: 'the rollback left this commit' },
  { commit: BAD, createdAt: AFTER, refused: true, reason: 'clocks of two machines differ' },
  { commit: OLDER, createdAt: AFTER, refused: true, reason: 'it came before the commit that the rollback left' },
  { commit: GOOD, createdAt: BEFORE, refused: false, reason: 'the rollback went back to this commit' },
  { commit: OTHER, createdAt: AFTER, refused: false, reason: 'it is news' },
])('$reason: refused is $refused', ({ commit, createdAt, refused }) => {
  const sources = [{ name: 'fleet', repository: 'https://git.example.com/fleet.git', ref: 'branch main', commit }];
  const quarantine = { entries: new Map([[ENTRY.source, ENTRY]]), stored: NO_RECORD };
  const check = () => checkRollback({ createdAt, sources }, quarantine);
  if (refused) expect(check).toThrow(expect.objectContaining({ code: 'plan-rolled-back' }));
  else expect(check).not.toThrow();
  expect(() => checkRollback({ createdAt, sources }, { entries: new Map(), stored: NO_RECORD })).not.toThrow();
});

test('a plan file needs an existing home namespace', async () => {
  await expect(identifyCluster({ get: async () => undefined }, 'nowhere')).rejects.toMatchObject({
    code: 'plan-homeless',
    message: expect.stringContaining('nowhere'),
  });
});
