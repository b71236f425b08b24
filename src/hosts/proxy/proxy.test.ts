// Tests the status and the logged code of requests that a running proxy refuses.

import { createServer, request as httpRequest, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { RunConfig } from '#contracts/run-config.ts';
import { createWatchedFiles } from '../watched-files.ts';
import { type RunningProxy, startProxy } from './proxy.ts';

const records: Record<string, unknown>[] = [];
const logger = pino({ level: 'debug' }, { write: (line: string) => void records.push(JSON.parse(line)) });

let backend: Server;
let proxy: RunningProxy;

function configOf(port: number): RunConfig {
  return {
    schema_version: 'v0.1.0',
    name: 'weather',
    namespace: 'agents',
    transport: 'streamable-http',
    proxy_mode: 'streamable-http',
    host: '127.0.0.1',
    port: 0,
    remote_url: `http://127.0.0.1:${port}/mcp`,
    trust_proxy_headers: false,
    audit_config: { enabled: false, component: 'weather' },
    tools_filter: ['read'],
    limits: { request_bytes: 1000, message_bytes: 2000 },
  };
}

/** Responses of the server by the id of the request. */
const ANSWERS: Readonly<Record<string, { status?: number; type?: string; body: string }>> = {
  html: { type: 'text/html', body: '<p>not here</p>' },
  redirect: { status: 302, type: 'text/plain', body: '' },
  broken: { status: 500, type: 'text/plain', body: 'out of memory' },
  large: { body: `{"jsonrpc":"2.0","id":"large","result":{"tools":[],"more":"${'x'.repeat(3000)}"}}` },
  unreadable: { body: '{"jsonrpc":"2.0","id":"unreadable","result":{"tools":[],"tools":[]}}' },
};

beforeAll(async () => {
  backend = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const { id = '' } = body === '' ? {} : JSON.parse(body);
    if (id === 'closed') return request.socket.destroy();
    const {
      status = 200,
      type = 'application/json',
      body: text = '{"jsonrpc":"2.0","id":1,"result":{}}',
    } = ANSWERS[id] ?? {};
    return response.writeHead(status, { 'content-type': type }).end(text);
  });
  await new Promise<void>((resolve) => backend.listen(0, '127.0.0.1', resolve));
  const { port } = backend.address() as AddressInfo;
  proxy = await startProxy({ config: configOf(port), environment: {}, files: createWatchedFiles(), logger });
});

afterAll(async () => {
  await proxy.stop();
  backend.closeAllConnections();
  backend.close();
});

interface Row {
  readonly reason: string;
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly status: number;
  readonly code: string;
}

const JSON_TYPE = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

function call(method: string, id: unknown = 1, params: object = {}): string {
  return JSON.stringify({ jsonrpc: '2.0', id, method, params });
}

test.each<Row>([
  { reason: 'another path', path: '/admin', status: 404, code: 'path-unknown' },
  { reason: 'another method', method: 'PUT', status: 405, code: 'method-refused' },
  { reason: 'a page', method: 'GET', headers: { accept: 'text/html' }, status: 406, code: 'accept-refused' },
  {
    reason: 'a form',
    headers: { 'content-type': 'text/plain' },
    body: 'a=1',
    status: 415,
    code: 'content-type-refused',
  },
  { reason: 'no JSON', body: '{', status: 400, code: 'message-invalid' },
  { reason: 'a batch', body: '[]', status: 400, code: 'message-invalid' },
  { reason: 'too much', body: call('ping', 'x'.repeat(2000)), status: 413, code: 'request-too-large' },
  {
    reason: 'an unknown revision',
    headers: { ...JSON_TYPE, 'mcp-protocol-version': '1999-01-01' },
    body: call('ping'),
    status: 400,
    code: 'protocol-violated',
  },
  {
    reason: 'an invented session',
    headers: { ...JSON_TYPE, 'mcp-session-id': 'abc' },
    body: call('ping'),
    status: 404,
    code: 'session-unknown',
  },
  { reason: 'a hidden tool', body: call('tools/call', 1, { name: 'write' }), status: 200, code: 'tool-unknown' },
  { reason: 'an answer in HTML', body: call('ping', 'html'), status: 502, code: 'server-answer-invalid' },
  { reason: 'a redirect', body: call('ping', 'redirect'), status: 502, code: 'server-answer-invalid' },
  { reason: 'a connection that closes', body: call('ping', 'closed'), status: 502, code: 'server-closed' },
  { reason: 'an error of the server', body: call('ping', 'broken'), status: 500, code: 'server-error' },
  {
    reason: 'a list beyond the bound',
    body: call('tools/list', 'large'),
    status: 502,
    code: 'server-answer-too-large',
  },
  { reason: 'a list with a key twice', body: call('tools/list', 'unreadable'), status: 200, code: 'list-unreadable' },
  {
    reason: 'a foreign page',
    headers: { ...JSON_TYPE, origin: 'https://evil.example' },
    body: call('ping'),
    status: 403,
    code: 'origin-refused',
  },
])(
  'refuses $reason with $status and says $code',
  async ({ method = 'POST', path = '/mcp', headers = JSON_TYPE, body, status, code }) => {
    records.length = 0;
    expect(await ask(method, path, headers, body)).toBe(status);
    await expect.poll(() => records.flatMap(({ reason, code: own }) => [reason, own])).toContain(code);
  },
);

function ask(method: string, path: string, headers: Readonly<Record<string, string>>, body?: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(new URL(path, proxy.url), { method, headers }, (response) => {
      response.resume();
      response.on('close', () => resolve(response.statusCode ?? 0));
    });
    request.on('error', reject);
    request.end(body);
  });
}
