import { expect, test } from 'vitest';
import type { BackendFault } from '../backends/backend.ts';
import { faultCode, faultRefusal, refusalBody } from './faults.ts';

test.each<{ reason: BackendFault['reason']; status: number; code: string }>([
  { reason: 'unreachable', status: 502, code: 'server-unreachable' },
  { reason: 'closed', status: 502, code: 'server-closed' },
  { reason: 'timeout', status: 504, code: 'server-timeout' },
  { reason: 'busy', status: 503, code: 'server-busy' },
  { reason: 'not-started', status: 503, code: 'server-not-started' },
  { reason: 'not-started', status: 503, code: 'server-not-started' },
  { reason: 'answer-invalid', status: 502, code: 'server-answer-invalid' },
  { reason: 'answer-too-large', status: 502, code: 'server-answer-too-large' },
  { reason: 'not-supported', status: 501, code: 'server-not-supported' },
  { reason: 'unauthorized', status: 401, code: 'server-unauthorized' },
  { reason: 'forbidden', status: 403, code: 'server-forbidden' },
  { reason: 'session-unknown', status: 404, code: 'session-unknown' },
])('answers with status $status for the fault $reason', ({ reason, status, code }) => {
  const fault = { reason, message: 'the words for the client', detail: 'host and cause' };
  const refusal = faultRefusal(fault);
  expect([refusal.status, refusal.reason, faultCode(fault)]).toEqual([status, code, code]);
  const body = refusalBody(refusal, { span: { start: 0, end: 1 }, json: '7' }).toString();
  expect(JSON.parse(body)).toEqual({
    jsonrpc: '2.0',
    id: 7,
    error: { code: -32603, message: 'the words for the client' },
  });
});

test('tells the client when to retry a busy server', () => {
  const refusal = faultRefusal({ reason: 'busy', message: 'all taken', retryAfterSeconds: 5 });
  expect(refusal.headers).toEqual({ 'retry-after': '5' });
});
