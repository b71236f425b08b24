import { describe, expect, it } from 'vitest';
import type { JsonObject } from '#std/json.ts';
import { failureEvent } from './events.ts';

const AT = '2026-11-21T12:00:00.123Z';
const ID = { apiVersion: 'toolhive.stacklok.dev/v1alpha1', kind: 'MCPServer', namespace: 'agents', name: 'weather' };

function statusOf(phase: string | undefined, reason: string, message = 'why', holds = 'False'): JsonObject {
  const conditions = [
    { type: 'Other', status: 'False', reason: 'Whatever' },
    { type: 'Ready', status: holds, reason, message },
  ];
  return { ...(phase === undefined ? {} : { phase }), conditions };
}

function event(before: JsonObject | undefined, status: JsonObject, name = 'weather') {
  const metadata = { name, namespace: 'agents', uid: 'u1', resourceVersion: '7' };
  const live = { apiVersion: ID.apiVersion, kind: ID.kind, metadata, spec: {} };
  const id = { ...ID, name };
  return failureEvent({ id, live: before === undefined ? live : { ...live, status: before }, status }, 'prod', AT);
}

const FAILED = statusOf('Failed', 'ReferenceMissing', 'no MCPGroup "x"');

describe('an Event about a failure', () => {
  it('names the failed resource, the reason, and the reporter', () => {
    expect(event(undefined, FAILED)).toEqual({
      apiVersion: 'events.k8s.io/v1',
      kind: 'Event',
      metadata: { name: expect.stringMatching(/^weather\.[0-9a-f]{16}$/), namespace: 'agents' },
      eventTime: '2026-11-21T12:00:00.123000Z',
      type: 'Warning',
      action: 'Reconcile',
      reason: 'ReferenceMissing',
      note: 'no MCPGroup "x"',
      regarding: { ...ID, uid: 'u1', resourceVersion: '7' },
      reportingController: 'skep.dev/reconciler',
      reportingInstance: 'skep-prod',
    });
  });

  const rows: { reason: string; before?: JsonObject; status: JsonObject; reported: string | undefined }[] = [
    { reason: 'it is the first status', status: FAILED, reported: 'ReferenceMissing' },
    {
      reason: 'it was ready',
      before: statusOf('Running', 'Ready', '', 'True'),
      status: FAILED,
      reported: 'ReferenceMissing',
    },
    {
      reason: 'it was on its way',
      before: statusOf('Pending', 'Missing'),
      status: FAILED,
      reported: 'ReferenceMissing',
    },
    {
      reason: 'it fails for another reason',
      before: statusOf('Failed', 'Other'),
      status: FAILED,
      reported: 'ReferenceMissing',
    },
    {
      reason: 'settings, which have no phase, cannot be used',
      before: statusOf(undefined, 'Valid', '', 'True'),
      status: statusOf(undefined, 'ValidationFailed'),
      reported: 'ValidationFailed',
    },
    {
      reason: 'the same failure has other words',
      before: statusOf('Failed', 'ReferenceMissing', 'no MCPGroup "y"'),
      status: FAILED,
      reported: undefined,
    },
    { reason: 'it got ready', before: FAILED, status: statusOf('Running', 'Ready', '', 'True'), reported: undefined },
    { reason: 'it is on its way', before: FAILED, status: statusOf('Pending', 'Missing'), reported: undefined },
    { reason: 'it was scaled to zero', status: statusOf('Stopped', 'ScaledToZero'), reported: undefined },
  ];

  it.each(rows)('is $reported if $reason', ({ before, status, reported }) => {
    expect(event(before, status)?.reason).toBe(reported);
  });

  it('is short enough for the API server, and no character is cut in two', () => {
    const long = event(undefined, statusOf('Failed', 'R'.repeat(200), 'ü'.repeat(1000)), 'w'.repeat(253));
    expect(long?.reason).toBe(`${'R'.repeat(125)}...`);
    expect(long?.note).toBe(`${'ü'.repeat(510)}...`);
    expect(long?.metadata.name).toHaveLength(253);
  });
});
