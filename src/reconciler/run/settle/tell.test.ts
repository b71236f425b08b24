// Tests the report if a status cannot be written.

import { expect, test } from 'vitest';
import { Failure } from '#std/failure.ts';
import { writeStatuses } from './tell.ts';

const id = { apiVersion: 'toolhive.stacklok.dev/v1alpha1', kind: 'MCPServer', namespace: 'tools', name: 'one' };
const live = {
  apiVersion: id.apiVersion,
  kind: id.kind,
  metadata: { namespace: 'tools', name: 'one', uid: 'uid' },
  spec: {},
};

test.each([
  { departing: false, codes: ['status-not-written'], reason: 'a status that the server refuses is reported' },
  { departing: true, codes: [], reason: 'the status of a deleted object is not reported' },
])('$reason', async ({ departing, codes }) => {
  const cluster = {
    apply: () => Promise.reject(new Failure('cluster-not-found', 'no such server')),
    create: () => Promise.reject(new Error('an Event about nothing')),
  };
  const clock = { now: () => 0, monotonic: () => 0, sleep: async () => undefined };
  const change = { id, live, status: {}, written: {}, ...(departing ? { departing } : {}) };
  const reported = await writeStatuses({ cluster, clock, instance: 'test' }, [change], '2026-01-01T00:00:00.000Z');
  expect(reported.failures.map(({ code }) => code)).toEqual(codes);
});
