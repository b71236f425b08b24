// Tests the outbound client with real servers on loopback: limits, addresses, redirects, TLS, error messages. In one
// file, because all tests share the servers and their certificates.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import type { Fetch } from '#auth/ports.ts';
import { createAuthority, createServerCertificate } from '#kubernetes/devcluster/identity/certificate.ts';
import { Failure } from '#std/failure.ts';
import { createOutbound, type Outbound, type OutboundOptions, type OutboundRequest } from './outbound.ts';

const LOOPBACK = ['127.0.0.0/8', '::1'];
const cleanups: (() => unknown)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

function outbound(options: Partial<OutboundOptions> = {}): Outbound {
  const created = createOutbound({ allowPrivate: LOOPBACK, version: '1.2.3', ...options });
  cleanups.push(() => created.close());
  return created;
}

async function listen(server: Server): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => sockets.add(socket));
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  cleanups.push(() => {
    for (const socket of sockets) socket.destroy();
    return new Promise((done) => server.close(done));
  });
  return (server.address() as AddressInfo).port;
}

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

async function serve(handler: Handler): Promise<string> {
  return `http://127.0.0.1:${await listen(createServer(handler))}`;
}

/** Starts a server that responds to every request with these bytes. Then it closes the connection or leaves it open. */
async function serveBytes(bytes: string, then: 'end' | 'stay'): Promise<string> {
  const server = createTcpServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => (then === 'end' ? socket.end(bytes) : socket.write(bytes)));
  });
  return `http://127.0.0.1:${await listen(server)}`;
}

async function failureOf(
  client: Outbound,
  request: Partial<OutboundRequest> & { readonly url: string },
): Promise<Failure> {
  const answer = await client.request({ method: 'GET', ...request }).catch((error: unknown) => error);
  if (answer instanceof Failure) return answer;
  throw new Error(`no Failure but ${JSON.stringify(answer)}`);
}

async function check(
  client: Outbound,
  request: Partial<OutboundRequest> & { readonly url: string },
  expected: { readonly code: string; readonly says: string; readonly retryable?: boolean },
): Promise<void> {
  const { code, message, retryable } = await failureOf(client, request);
  expect({ code, message, retryable }).toEqual({
    code: expected.code,
    message: expect.stringContaining(expected.says),
    retryable: expected.retryable ?? false,
  });
}

test('a response has its status, its body and joined headers in lower case, and the request names skep', async () => {
  const url = await serve((request, response) => {
    response.setHeader('Set-Cookie', ['a=1', 'b=2']);
    response.writeHead(404).end(`${request.method} ${request.url} ${request.headers['user-agent']}`);
  });
  const fetch: Fetch = outbound().request;
  const answer = await fetch({ url: `${url}/a?b=c`, method: 'GET', headers: {}, timeoutMs: 5000, maxBytes: 1000 });
  expect([answer.status, answer.headers['set-cookie'], Buffer.from(answer.body).toString()]).toEqual([
    404,
    'a=1, b=2',
    'GET /a?b=c skep/1.2.3',
  ]);
});

test('a POST sends its body and its headers', async () => {
  const url = await serve(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    response.end(`${request.headers['content-type']} ${Buffer.concat(chunks).toString()}`);
  });
  const answer = await outbound().request({ url, method: 'POST', body: 'a=b', headers: { 'Content-Type': 'x/y' } });
  expect(Buffer.from(answer.body).toString()).toBe('x/y a=b');
});

test('requests to one origin share connections', async () => {
  const ports = new Set<number | undefined>();
  const url = await serve((request, response) => {
    ports.add(request.socket.remotePort);
    response.end();
  });
  const client = outbound();
  for (let count = 0; count < 6; count += 1) await client.request({ url, method: 'GET' });
  expect(ports.size).toBeLessThan(3);
});

test.each([
  { url: (port: number) => `http://127.0.0.1:${port}/`, says: '127.0.0.1 is a loopback address', reason: 'a literal' },
  { url: (port: number) => `http://2130706433:${port}/`, says: '127.0.0.1 is a loopback address', reason: 'a number' },
  { url: (port: number) => `http://[::ffff:127.0.0.1]:${port}/`, says: 'is a loopback address', reason: 'IPv4-mapped' },
  { url: (port: number) => `http://localhost:${port}/`, says: 'localhost resolves to', reason: 'a name' },
])('a private address is refused before a request is sent: $reason', async ({ url, says }) => {
  let connections = 0;
  const server = createServer();
  server.on('connection', () => {
    connections += 1;
  });
  const port = await listen(server);
  await check(outbound({ allowPrivate: [] }), { url: url(port) }, { code: 'outbound-refused-address', says });
  expect(connections).toBe(0);
});

test('a request that may use private addresses shares no connection with other requests', async () => {
  const url = await serve((_request, response) => response.end('ok'));
  const client = outbound({ allowPrivate: [] });
  const answer = await client.request({ url, method: 'GET', allowPrivate: true });
  expect(answer.status).toBe(200);
  await check(client, { url }, { code: 'outbound-refused-address', says: 'is a loopback address' });
});

test('the message contains the setting that can permit a private address', async () => {
  const client = outbound({ allowPrivate: [] });
  const refused = { url: 'http://10.0.0.1/keys' };
  await check(client, refused, { code: 'outbound-refused-address', says: 'outbound.allowPrivate can name its range' });
  await check(
    client,
    { ...refused, allowPrivateBy: 'jwksAllowPrivateIP' },
    { code: 'outbound-refused-address', says: '10.0.0.1 is a private address; jwksAllowPrivateIP can allow it' },
  );
});

test('only the permitted addresses of a host are used', async () => {
  const url = new URL(await serve((_request, response) => response.end('ok')));
  const resolve = async () => [
    { address: '127.0.0.2', family: 4 },
    { address: '127.0.0.1', family: 4 },
  ];
  const client = outbound({ allowPrivate: ['127.0.0.1'], resolve });
  const answer = await client.request({ url: `http://git.example.com:${url.port}/`, method: 'GET' });
  expect(answer.status).toBe(200);
});

test('a host that resolves to a private address at the second request is then refused', async () => {
  const url = new URL(await serve((_request, response) => response.setHeader('connection', 'close').end('ok')));
  const answers = ['127.0.0.1', '10.0.0.1'];
  const resolve = async () => [{ address: answers.shift() ?? '', family: 4 }];
  const client = outbound({ allowPrivate: ['127.0.0.1'], resolve });
  const target = `http://rebind.example.com:${url.port}/`;
  expect((await client.request({ url: target, method: 'GET' })).status).toBe(200);
  const says = 'rebind.example.com resolves to 10.0.0.1, which is a private address';
  await check(client, { url: target }, { code: 'outbound-refused-address', says });
});

test.each([
  {
    url: 'ftp://example.com/',
    code: 'outbound-invalid-url',
    says: 'not an absolute http or https URL',
    reason: 'a scheme',
  },
  { url: '/relative', code: 'outbound-invalid-url', says: 'not an absolute http or https URL', reason: 'no host' },
  {
    url: 'https://bot:hunter2@example.com/',
    code: 'outbound-invalid-url',
    says: 'https://example.com/',
    reason: 'secrets',
  },
  { url: 'http://example.com/', code: 'outbound-insecure', says: 'only https', reason: 'https is demanded' },
])('$url is refused: $reason', async ({ url, code, says }) => {
  await check(outbound({ httpsOnly: true }), { url }, { code, says });
});

test('messages contain neither the credentials nor the query of the URL', async () => {
  const client = outbound({ allowPrivate: [] });
  const failures = [
    await failureOf(client, { url: 'https://bot:hunter2@127.0.0.1/path?token=hunter2#hunter2' }),
    await failureOf(client, { url: 'https://127.0.0.1/path?token=hunter2' }),
  ];
  for (const { message, data } of failures) {
    expect(`${message} ${JSON.stringify(data)}`).toContain('https://127.0.0.1/path?…');
    expect(`${message} ${JSON.stringify(data)}`).not.toContain('hunter2');
  }
});

test('a body over the limit is refused, with or without content-length', async () => {
  const url = await serve((request, response) => {
    if (request.url === '/announced') response.setHeader('content-length', 5000);
    response.write('x'.repeat(2500));
    response.end('x'.repeat(2500));
  });
  for (const path of ['/announced', '/chunked']) {
    const says = `${path}: the answer is larger than 4999 bytes`;
    await check(outbound(), { url: url + path, maxBytes: 4999 }, { code: 'outbound-too-large', says });
    expect((await outbound().request({ url: url + path, method: 'GET', maxBytes: 5000 })).body.length).toBe(5000);
  }
});

test.each([
  { bytes: '', reason: 'no headers' },
  { bytes: 'HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf', reason: 'half a body' },
])('a request to a server that stops sending fails at the timeout: $reason', async ({ bytes }) => {
  const url = await serveBytes(bytes, 'stay');
  const says = 'no answer within 300 ms';
  await check(outbound(), { url, timeoutMs: 300 }, { code: 'outbound-timeout', says, retryable: true });
});

test('an aborted request rejects immediately with outbound-aborted', async () => {
  const url = await serveBytes('', 'stay');
  const controller = new AbortController();
  const pending = failureOf(outbound(), { url, signal: controller.signal });
  controller.abort();
  expect((await pending).code).toBe('outbound-aborted');
});

test.each([
  { what: 'all of it', bytes: 'HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nbody' },
  { what: 'its head', bytes: 'HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n' },
])('an abort before the response is read ($what of it arrived) rejects with outbound-aborted', async ({ bytes }) => {
  const url = await serveBytes(bytes, 'stay');
  const controller = new AbortController();
  function readsBody(): boolean {
    controller.abort();
    return true;
  }
  const failure = await failureOf(outbound(), { url, signal: controller.signal, readsBody });
  expect(failure.code).toBe('outbound-aborted');
});

test('the time limit excludes the waits of arrived', async () => {
  const url = await serveBytes('HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nbody', 'stay');
  const arrived = () => new Promise<void>((resolve) => setTimeout(resolve, 600));
  const { body } = await outbound().request({ url, method: 'GET', timeoutMs: 300, arrived });
  expect(Buffer.from(body).toString()).toBe('body');
});

test('an abort during a wait of arrived rejects with outbound-aborted', async () => {
  const url = await serveBytes('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf', 'stay');
  const controller = new AbortController();
  function arrived(): Promise<void> {
    setImmediate(() => controller.abort());
    return new Promise<never>(() => undefined);
  }
  const failure = await failureOf(outbound(), { url, signal: controller.signal, arrived });
  expect(failure.code).toBe('outbound-aborted');
});

test.each([
  { bytes: '', says: 'connection lost', retryable: true, reason: 'closed at once' },
  { bytes: 'HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf', says: 'lost', retryable: true, reason: 'half a body' },
  { bytes: 'SSH-2.0-OpenSSH\r\n', says: 'the answer is not HTTP', retryable: false, reason: 'another protocol' },
])('a broken response is unreachable: $reason', async ({ bytes, says, retryable }) => {
  const url = await serveBytes(bytes, 'end');
  await check(outbound(), { url }, { code: 'outbound-unreachable', says, retryable });
});

test('a closed port and an unknown host are unreachable and can be retried', async () => {
  const port = await listen(createTcpServer());
  await cleanups.pop()?.();
  const closed = { url: `http://127.0.0.1:${port}/` };
  await check(outbound(), closed, { code: 'outbound-unreachable', says: 'connection refused', retryable: true });
  const resolve = () => Promise.reject(Object.assign(new Error('getaddrinfo'), { code: 'ENOTFOUND' }));
  const unknown = { url: 'http://nowhere.example.com/' };
  const expected = { code: 'outbound-unreachable', says: 'the host name is unknown', retryable: true };
  await check(outbound({ resolve }), unknown, expected);
});

test('redirects are returned as responses by default', async () => {
  const url = await serve((_request, response) => response.writeHead(302, { location: '/other' }).end());
  expect((await outbound().request({ url, method: 'GET' })).status).toBe(302);
});

test('followed redirects send credentials only to the first origin', async () => {
  const other = await serve((request, response) => response.end(`other ${request.headers.authorization}`));
  const url = await serve((request, response) => {
    if (request.url === '/here') return response.end(`here ${request.headers.authorization}`);
    response.writeHead(307, { location: request.url === '/away' ? `${other}/x` : '/here' }).end();
  });
  const headers = { Authorization: 'Basic abc' };
  const client = outbound();
  const near = await client.request({ url: `${url}/near`, method: 'GET', headers, redirects: 2 });
  expect([Buffer.from(near.body).toString(), near.url]).toEqual(['here Basic abc', `${url}/here`]);
  const away = await client.request({ url: `${url}/away`, method: 'GET', headers, redirects: 2 });
  expect([Buffer.from(away.body).toString(), away.url]).toEqual(['other undefined', `${other}/x`]);
});

test('a redirect to a private address is refused like a direct request', async () => {
  const url = await serve((_request, response) => response.writeHead(301, { location: 'http://10.0.0.1/x' }).end());
  const request = { url, redirects: 3 };
  await check(outbound(), request, {
    code: 'outbound-refused-address',
    says: 'http://10.0.0.1/x: 10.0.0.1 is a private',
  });
});

test('redirects are followed only up to the limit', async () => {
  const url = await serve((_request, response) => response.writeHead(301, { location: '/again' }).end());
  await check(outbound(), { url, redirects: 3 }, { code: 'outbound-redirect-refused', says: 'redirects too often' });
});

const DAY_MS = 86_400_000;
const validity = { notBefore: Date.now() - DAY_MS, notAfter: Date.now() + DAY_MS };
const authority = createAuthority('test-ca', validity);

async function serveTls(hosts: readonly string[], between = validity): Promise<number> {
  const { certificate, privateKey } = createServerCertificate(authority, 'test-ca', hosts, between);
  const server = createTlsServer({ cert: certificate, key: privateKey }, (request, response) => {
    if (request.url === '/down') return response.writeHead(302, { location: 'http://127.0.0.1/' }).end();
    response.end('secure');
  });
  return listen(server);
}

test('a CA from the options, from a file or from a request is trusted', async () => {
  const url = `https://127.0.0.1:${await serveTls(['127.0.0.1'])}/`;
  const directory = mkdtempSync(join(tmpdir(), 'skep-outbound-'));
  cleanups.push(() => rmSync(directory, { recursive: true }));
  const caFile = join(directory, 'ca.pem');
  writeFileSync(caFile, authority.certificate);
  const clients = [outbound({ ca: authority.certificate }), outbound({ caFile }), outbound()];
  for (const [index, client] of clients.entries()) {
    const answer = await client.request({ url, method: 'GET', ...(index === 2 ? { ca: authority.certificate } : {}) });
    expect(Buffer.from(answer.body).toString()).toBe('secure');
  }
});

test('a certificate that is untrusted, expired or for another name is outbound-tls', async () => {
  const past = { notBefore: Date.now() - 2 * DAY_MS, notAfter: Date.now() - DAY_MS };
  const client = outbound({ ca: authority.certificate });
  const rows = [
    { client: outbound(), port: await serveTls(['127.0.0.1']), says: 'certificate' },
    { client, port: await serveTls(['other.example.com']), says: '127.0.0.1' },
    { client, port: await serveTls(['127.0.0.1'], past), says: 'expired' },
  ];
  for (const row of rows) {
    const request = { url: `https://127.0.0.1:${row.port}/` };
    await check(row.client, request, { code: 'outbound-tls', says: row.says });
  }
});

test('a redirect from https to http is refused', async () => {
  const url = `https://127.0.0.1:${await serveTls(['127.0.0.1'])}/down`;
  const says = 'redirects from https to http://127.0.0.1/';
  await check(
    outbound({ ca: authority.certificate }),
    { url, redirects: 1 },
    { code: 'outbound-redirect-refused', says },
  );
});

test('a CA file that is missing or contains no certificate is refused at creation', () => {
  const codes = ['/nonexistent/ca.pem', import.meta.filename].map((caFile) => {
    try {
      return createOutbound({ allowPrivate: [], version: '1', caFile });
    } catch (error) {
      return error instanceof Failure ? `${error.code} ${error.message}` : error;
    }
  });
  expect(codes).toEqual([
    'outbound-ca-invalid CA file /nonexistent/ca.pem cannot be read',
    `outbound-ca-invalid ${import.meta.filename} holds no PEM certificate`,
  ]);
});

test('a CA bundle without a certificate is refused, even after a request without a bundle', async () => {
  const url = `https://127.0.0.1:${await serveTls(['127.0.0.1'])}/`;
  const client = outbound({ ca: authority.certificate });
  const expected = { code: 'outbound-ca-invalid', says: 'the CA bundle of this request holds no PEM certificate' };
  await check(client, { url, ca: '' }, expected);
  expect((await client.request({ url, method: 'GET' })).status).toBe(200);
  await check(client, { url, ca: '' }, expected);
  await check(client, { url, ca: '# to be filled in\n' }, expected);
});

test('connections for replaced CA texts are closed', async () => {
  const server = createServer((_request, response) => response.end('ok'));
  const url = `http://127.0.0.1:${await listen(server)}/`;
  const client = outbound();
  for (let index = 0; index < 100; index += 1) {
    expect((await client.request({ url, method: 'GET', ca: `# ${index}\n${authority.certificate}` })).status).toBe(200);
  }
  await vi.waitFor(async () => {
    const open = await new Promise((resolve) => server.getConnections((_error, count) => resolve(count)));
    expect(open).toBeLessThanOrEqual(32);
  });
});

test('the callback is called at the end of every request and lookup, successful or not', async () => {
  const url = await serve((_request, response) => response.end('here'));
  let ended = 0;
  const client = outbound({
    ended: () => {
      ended += 1;
    },
  });
  await client.request({ method: 'GET', url });
  expect(ended).toBe(1);
  await failureOf(client, { url: 'http://192.0.2.1/', timeoutMs: 1 });
  expect(ended).toBe(2);
  await client.permitted('127.0.0.1', url);
  await expect(client.permitted('10.0.0.1', 'ssh://10.0.0.1/')).rejects.toThrow(Failure);
  expect(ended).toBe(4);
});
