// Tests that a record in the format of a newer release is never read or changed.

import { expect, test } from 'vitest';
import { Failure } from '#std/failure.ts';
import { openClusterHistory } from '../history/in-cluster.ts';
import { failedRecord } from '../history/record.ts';
import { openClusterMemory } from '../notify/in-cluster.ts';
import type { Cluster } from '../ports.ts';
import { readApprovals, storeApproval } from './approval.ts';
import { RECORD_VERSION } from './home-record.ts';
import { clearQuarantine, readQuarantine } from './quarantine.ts';
import { readSuspension, resume, suspend } from './suspension.ts';

const HOME = { instance: 'prod', homeNamespace: 'skep', limit: 10 };
const CLOCK = { now: () => 0 };
const NOWHERE = { id: 'a', startedAt: '', finishedAt: '' };

const writes: string[] = [];
const write = async (): Promise<never> => {
  writes.push('written');
  throw new Error('written');
};

/** Returns a cluster whose records have this version. */
const clusterOf = (version: string): Pick<Cluster, 'get' | 'create' | 'replace'> => ({
  get: async ({ apiVersion, kind, name, namespace = '' }) => ({
    apiVersion,
    kind,
    metadata: { name, namespace, annotations: { [RECORD_VERSION]: version } },
    data: { hash: 'x', a: '{}' },
  }),
  create: write,
  replace: write,
});

type Deps = ReturnType<typeof clusterOf>;

const USES: Readonly<Record<string, (cluster: Deps) => Promise<unknown>>> = {
  'approval is read': (cluster) => readApprovals(cluster, HOME),
  'approval is given': (cluster) => storeApproval({ cluster, clock: CLOCK }, HOME, { hash: 'y', deletions: [] }, ''),
  'suspension is read': (cluster) => readSuspension(cluster, HOME),
  'suspension is begun': (cluster) => suspend({ cluster, clock: CLOCK }, HOME, { who: 'me', reason: 'none' }),
  'suspension is ended': (cluster) => resume({ cluster }, HOME),
  'quarantine is read': (cluster) => readQuarantine(cluster, HOME),
  'quarantine is cleared': (cluster) => clearQuarantine(cluster, HOME, []),
  'history is read': (cluster) => openClusterHistory(cluster, HOME).latest(1),
  'history is written': (cluster) =>
    openClusterHistory(cluster, HOME).append(failedRecord(NOWHERE, new Failure('locked', 'a'))),
  'memory of notices is read': (cluster) => openClusterMemory(cluster, HOME).read(),
  'memory of notices is written': (cluster) => openClusterMemory(cluster, HOME).write(new Map()),
};

test.each(Object.entries(USES))('the %s', async (_name, use) => {
  const refused = use(clusterOf('2'));
  await expect(refused).rejects.toBeInstanceOf(Failure);
  await expect(refused).rejects.toMatchObject({
    code: 'record-of-newer-release',
    message: expect.stringMatching(
      /^skep\/ConfigMap\/skep-prod-\w+ is of version 2, and this skep reads version 1: a newer release has written it$/,
    ),
  });
  expect(writes).toEqual([]);
});

test('a record with this version is read', async () => {
  expect(await openClusterHistory(clusterOf('1'), HOME).latest(1)).toEqual([]);
});
