import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { createProxyMetrics } from '../metrics.ts';
import { type Recorders, recordCall } from './record.ts';

test('logs and traces a request whose audit event cannot be written, and logs the failure', () => {
  const kept: unknown[] = [];
  const line = (facts: object, message: string) => kept.push([message, facts]);
  const recorders: Recorders = {
    audit: {
      component: 'weather',
      write() {
        throw new Error('the disk is full');
      },
      newId: () => 'a',
      now: () => 0,
    },
    metrics: createProxyMetrics({
      ...{ version: '1', server: 'fleet', transport: 'stdio' },
      isKnownMethod: () => true,
      isKnownRevision: () => true,
    }),
    log: { debug: line, info: line, warn: line, error: line },
    ...{ server: 'fleet', transport: 'stdio', network: 'pipe', legacyAttributes: false },
  };
  recordCall(recorders, {
    request: Object.assign(new IncomingMessage(new Socket()), { method: 'POST' }),
    ...{ requestId: 'r1', path: '/mcp', seconds: 0.1 },
    span: { context: {}, recording: true, traceId: 't', end: (name) => kept.push(['span', name]) },
    ended: { status: 200, outcome: 'success', reason: '', responseBytes: 10 },
    forwarded: { trusted: false, headers: {}, prefix: '' },
  });
  const reason = expect.stringContaining('the disk is full');
  expect(kept).toEqual([
    ['the audit event of a request was not written', { requestId: 'r1', path: '/mcp', reason }],
    ['request', expect.objectContaining({ requestId: 'r1', status: 200 })],
    ['span', 'POST /mcp'],
  ]);
});
