// The service over a real socket: what a framework's test injection would smooth over.

import { connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Issuer, startIssuer } from '../../harness/issuer.ts';
import { AUDIENCE, type Gate, openGate, REFUSED } from './gate.ts';

let issuer: Issuer;
let gate: Gate;
let token: string;
let port: number;

beforeAll(async () => {
  issuer = await startIssuer();
  gate = await openGate([{ issuerUrl: issuer.url }]);
  port = Number(new URL(await gate.app.listen({ host: '127.0.0.1', port: 0 })).port);
  token = await issuer.token('jwt', AUDIENCE);
});

afterAll(async () => {
  await gate.close();
  await issuer.close();
});

interface RawAnswer {
  readonly status: number;
  /** In lower case, one line per header. */
  readonly head: string;
  readonly body: string;
}

/** Sends exactly these bytes and reads until the service closes the connection. */
function raw(text: string): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port });
    let answer = '';
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      answer += chunk;
    });
    socket.once('error', reject);
    socket.once('close', () => {
      const [head = '', body = ''] = answer.split('\r\n\r\n', 2);
      resolve({ status: Number(head.split(' ')[1]), head: head.toLowerCase(), body });
    });
    socket.write(text);
  });
}

function request(target: string, ...headers: readonly string[]): string {
  return [`GET ${target} HTTP/1.1`, 'Host: registry.example', 'Connection: close', ...headers, '', ''].join('\r\n');
}

const INVALID_REQUEST =
  'bearer realm="mcp-registry", error="invalid_request", error_description="missing or malformed authorization header", ' +
  'resource_metadata="https://registry.example/.well-known/oauth-protected-resource/base"';

test('one valid token is let in', async () => {
  expect((await raw(request('/other/v0.1/servers', `Authorization: Bearer ${token}`))).status).toBe(404);
});

test('two Authorization headers are refused even if both are valid', async () => {
  const header = `Authorization: Bearer ${token}`;
  const answer = await raw(request('/other/v0.1/servers', header, header));
  expect(answer.status).toBe(401);
  expect(answer.head).toContain(`www-authenticate: ${INVALID_REQUEST}`);
  expect(answer.body).toBe('{"error":"missing or malformed authorization header"}');
});

test.each([
  { header: 'Authorization: Bearer', reason: 'no token' },
  { header: 'Authorization: Bearer a b', reason: 'two tokens' },
  { header: 'Authorization: Bearer a, Bearer b', reason: 'two credentials in one header' },
])('$reason is a malformed header', async ({ header }) => {
  const answer = await raw(request('/other/v0.1/servers', header));
  expect(answer).toMatchObject({ status: 401, body: '{"error":"missing or malformed authorization header"}' });
  expect(answer.head).toContain(`www-authenticate: ${INVALID_REQUEST}`);
});

test.each([
  { headers: [], reason: 'no header' },
  { headers: ['Authorization: Basic dXNlcjpwYXNz'], reason: 'another scheme' },
  { headers: ['Cookie: token=abc', 'X-Access-Token: abc'], reason: 'a token in the wrong place' },
])('$reason gets a challenge without an error', async ({ headers }) => {
  const answer = await raw(request('/other/v0.1/servers?access_token=abc', ...headers));
  expect(answer).toMatchObject({ status: 401, body: '{"error":"missing or malformed authorization header"}' });
  expect(answer.head).toContain(
    'www-authenticate: bearer realm="mcp-registry", resource_metadata="https://registry.example/.well-known/oauth-protected-resource/base"\r\n',
  );
});

test('a token of the longest accepted length is looked at, a longer one is not, and a huge one is no request', async () => {
  const longest = await raw(request('/other/v0.1/servers', `Authorization: Bearer ${'a'.repeat(16_384)}`));
  expect(longest).toMatchObject({ status: 401, body: REFUSED.body });
  expect(gate.logs()).toContain('"code":"provider-unknown"');
  const longer = await raw(request('/other/v0.1/servers', `Authorization: Bearer ${'a'.repeat(16_385)}`));
  expect(longer).toMatchObject({ status: 401, body: REFUSED.body });
  expect(gate.logs()).toContain('"code":"token-too-long"');
  const huge = await raw(request('/other/v0.1/servers', `Authorization: Bearer ${'a'.repeat(40_000)}`));
  expect(huge).toMatchObject({ status: 431, body: '{"error":"request header fields too large"}' });
});

test.each([
  '/health/../tools/v0.1/servers',
  '/health/%2e%2e/tools/v0.1/servers',
  '/health/.%2E/tools/v0.1/servers',
  '/health/%252e%252e/tools/v0.1/servers',
  '/health%2f..%2ftools/v0.1/servers',
  '/health/..%5c..%5ctools/v0.1/servers',
  '/.well-known/../tools/v0.1/servers',
  '/.well-known/x/../../tools/v0.1/servers',
  '/version/../registry/tools/v0.1/servers',
  '/tools/v0.1/servers#/../../health',
  '/tools/v0.1/servers?/health',
  '//tools/v0.1/servers',
  '/./tools/v0.1/servers',
  '/tools/v0.1/servers/',
  '/tools/./v0.1/servers/../servers',
  'http://registry.example/tools/v0.1/servers',
  'http://health/../tools/v0.1/servers',
  'health/../tools/v0.1/servers',
  '/TOOLS/v0.1/servers',
  '/unknown',
  '/page',
  '/openapi.json',
])('%s is not let in without a token', async (target) => {
  const { status } = await raw(request(target));
  // 400: Node itself does not take the target for one.
  expect([400, 401]).toContain(status);
  expect(await raw(request('/health'))).toMatchObject({ status: 200 });
});

test.each([
  '/',
  '/health',
  '/health/',
  '/%68ealth',
  '/tools/../health',
  '/version',
  '/.well-known/oauth-protected-resource',
  '/.well-known/oauth-protected-resource/base',
  '/tools/v0.1/servers;/../../../health',
  'http://registry.example/health',
])('%s needs no token', async (target) => {
  expect((await raw(request(target))).status).toBe(200);
});

test.each(['/health/%2f../../tools/v0.1/servers', '/health/tools/v0.1/servers', '/.well-known/%2e/tools/v0.1/servers'])(
  '%s is below a public path, where there is nothing',
  async (target) => {
    expect(await raw(request(target))).toMatchObject({ status: 404, body: '{"error":"not found"}' });
  },
);

test.each([
  { text: 'NONSENSE\r\n\r\n', status: 400, reason: 'no HTTP' },
  {
    text: 'POST /health HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n',
    status: 400,
    reason: 'two lengths',
  },
])('$reason is answered with $status in JSON', async ({ text, status }) => {
  expect(await raw(text)).toMatchObject({ status, body: '{"error":"bad request"}' });
});

test('a badly encoded path is answered with 400', async () => {
  expect(await raw(request('/%zz'))).toMatchObject({ status: 400, body: '{"error":"bad request"}' });
});

test('every method but GET, HEAD and OPTIONS is refused before its body is read', async () => {
  const head = [
    'POST /health HTTP/1.1',
    'Host: a',
    'Connection: close',
    'Content-Type: text/x',
    'Content-Length: 1000000',
  ];
  const answer = await raw([...head, '', ''].join('\r\n'));
  expect(answer).toMatchObject({ status: 405, body: '{"error":"method not allowed"}' });
  expect(answer.head).toContain('allow: get, head, options');
});

test.each(['/basex', '/base/more', '/other/base', '/bas'])(
  'there is no metadata for the resource %s',
  async (suffix) => {
    const answer = await raw(request(`/.well-known/oauth-protected-resource${suffix}`));
    expect(answer).toMatchObject({ status: 404, body: '{"error":"not found"}' });
  },
);

test('the token comes before the method', async () => {
  expect(await raw(request('/tools/v0.1/servers').replace('GET', 'DELETE'))).toMatchObject({ status: 401 });
});

test('HEAD is answered like GET, without a body', async () => {
  const answer = await raw(request('/health').replace('GET', 'HEAD'));
  expect(answer).toMatchObject({ status: 200, body: '' });
  expect(answer.head).toContain('content-length: 20');
});
