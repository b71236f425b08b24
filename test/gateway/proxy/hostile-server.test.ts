// Tests slow, broken and hostile servers: a client gets a response, a clear error or a closed connection, and never
// bytes of another response. In one file, because nearly all tests share one TCP server that sends arbitrary bytes.

import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { RunConfig } from '#contracts/run-config.ts';
import { startIssuer } from '../../harness/issuer.ts';
import {
  type AttackedProxy,
  answerPlainly,
  call,
  HEADERS,
  INITIALIZE,
  openRaw,
  post,
  proxyBefore,
  type RawRequest,
  rawPost,
  readAnswer,
  startRawServer,
  startServer,
  statuses,
  stopAll,
} from './rig.ts';

let answer: (socket: Socket, request: RawRequest) => void;
let port: number;
let proxy: AttackedProxy;
let filtered: AttackedProxy;

const SHORT: RunConfig['timeouts'] = { first_byte_seconds: 1, idle_seconds: 1, keep_alive_seconds: 1 };

beforeAll(async () => {
  ({ port } = await startRawServer((socket, request) => answer(socket, request)));
  proxy = await proxyBefore(port, { timeouts: SHORT });
  filtered = await proxyBefore(port, { timeouts: SHORT, tools_filter: ['a'], limits: { message_bytes: 100_000 } });
});
afterAll(stopAll);
afterEach(() => {
  answer = (socket) => socket.destroy();
});

const RESULT = '{"jsonrpc":"2.0","id":1,"result":{"content":[]}}';
const LIST = { jsonrpc: '2.0', id: 1, method: 'tools/list' } as const;
const TOOLS = '{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"a"},{"name":"hidden"}]}}';

function http(status: string, headers: readonly string[], body = ''): string {
  return `HTTP/1.1 ${status}\r\n${[...headers, `content-length: ${Buffer.byteLength(body)}`].join('\r\n')}\r\n\r\n${body}`;
}

const json = (body: string, headers: readonly string[] = []) =>
  http('200 OK', ['content-type: application/json', ...headers], body);
const events = (headers: readonly string[] = []) =>
  `HTTP/1.1 200 OK\r\n${['content-type: text/event-stream', 'transfer-encoding: chunked', ...headers].join('\r\n')}\r\n\r\n`;
const chunk = (text: string) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;

async function serves(): Promise<void> {
  answer = (socket) => socket.write(json(RESULT));
  const answered = await post(proxy.url, call('still there'));
  expect([answered.status, answered.text]).toEqual([200, RESULT]);
}

describe('a server that is slow', () => {
  it('and sends nothing leads to 504 and a closed connection', async () => {
    const gone = Promise.withResolvers<void>();
    answer = (socket) => void socket.once('close', () => gone.resolve());
    const answered = await post(proxy.url, call('a'));
    expect([answered.status, answered.code]).toEqual([504, -32603]);
    expect(JSON.parse(answered.text).id).toBe(1);
    await gone.promise;
    await serves();
  });

  it('and sends its head byte by byte leads to 504', async () => {
    answer = (socket) => {
      const head = `HTTP/1.1 200 OK\r\nX-Slow: ${'a'.repeat(1000)}`;
      let at = 0;
      const timer = setInterval(() => (at < head.length ? socket.write(head.charAt(at++)) : undefined), 50);
      socket.once('close', () => clearInterval(timer));
    };
    expect((await post(proxy.url, call('a'))).status).toBe(504);
  });

  it('and stops in the middle of a result leads to an aborted response', async () => {
    answer = (socket) => void socket.write(json(RESULT).slice(0, -5));
    await expect(post(proxy.url, call('a'))).rejects.toThrow(/terminated|fetch failed/);
    await serves();
  });

  it('and sends nothing more on a stream leads to comments between events, never inside an event', async () => {
    let server: Socket | undefined;
    answer = (socket) => {
      server = socket;
      socket.write(`${events(['x-a: b'])}${chunk('id: 1\ndata: {"half":')}`);
    };
    const client = openRaw(proxy.port);
    client.send(rawPost(JSON.stringify(call('a'))));
    await client.until(/half/);
    await sleep(2500);
    expect(client.text()).not.toContain(': keep-alive\n');
    // Sends the end of the event in several chunks.
    server?.write(chunk('true}\n'));
    await client.until(/true\}/);
    server?.write(chunk('\n'));
    await client.until(/: keep-alive\n\n/);
    client.socket.destroy();
  });
});

describe('a server that breaks off', () => {
  it.each([
    ['before a byte', ''],
    ['in its head', 'HTTP/1.1 200 OK\r\ncontent-'],
    ['with bytes that are not HTTP', 'SSH-2.0-OpenSSH_9.0\r\n'],
    [
      'with two lengths',
      `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 5\r\ncontent-length: 48\r\n\r\n${RESULT}`,
    ],
    [
      'with a length that is none',
      `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: -1\r\n\r\n${RESULT}`,
    ],
    [
      'with a length and chunks',
      `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`,
    ],
    ['with a giant header', `HTTP/1.1 200 OK\r\nx-large: ${'a'.repeat(200_000)}\r\ncontent-length: 0\r\n\r\n`],
    ['with a control character in its session', json(RESULT, ['mcp-session-id: a\u0001b'])],
    ['with NUL in a header', json(RESULT, ['x-a: a\0b'])],
  ])('leads to 502: %s', async (_what, bytes) => {
    answer = (socket) => socket.end(Buffer.from(bytes, 'latin1'));
    const answered = await post(proxy.url, call('a'));
    expect([answered.status, answered.code]).toEqual([502, -32603]);
    expect(answered.text).not.toContain(String(port));
    await serves();
  });

  it.each([
    ['in a result', json(RESULT).slice(0, -5)],
    ['in an event', `${events()}${chunk('data: {"jsonrpc"')}`],
    ['between events', `${events()}${chunk('data: {}\n\n')}`],
    ['in a chunk', `${events()}ff\r\ndata:`],
    ['with an invalid chunk size', `${events()}${chunk('data: {}\n\n')}zz\r\n`],
  ])('leads to an aborted response: %s', async (_what, bytes) => {
    answer = (socket) => socket.end(bytes);
    await expect(post(proxy.url, call('a'))).rejects.toThrow(/terminated|fetch failed/);
    await serves();
  });

  it('and has sent more bytes than announced does not get these bytes into another response', async () => {
    const evil = json('{"jsonrpc":"2.0","id":1,"result":{"evil":true}}');
    answer = (socket) => void socket.write(`${json(RESULT)}${evil}`);
    for (let round = 0; round < 10; round += 1) {
      const answered = await post(proxy.url, call('a', { round }));
      expect(answered.text).not.toContain('evil');
    }
    await serves();
  });
});

describe('a server that answers with something else', () => {
  it.each([
    ['HTML', http('200 OK', ['content-type: text/html'], '<html>log in</html>')],
    ['no type', http('200 OK', [], RESULT)],
    ['two types', json(RESULT, ['content-type: text/html'])],
    ['a redirect', http('302 Found', ['location: http://127.0.0.1:1/'], '')],
    ['a redirect that repeats the body', http('307 Temporary Redirect', ['location: //evil.example/mcp'])],
    ['a permanent redirect', http('308 Permanent Redirect', ['location: /login'])],
  ])('leads to 502 without the text of the server: %s', async (_what, bytes) => {
    answer = (socket) => void socket.write(bytes);
    const answered = await post(proxy.url, call('a'));
    expect(answered.status).toBe(502);
    expect(answered.text).not.toMatch(/log in|location|evil/);
    expect(answered.headers.get('location')).toBeNull();
  });

  it('such as a redirect is not followed, and gets no credentials', async () => {
    const other = await startServer();
    const bearer = await proxyBefore(port, {
      bearer_token_config: { token_env_var: 'TOKEN' },
      environment: { TOKEN: 'secret-of-the-server' },
    });
    for (const status of ['301 Moved', '302 Found', '303 See Other', '307 Temporary', '308 Permanent']) {
      answer = (socket) => void socket.write(http(status, [`location: http://127.0.0.1:${other.port}/mcp`]));
      expect((await post(bearer.url, call('a'))).status).toBe(502);
    }
    expect(other.received).toEqual([]);
    expect(bearer.log.text()).not.toContain('secret-of-the-server');
  });

  it('such as connection headers, cookies and browser policies does not pass these headers to the client', async () => {
    const headers = [
      'set-cookie: a=b',
      'connection: x-hop',
      'x-hop: 1',
      'keep-alive: timeout=1',
      'proxy-authenticate: Basic',
      'upgrade: h2c',
      'alt-svc: h3=":443"',
      'access-control-allow-origin: *',
      'access-control-allow-credentials: true',
      'trailer: x-t',
      'x-plain: kept',
    ];
    answer = (socket) => void socket.write(json(RESULT, headers));
    const answered = await post(proxy.url, call('a'));
    expect(answered.headers.get('x-plain')).toBe('kept');
    const names = [...answered.headers.keys()];
    const kept = /^(set-cookie|x-hop|proxy-authenticate|upgrade|alt-svc|access-control-.*|trailer)$/;
    expect(names.filter((name) => kept.test(name))).toEqual([]);
  });

  it('such as non-ASCII characters in a header is passed or refused', async () => {
    answer = (socket) => void socket.write(Buffer.from(json(RESULT, ['x-name: sn\u00f6w \u2603']), 'utf8'));
    expect([200, 502]).toContain((await post(proxy.url, call('a'))).status);
    answer = (socket) => void socket.write(Buffer.from(json(RESULT, ['x-name: sn\u00f6w']), 'latin1'));
    expect([200, 502]).toContain((await post(proxy.url, call('a'))).status);
    await serves();
  });

  it('such as a stream with a Content-Length passes exactly this number of bytes', async () => {
    const text = `data: ${RESULT}\n\n`;
    answer = (socket) => {
      socket.write(http('200 OK', ['content-type: text/event-stream'], text.repeat(2)).slice(0, -text.length));
      setTimeout(() => socket.write(text), 2500);
    };
    const client = openRaw(proxy.port);
    client.send(rawPost(JSON.stringify(call('a')), ['Connection: close']));
    const all = await client.closed;
    expect(all).toContain(': keep-alive\n');
    expect(all.toLowerCase()).not.toContain('content-length');
    expect(all.split(RESULT)).toHaveLength(3);
  });

  it('such as a session id of another caller does not change the session of the client', async () => {
    answer = (socket, { body }) =>
      void socket.write(json(RESULT, body.includes('initialize') ? ['mcp-session-id: x'] : ['mcp-session-id: other']));
    const begun = await post(proxy.url, INITIALIZE);
    const id = begun.headers.get('mcp-session-id') ?? '';
    expect(id).not.toBe('x');
    const next = await post(proxy.url, call('a'), { 'mcp-session-id': id });
    expect(next.headers.get('mcp-session-id')).toBe(id);
  });
});

describe('a server before which callers log in', () => {
  it('cannot send callers to another login page', async () => {
    const issuer = await startIssuer();
    const resource = 'https://mcp.example/mcp';
    const guarded = await proxyBefore(port, {
      oidc_config: {
        issuer: issuer.url,
        jwks_allow_private_ip: true,
        protected_resource_allow_private_ip: true,
        insecure_allow_http: true,
        resource_url: resource,
        scopes: [],
      },
    });
    const authorization = `Bearer ${await issuer.token('jwt', resource)}`;
    const challenge = 'www-authenticate: Bearer resource_metadata="https://evil.example/", scope="all"';
    for (const [status, expected] of [
      ['401 Unauthorized', 502],
      ['403 Forbidden', 403],
    ] as const) {
      answer = (socket) => void socket.write(http(status, [challenge, 'content-type: application/json'], '{}'));
      const answered = await post(guarded.url, call('a'), { authorization });
      expect(answered.status).toBe(expected);
      expect(answered.headers.get('www-authenticate')).toBeNull();
    }
    await issuer.close();
  });
});

describe('a list that has to be filtered', () => {
  it('is filtered as JSON and as events, and never contains hidden items', async () => {
    answer = (socket) => void socket.write(json(TOOLS));
    expect((await post(filtered.url, LIST)).text).toBe('{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"a"}]}}');
    for (const ends of ['\n', '\r', '\r\n']) {
      for (const before of [
        '',
        '\ufeff',
        ': comment',
        'event: message',
        'event:',
        'event',
        'event: other',
        'retry: 1',
      ]) {
        const lines = [before, `data: ${TOOLS}`, '', ''].filter((line, index) => index > 0 || line !== '');
        const text = before === '\ufeff' ? `\ufeffdata: ${TOOLS}${ends}${ends}` : lines.join(ends);
        answer = (socket) => void socket.write(`${events()}${chunk(text)}0\r\n\r\n`);
        const answered = await post(filtered.url, LIST);
        expect(answered.text).not.toContain('hidden');
        expect(answered.text).toContain('"name":"a"');
      }
    }
  });

  it.each([
    ['compressed', json(TOOLS, ['content-encoding: gzip'])],
    ['no JSON', json(TOOLS.slice(1))],
    ['the list twice', json(TOOLS.replace('"result":{', '"result":{"tools":[{"name":"hidden"}],'))],
    ['the list in another case', json(TOOLS.replace('"result":{', '"result":{"Tools":[{"name":"hidden"}],'))],
    ['a duplicate name', json(TOOLS.replace('"name":"a"', '"name":"a","name":"hidden"'))],
    ['an invalid list', json('{"jsonrpc":"2.0","id":1,"result":{"tools":{"name":"hidden"}}}')],
    ['an invalid item', json('{"jsonrpc":"2.0","id":1,"result":{"tools":["hidden"]}}')],
    ['a batch', json(`[${TOOLS}]`)],
    ['another type', http('200 OK', ['content-type: application/x-ndjson'], TOOLS)],
    ['a part', http('206 Partial Content', ['content-type: text/plain'], TOOLS)],
    ['two messages', json(`${TOOLS}\n${TOOLS}`)],
    ['too large', json(TOOLS.replace('"a"', `"a","description":"${'x'.repeat(100_001)}"`))],
    [
      'events that are too large',
      `${events()}${chunk(`data: ${TOOLS.replace('"a"', `"${'x'.repeat(100_001)}"`)}\n\n`)}0\r\n\r\n`,
    ],
    ['an event without an end', `${events()}${chunk(`data: ${TOOLS}\n`)}0\r\n\r\n`],
  ])('is refused if it cannot be read: %s', async (_what, bytes) => {
    answer = (socket) => void socket.write(Buffer.from(bytes, 'utf8'));
    const answered = await post(filtered.url, LIST).catch(() => undefined);
    expect(answered?.text ?? '').not.toContain('hidden');
    answer = (socket) => void socket.write(json(TOOLS));
    expect((await post(filtered.url, LIST)).status).toBe(200);
  });

  it.each([
    ['JSON', 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n', '[[[[[[[['],
    ['one line', events(), 'data: xxxxxxxx'],
    ['lines', events(), 'data: x\n'],
    ['comments without an end', events(), ': xxxxxxxxx'],
  ])('that does not end leads to a closed connection to the server: %s', async (_what, head, piece) => {
    const gone = Promise.withResolvers<void>();
    answer = (socket) => {
      socket.write(head);
      const more = chunk(piece.repeat(1000));
      const pour = () => {
        while (!socket.destroyed && socket.write(more));
      };
      socket.on('drain', pour).once('close', () => gone.resolve());
      pour();
    };
    const answered = await post(filtered.url, LIST).catch(() => undefined);
    if (answered !== undefined) expect(answered.status).toBe(502);
    await gone.promise;
  });
});

describe('a server that floods', () => {
  it('with notifications is slowed down by a client that does not read, and ends with this client', async () => {
    const gone = Promise.withResolvers<void>();
    const one = chunk(
      `data: ${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/message', params: { data: 'x'.repeat(1000) } })}\n\n`,
    );
    let sent = 0;
    answer = (socket) => {
      socket.write(events());
      const pour = () => {
        while (!socket.destroyed) {
          sent += one.length;
          if (!socket.write(one)) return;
        }
      };
      socket.on('drain', pour).once('close', () => gone.resolve());
      pour();
    };
    const client = openRaw(proxy.port);
    client.socket.pause();
    client.send(`GET /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/event-stream\r\n\r\n`);
    let last = -1;
    function stands(): boolean {
      const before = last;
      last = sent;
      return sent > 0 && before === sent;
    }
    await expect.poll(stands, { interval: 300 }).toBe(true);
    expect(sent).toBeLessThan(40_000_000);
    client.socket.destroy();
    await gone.promise;
  });

  it('with interim responses still gets its final response to the client', async () => {
    answer = (socket) => {
      for (let index = 0; index < 100; index += 1)
        socket.write('HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: <x>\r\n\r\n');
      socket.write(json(RESULT));
    };
    const client = openRaw(proxy.port);
    client.send(rawPost(JSON.stringify(call('a')), ['Connection: close']));
    expect(statuses(await client.closed).at(-1)).toBe(200);
  });
});

it('an injected header with a line break prevents the start, or the last valid value stays in use', async () => {
  const server = await startServer(answerPlainly);
  const block = { header_injection_config: { header_name: 'X-Key', value_env_var: 'KEY' } };
  for (const value of ['a\r\nX-Evil: 1', 'a\nb', 'a\0b', '']) {
    await expect(proxyBefore(server.port, { ...block, environment: { KEY: value } })).rejects.toThrow(/KEY/);
  }
  const injected = await proxyBefore(server.port, { ...block, environment: { KEY: ' good \n' } });
  await post(injected.url, call('a'), { 'x-key': 'of the client' });
  expect(server.received.at(-1)?.request.headers['x-key']).toBe('good');
});

it('a stream that is opened while the server is unreachable ends with a clear error', async () => {
  const away = await startServer();
  const before = await proxyBefore(away.port);
  await away.stop();
  const answered = await readAnswer(await fetch(before.url, { headers: { ...HEADERS, accept: 'text/event-stream' } }));
  expect(answered.status).toBe(502);
  expect(answered.headers.get('retry-after')).not.toBeNull();
});
