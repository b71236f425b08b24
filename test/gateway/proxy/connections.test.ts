// Tests attacks on HTTP and connections: smuggled requests, invalid targets, hosts and origins, endless bodies, and
// clients that disconnect or do not read. In one file, because the tests share one proxy and the server behind it.

import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startIssuer } from '../../harness/issuer.ts';
import {
  type AttackedProxy,
  answerPlainly,
  answerResult,
  call,
  HEADERS,
  INITIALIZE,
  openRaw,
  post,
  proxyBefore,
  type Received,
  rawPost,
  readAnswer,
  sendRaw,
  startServer,
  statuses,
  stopAll,
  type TestServer,
} from './rig.ts';

let server: TestServer;
let proxy: AttackedProxy;
let answer: (received: Received) => void = answerPlainly;

beforeAll(async () => {
  server = await startServer((received) => answer(received));
  proxy = await proxyBefore(server.port, { telemetry_config: TELEMETRY });
});
afterAll(stopAll);

const TELEMETRY = {
  service_name: 'attacked',
  insecure: true,
  metrics_enabled: false,
  tracing_enabled: false,
  sampling_rate: '1',
  use_legacy_attributes: false,
  enable_prometheus_metrics_path: true,
};
const OIDC = {
  issuer: 'http://127.0.0.1:1',
  jwks_allow_private_ip: true,
  protected_resource_allow_private_ip: true,
  insecure_allow_http: true,
  resource_url: 'https://mcp.example/mcp',
  scopes: ['openid'],
};
const CALL = JSON.stringify(call('a'));
const SMUGGLED = rawPost(JSON.stringify(call('smuggled')));

async function serves(): Promise<void> {
  expect((await post(proxy.url, call('still there'))).status).toBe(200);
}

describe('a request inside a request', () => {
  const inside = `0\r\n\r\n${SMUGGLED}`;
  it.each([
    ['with a length and chunks', rawPost(inside, ['Transfer-Encoding: chunked'])],
    [
      'with chunks and a length',
      rawPost(inside).replace('Content-Length', 'Transfer-Encoding: chunked\r\nContent-Length'),
    ],
    ['with two lengths', rawPost(CALL, ['Content-Length: 5'])],
    ['with two lengths in one line', rawPost(CALL).replace(/Content-Length: \d+/, 'Content-Length: 5, 5')],
    ['with a length below zero', rawPost(CALL).replace(/Content-Length: \d+/, 'Content-Length: -1')],
    ['with a length of +5', rawPost(CALL).replace(/Content-Length: \d+/, 'Content-Length: +5')],
    ['with a length of 0x5', rawPost(CALL).replace(/Content-Length: \d+/, 'Content-Length: 0x5')],
    ['with a space before a colon', rawPost(inside, ['Transfer-Encoding : chunked'])],
    ['with a folded header', rawPost(inside, ['X-A: b\r\n Transfer-Encoding: chunked\r\n\tContent-Length: 0'])],
    ['with chunks of another kind', rawPost(inside).replace(/Content-Length: \d+/, 'Transfer-Encoding: xchunked')],
    [
      'with chunks that are not last',
      rawPost(inside).replace(/Content-Length: \d+/, 'Transfer-Encoding: chunked, gzip'),
    ],
    ['with chunks twice', rawPost(inside, ['Transfer-Encoding: chunked', 'Transfer-Encoding: identity'])],
    ['with an invalid chunk size', `${chunkedHead()}5;\n\r\nhello\r\n0\r\n\r\n`],
    ['with a chunk size beyond all', `${chunkedHead()}fffffffffffffffff\r\n${CALL}\r\n0\r\n\r\n`],
    ['with a chunk that ends too late', `${chunkedHead()}1\r\n${CALL}\r\n0\r\n\r\n`],
    ['with line feeds alone', rawPost(CALL).replaceAll('\r\n', '\n')],
    ['with a carriage return alone', rawPost(CALL, ['X-A: b\rTransfer-Encoding: chunked'])],
    ['with NUL in a header', rawPost(CALL, ['X-A: b\0c'])],
    ['with an invalid header name', rawPost(CALL, ['X(A): b'])],
    ['with no version', `POST /mcp\r\n${rawPost(CALL).slice(rawPost(CALL).indexOf('Host'))}`],
    ['of HTTP/3.0', rawPost(CALL).replace('HTTP/1.1', 'HTTP/3.0')],
    ['with a method of its own', rawPost(CALL).replace('POST', 'PO ST')],
  ])('gets at most one response, and never reaches the server: %s', async (_what, bytes) => {
    const before = server.received.length;
    const text = await sendRaw(proxy.port, bytes);
    expect(statuses(text).every((status) => status >= 400)).toBe(true);
    expect(statuses(text).length).toBeLessThanOrEqual(1);
    expect(server.received.slice(before).map(({ body }) => body)).toEqual([]);
    await serves();
  });

  function chunkedHead(): string {
    return rawPost('').replace('Content-Length: 0', 'Transfer-Encoding: chunked');
  }

  it('reaches the server as one request with a Content-Length, for any chunks', async () => {
    const pieces = [CALL.slice(0, 10), CALL.slice(10)];
    const chunks = pieces.map((piece) => `${piece.length.toString(16)};ext="a b"\r\n${piece}\r\n`).join('');
    const client = openRaw(proxy.port);
    const before = server.received.length;
    client.send(`${chunkedHead()}${chunks}0\r\nX-Trailer: evil\r\n\r\n`);
    await client.until(/HTTP\/1\.1 200 /);
    client.socket.destroy();
    const [received, ...others] = server.received.slice(before);
    expect(others).toEqual([]);
    expect(received?.body).toBe(CALL);
    expect(received?.request.headers['content-length']).toBe(String(CALL.length));
    expect(received?.request.headers).not.toHaveProperty('transfer-encoding');
    expect(received?.request.headers).not.toHaveProperty('x-trailer');
    expect(received?.request.trailers).toEqual({});
  });

  it('is one of several on a connection, which get their responses in order, including refusals', async () => {
    const client = openRaw(proxy.port);
    const bad = rawPost('no JSON');
    const good = (nonce: number) => rawPost(JSON.stringify(call('a', { nonce }, nonce)));
    client.send(`${good(1)}${bad}${good(2)}${bad}${good(3)}`);
    const text = await client.until(/nonce\\":3/);
    client.socket.destroy();
    expect(statuses(text)).toEqual([200, 400, 200, 400, 200]);
    expect([...text.matchAll(/nonce\\":(\d)/g)].map(([, nonce]) => nonce)).toEqual(['1', '2', '3']);
  });

  it('in a refused body is not handled, and the request after the body gets its own response', async () => {
    const before = server.received.length;
    const typed = rawPost(SMUGGLED.repeat(1000)).replace('application/json', 'text/plain');
    const client = openRaw(proxy.port);
    client.send(`${typed}${rawPost(JSON.stringify(call('a', { nonce: 7 })))}`);
    const text = await client.until(/nonce/);
    client.socket.destroy();
    expect(statuses(text)).toEqual([415, 200]);
    expect(server.received.slice(before).map(({ message }) => message?.params?.name)).toEqual(['a']);
  });
});

describe('a target', () => {
  it.each([
    'http://example.com/mcp',
    'http://127.0.0.1/mcp',
    'HTTP://user:password@example.com/mcp',
    '*',
    'example.com:443',
    'file:///etc/passwd',
  ])('that is not a path is refused: %s', async (target) => {
    const before = server.received.length;
    const text = await sendRaw(proxy.port, rawPost(CALL, [], target));
    expect(statuses(text)).toEqual([400]);
    const [status] = statuses(await sendRaw(proxy.port, `GET ${target} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`));
    expect(status).toBe(400);
    expect(server.received.length).toBe(before);
    await serves();
  });

  it.each([
    '//example.com/mcp',
    '///mcp',
    '/\\example.com/mcp',
    '/mcp/../../mcp',
    '/%2e%2e/mcp',
    '/mcp%2f..%2fadmin',
    '/mcp;a=b',
    '/mcp?url=http://example.com',
    '/@example.com/mcp',
    '/:80/mcp',
    '/mcp?a\u00e9=%zz',
    '/mcp?%0d%0aX-Evil:%201',
  ])('never leads to another server: %s', async (target) => {
    const client = openRaw(proxy.port);
    const before = server.received.length;
    client.send(Buffer.from(rawPost(CALL, ['Connection: close'], target), 'latin1'));
    const text = await client.closed;
    expect(statuses(text)).toHaveLength(1);
    for (const { request } of server.received.slice(before)) {
      expect(request.headers.host).toBe(`127.0.0.1:${server.port}`);
      expect(request.headers).not.toHaveProperty('x-evil');
    }
    await serves();
  });

  it.each(['/health', '/readyz', '/metrics'])('of the proxy itself accepts only GET and HEAD: %s', async (path) => {
    const before = server.received.length;
    expect((await fetch(`${proxy.origin}${path}`)).status).toBe(200);
    expect((await fetch(`${proxy.origin}${path}?a=b`)).status).toBe(200);
    expect((await fetch(`${proxy.origin}${path}`, { method: 'HEAD' })).status).toBe(200);
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']) {
      expect((await fetch(`${proxy.origin}${path}`, { method })).status).toBe(405);
    }
    expect(server.received.length).toBe(before);
  });

  it('with an HTTP method that MCP does not use is refused', async () => {
    const before = server.received.length;
    for (const method of ['PUT', 'PATCH', 'OPTIONS', 'PROPFIND']) {
      const refused = await fetch(proxy.url, { method });
      expect(refused.status).toBe(405);
      expect(refused.headers.get('allow')).toBe('GET, POST, DELETE');
    }
    const head = await fetch(proxy.url, { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([405, '']);
    const trace = await sendRaw(proxy.port, 'TRACE /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: a=b\r\n\r\n');
    expect(statuses(trace)).toEqual([405]);
    expect(trace).not.toContain('a=b');
    expect(server.received.length).toBe(before);
  });

  it('of CONNECT or of an upgrade opens no tunnel', async () => {
    const before = server.received.length;
    const tunnel = await sendRaw(proxy.port, 'CONNECT 127.0.0.1:80 HTTP/1.1\r\nHost: 127.0.0.1:80\r\n\r\n');
    expect(statuses(tunnel).every((status) => status >= 400)).toBe(true);
    const client = openRaw(proxy.port);
    client.send(rawPost(CALL, ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Key: x']));
    expect(statuses(await client.until(/HTTP\/1\.1 \d/))).toEqual([200]);
    client.socket.destroy();
    for (const { request } of server.received.slice(before)) expect(request.headers).not.toHaveProperty('upgrade');
  });
});

describe('headers of a client', () => {
  it('of the connection, for authentication, or about the client address do not reach the server unchanged', async () => {
    const before = server.received.length;
    const client = openRaw(proxy.port);
    const headers = [
      'Connection: close, X-Secret',
      'X-Secret: of this hop',
      'Keep-Alive: timeout=5',
      'Proxy-Authorization: Basic abc',
      'TE: trailers',
      'Trailer: X-A',
      'Cookie: session=1',
      'Accept-Encoding: gzip',
      'X-Forwarded-For: 10.0.0.1',
      'X-Forwarded-Host: bank.example',
      'X-Real-IP: 10.0.0.1',
      'Forwarded: for=10.0.0.1',
      'X-Plain: kept',
    ];
    client.send(rawPost(CALL, headers));
    await client.closed;
    const [received] = server.received.slice(before);
    const seen = received?.request.headers ?? {};
    expect(seen['x-plain']).toBe('kept');
    for (const name of [
      'x-secret',
      'keep-alive',
      'proxy-authorization',
      'te',
      'trailer',
      'cookie',
      'x-real-ip',
      'forwarded',
    ]) {
      expect(seen).not.toHaveProperty(name);
    }
    expect(seen['accept-encoding']).toBe('identity');
    expect(seen['x-forwarded-for']).toBe('127.0.0.1');
    expect(seen['x-forwarded-host']).toBe('127.0.0.1');
  });

  it.each([
    'a\r\nX-Evil: 1',
    'snow \u2603',
    '\u0001',
    '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\r\n\r\n',
  ])('from an invalid trace context in the body cause no error: %j', async (text) => {
    const before = server.received.length;
    for (const key of ['traceparent', 'tracestate', 'baggage']) {
      const meta = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', [key]: text };
      const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'a', _meta: meta } };
      expect((await post(proxy.url, body)).status).toBe(200);
    }
    for (const { request } of server.received.slice(before)) expect(request.headers).not.toHaveProperty('x-evil');
    const health: { readonly status: string } = JSON.parse(await (await fetch(`${proxy.origin}/health`)).text());
    expect(health.status).toBe('healthy');
  });

  it('are refused if there are too many', async () => {
    const text = await sendRaw(proxy.port, rawPost(CALL, [`X-Large: ${'a'.repeat(40_000)}`]));
    expect(statuses(text)).toEqual([431]);
  });

  it('with an invalid request id are not repeated', async () => {
    const text = await sendRaw(proxy.port, rawPost(CALL, ['Connection: close', 'X-Request-Id: <script>"']));
    expect(statuses(text)).toEqual([200]);
    expect(text).not.toContain('script');
  });
});

describe('a host or page', () => {
  const withHost = (host: string) => rawPost(CALL, ['Connection: close']).replace('Host: 127.0.0.1', `Host: ${host}`);

  it.each([
    'attacker.example',
    'attacker.example:8080',
    '127.0.0.1.attacker.example',
    'localhost@attacker.example',
    '',
  ])('with a name that DNS could resolve to this machine is refused on loopback: %j', async (host) => {
    const before = server.received.length;
    expect(statuses(await sendRaw(proxy.port, withHost(host)))).toEqual([403]);
    expect(server.received.length).toBe(before);
  });

  it('without a name is refused', async () => {
    const without = rawPost(CALL).replace('Host: 127.0.0.1\r\n', '');
    expect(statuses(await sendRaw(proxy.port, without))).toEqual([400]);
    expect(statuses(await sendRaw(proxy.port, without.replace('HTTP/1.1', 'HTTP/1.0')))).toEqual([403]);
  });

  it.each(['localhost', 'LOCALHOST:1', '127.0.0.1', '[::1]:80'])('of this machine is accepted: %s', async (host) => {
    expect(statuses(await sendRaw(proxy.port, withHost(host)))).toEqual([200]);
  });

  it.each(['https://attacker.example', 'null', 'http://127.0.0.1.attacker.example', 'file://', 'http://127.0.0.1:1'])(
    'of another origin is refused: %s',
    async (origin) => {
      const before = server.received.length;
      const answered = await post(proxy.url, call('a'), { origin });
      expect(answered.status).toBe(403);
      expect(answered.headers.get('access-control-allow-origin')).toBeNull();
      expect(server.received.length).toBe(before);
    },
  );

  it('of an allowed origin can send preflight requests and read the required headers', async () => {
    const open = await proxyBefore(server.port, {
      allowed_origins: ['https://app.example'],
      oidc_config: OIDC,
    });
    const before = server.received.length;
    const asked = { 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization' };
    const preflight = await fetch(open.url, {
      method: 'OPTIONS',
      headers: { origin: 'https://app.example', ...asked },
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get('access-control-allow-origin')).toBe('https://app.example');
    expect(preflight.headers.get('access-control-allow-headers')).toMatch(/Authorization/);
    expect(preflight.headers.get('access-control-allow-credentials')).toBeNull();
    const refused = await post(open.url, call('a'), { origin: 'https://app.example' });
    expect(refused.status).toBe(401);
    expect(refused.headers.get('access-control-allow-origin')).toBe('https://app.example');
    expect(refused.headers.get('access-control-expose-headers')).toMatch(/WWW-Authenticate/);
    const foreign = await fetch(open.url, { method: 'OPTIONS', headers: { origin: 'https://evil.example', ...asked } });
    expect(foreign.status).not.toBe(204);
    expect(foreign.headers.get('access-control-allow-origin')).toBeNull();
    expect(server.received.length).toBe(before);
  });
});

describe('a client that disconnects', () => {
  it('with several waiting requests on one connection frees the slots of all requests', async () => {
    const one = await proxyBefore(server.port, { limits: { concurrent_calls: 5 } });
    answer = () => undefined;
    const client = openRaw(one.port);
    const before = server.received.length;
    client.send(rawPost(CALL).repeat(5));
    await expect.poll(() => server.received.length).toBe(before + 5);
    expect((await post(one.url, call('b'))).status).toBe(503);
    client.socket.destroy();
    await Promise.all(server.received.slice(before, before + 5).map(({ closed }) => closed));
    answer = answerPlainly;
    const all = Promise.all(Array.from({ length: 5 }, () => post(one.url, call('b'))));
    expect((await all).map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
  });

  it('during the verification of its token frees its slot', async () => {
    const asked: ServerResponse[] = [];
    const keys = createServer((_request, response) => void asked.push(response));
    await new Promise<void>((resolve) => keys.listen(0, '127.0.0.1', resolve));
    const { port }: AddressInfo = Object(keys.address());
    const issuer = await startIssuer();
    const one = await proxyBefore(server.port, {
      limits: { concurrent_calls: 1 },
      oidc_config: { ...OIDC, issuer: issuer.url, jwks_url: `http://127.0.0.1:${port}/` },
    });
    const authorization = `Bearer ${await issuer.token('jwt', OIDC.resource_url)}`;
    const before = server.received.length;
    const client = openRaw(one.port);
    client.send(rawPost(CALL, [`Authorization: ${authorization}`]));
    await expect.poll(() => asked.length).toBe(1);
    client.socket.destroy();
    await client.closed;
    // A later response shows that the proxy has noticed the client's disconnect.
    expect((await fetch(`${one.origin}/health`)).status).toBe(200);
    asked[0]?.writeHead(200, { 'content-type': 'application/json' });
    asked[0]?.end(JSON.stringify({ keys: [issuer.publicKey('RS256')] }));
    await one.log.until(/"status":499/);
    expect((await post(one.url, call('b'), { authorization })).status).toBe(200);
    expect(server.received.slice(before).map(({ message }) => message?.params?.name)).toEqual(['b']);
    keys.close();
    await issuer.close();
  });

  it('ends the request at the server', async () => {
    answer = () => undefined;
    const client = openRaw(proxy.port);
    const before = server.received.length;
    client.send(rawPost(JSON.stringify(call('vanishes'))));
    const received = await server.next();
    for (let last = received; !last.body.includes('vanishes'); ) last = await server.next();
    client.socket.destroy();
    await server.received[before]?.closed;
    answer = answerPlainly;
    await serves();
  });

  it('in the middle of its body leaves no request', async () => {
    const client = openRaw(proxy.port);
    const before = server.received.length;
    client.send(rawPost(CALL).slice(0, -5));
    await new Promise((resolve) => client.socket.once('connect', resolve));
    client.socket.destroy();
    await client.closed;
    await proxy.log.until(/"reason":"request-cut-off"/);
    expect(server.received.length).toBe(before);
    await serves();
  });

  it('while its stream is open ends the stream at the server', async () => {
    const streams = new AbortController();
    const opened = await fetch(proxy.url, {
      headers: { ...HEADERS, accept: 'text/event-stream' },
      signal: streams.signal,
    });
    expect(opened.status).toBe(200);
    const stream = server.received.at(-1);
    expect(stream?.request.method).toBe('GET');
    streams.abort();
    await stream?.closed;
  });

  it('frees its slot for the next request', async () => {
    const one = await proxyBefore(server.port, { limits: { concurrent_calls: 1 } });
    answer = (received) => (received.body.includes('keeps') ? undefined : answerPlainly(received));
    for (let round = 0; round < 5; round += 1) {
      const client = openRaw(one.port);
      const before = server.received.length;
      client.send(rawPost(JSON.stringify(call('keeps'))));
      await expect.poll(() => server.received.length, { interval: 2 }).toBeGreaterThan(before);
      expect((await post(one.url, call('b'))).status).toBe(503);
      client.socket.destroy();
      await server.received[before]?.closed;
    }
    await expect.poll(async () => (await post(one.url, call('b'))).status).toBe(200);
    answer = answerPlainly;
  });
});

describe('a client that reads slowly', () => {
  const MIB = 1024 * 1024;

  it('slows down the server: a result of 100 MiB does not fill the memory', async () => {
    let sent = 0;
    answer = ({ response, message }) => {
      if (message?.method !== 'tools/call') return answerPlainly({ response, message } as Received);
      response.writeHead(200, { 'content-type': 'application/json' });
      response.write('{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"');
      const piece = Buffer.alloc(64 * 1024, 'x');
      const pour = () => {
        while (sent < 100 * MIB) {
          sent += piece.length;
          if (!response.write(piece)) return void response.once('drain', pour);
        }
        response.end('"}]}}');
      };
      pour();
    };
    const client = openRaw(proxy.port);
    client.socket.pause();
    client.send(rawPost(JSON.stringify(call('large')), ['Connection: close']));
    // Waits until all buffers between server and client are full, so that no more bytes are sent.
    let last = -1;
    function stands(): boolean {
      const before = last;
      last = sent;
      return sent > 0 && before === sent;
    }
    await expect.poll(stands, { interval: 300 }).toBe(true);
    expect(sent).toBeLessThan(30 * MIB);
    let read = 0;
    let most = 0;
    client.socket.removeAllListeners('data');
    client.socket.on('data', (chunk: Buffer) => {
      read += chunk.length;
      // These bytes are in buffers between server and client.
      most = Math.max(most, sent - read);
    });
    client.socket.resume();
    await client.closed;
    expect(read).toBeGreaterThan(100 * MIB);
    expect(most).toBeLessThan(30 * MIB);
    answer = answerPlainly;
  });

  it('of many events does not cause a warning', async () => {
    const warnings: string[] = [];
    const note = (warning: Error) => void warnings.push(warning.message);
    process.on('warning', note);
    const filtered = await proxyBefore(server.port, { tools_filter: ['a'] });
    const event = `data: ${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/message', params: { data: 'x'.repeat(900) } })}\n\n`;
    answer = ({ response, message }) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (let index = 0; index < 500; index += 1) response.write(event.repeat(40));
      response.end(`data: ${JSON.stringify({ jsonrpc: '2.0', id: message?.id, result: { tools: [] } })}\n\n`);
    };
    const before = server.received.length;
    const client = openRaw(filtered.port);
    client.socket.pause();
    const list = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
    client.send(rawPost(list, ['Connection: close']));
    let last = -1;
    function stands(): boolean {
      const left = server.received[before]?.response.writableLength ?? 0;
      const same = left > 0 && left === last;
      last = left;
      return same;
    }
    await expect.poll(stands, { interval: 200 }).toBe(true);
    client.socket.resume();
    const text = await client.closed;
    expect(text.match(/notifications\/message/g)).toHaveLength(20_000);
    process.off('warning', note);
    expect(warnings).toEqual([]);
    answer = answerPlainly;
  });
});

describe('a session of a disconnected client', () => {
  it('stays open, and its next request gets a response', async () => {
    const given = (await post(proxy.url, INITIALIZE)).headers.get('mcp-session-id') ?? '';
    const session = { 'mcp-session-id': given };
    const gone = new AbortController();
    answer = () => gone.abort();
    await expect(
      fetch(proxy.url, {
        method: 'POST',
        headers: { ...HEADERS, ...session },
        body: JSON.stringify(call('a')),
        signal: gone.signal,
      }),
    ).rejects.toThrow(/abort/);
    answer = answerPlainly;
    const again = await post(proxy.url, call('b'), session);
    expect(again.status).toBe(200);
    expect(server.received.at(-1)?.request.headers['mcp-session-id']).toBe('session of the server');
    const ended = await fetch(proxy.url, { method: 'DELETE', headers: { ...HEADERS, ...session } });
    expect((await readAnswer(ended)).status).toBeLessThan(300);
  });

  it('stays usable if the server responds with an id of its own', async () => {
    answer = ({ response, message }) => answerResult(response, { id: message?.id }, { content: [] });
    expect((await post(proxy.url, call('c'))).status).toBe(200);
    answer = answerPlainly;
  });
});
