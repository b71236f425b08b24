import { expect, test } from 'vitest';
import type { Json } from '#std/json.ts';
import { reportedState } from './readiness.ts';

const rows: readonly { readonly status: Json; readonly state: string; readonly reason: string }[] = [
  { status: null, state: 'ready', reason: 'kinds that hold settings have no status' },
  { status: { phase: 'Running' }, state: 'ready', reason: 'a phase of the existing platform' },
  { status: { phase: 'Ready', observedGeneration: 2 }, state: 'ready', reason: 'about the live object' },
  { status: { phase: 'Ready', observedGeneration: 1 }, state: 'progressing', reason: 'about an earlier version' },
  { status: { phase: 'Pending' }, state: 'progressing', reason: 'it says so' },
  { status: { phase: 'Failed' }, state: 'failed', reason: 'it says so' },
  { status: { conditions: [{ type: 'Ready', status: 'False' }] }, state: 'progressing', reason: 'not yet' },
  { status: { conditions: [{ type: 'Ready', status: 'True' }] }, state: 'ready', reason: 'it says so' },
  { status: { conditions: [{ type: 'Valid', status: 'False' }] }, state: 'ready', reason: 'not about readiness' },
];

test.each(rows)('status $status of another operator means $state: $reason', ({ status, state }) => {
  const object = { apiVersion: 'v1', kind: 'Any', metadata: { name: 'a', generation: 2 }, status };
  expect(reportedState(object)).toBe(state);
});
