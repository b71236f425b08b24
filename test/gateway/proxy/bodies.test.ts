// Tests that ambiguous and oversized messages never reach the server, because policy and server could read them
// differently. In one file, because the tests share one proxy and the server behind it.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type AttackedProxy,
  call,
  HEADERS,
  INITIALIZE,
  openRaw,
  post,
  proxyBefore,
  rawPost,
  readAnswer,
  startServer,
  statuses,
  stopAll,
  type TestServer,
} from './rig.ts';

let server: TestServer;
let proxy: AttackedProxy;

beforeAll(async () => {
  server = await startServer();
  proxy = await proxyBefore(server.port, { limits: { request_bytes: 100_000 } });
});
afterAll(stopAll);

const CALL = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{}}}';
const deep = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;

describe('a subscription', () => {
  function listen(resources: number) {
    const params = {
      _meta: { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' },
      notifications: { resourceSubscriptions: Array.from({ length: resources }, (_, at) => `f:${at}`) },
    };
    const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'subscriptions/listen' };
    return post(proxy.url, { jsonrpc: '2.0', id: 1, method: 'subscriptions/listen', params }, headers);
  }

  it('of more than 100 resources does not reach the server: subscription-too-large', async () => {
    const before = server.received.length;
    const answer = await listen(101);
    expect([answer.status, answer.code]).toEqual([400, -32602]);
    expect(answer.text).toContain('at most 100 resources');
    expect(server.received.length).toBe(before);
    expect(proxy.log.text()).toContain('subscription-too-large');
    expect((await listen(100)).text).not.toContain('at most 100 resources');
  });
});

describe('a body that is refused', () => {
  it.each([
    ['no JSON', 'tools/call'],
    ['cut off', CALL.slice(0, -1)],
    ['nothing', ''],
    ['two values', `${CALL}${CALL}`],
    ['two lines', `${CALL}\n${CALL}`],
    ['a number', '7'],
    ['a batch', `[${CALL}]`],
    ['a batch of none', '[]'],
    ['too deep', CALL.replace('{}', `{"a":${deep(5000)}}`)],
    ['a method twice', CALL.replace('"id":1', '"id":1,"method":"ping"')],
    ['params twice', CALL.replace('"params"', '"params":{"name":"b"},"params"')],
    ['a duplicate name', CALL.replace('"name":"a"', '"name":"b","name":"a"')],
    ['arguments twice', CALL.replace('"arguments":{}', '"arguments":{},"arguments":{"x":1}')],
    ['a method in another case', CALL.replace('"id":1', '"id":1,"Method":"ping"')],
    ['a name in another case', CALL.replace('"name":"a"', '"name":"a","NAME":"b"')],
    ['a name by Unicode case folding', CALL.replace('"params"', '"param\u017f":{"name":"b"},"params"')],
    ['a name with escapes', CALL.replace('"name":"a"', '"n\\u0061me":"b","name":"a"')],
    ['an id of null', CALL.replace('"id":1', '"id":null')],
    ['an id of 1.0', CALL.replace('"id":1', '"id":1.0')],
    ['an id that is an object', CALL.replace('"id":1', '"id":{}')],
    ['a call without an id', CALL.replace('"id":1,', '')],
    ['a name that is a list', CALL.replace('"name":"a"', '"name":["a"]')],
    ['a name with half a surrogate pair', CALL.replace('"name":"a"', '"name":"\\ud800"')],
    ['a name with NUL', CALL.replace('"name":"a"', '"name":"a\\u0000b"')],
    ['another version of JSON-RPC', CALL.replace('2.0', '1.0')],
    ['a result and a method', CALL.replace('"id":1', '"id":1,"result":{}')],
    ['a mark of byte order before it', `\ufeff${CALL}`],
    ['a comment', CALL.replace('{}', '{/**/}')],
    ['a comma too many', CALL.replace('{}', '{"a":1,}')],
    ['a number with a leading zero', CALL.replace('{}', '{"a":01}')],
    ['a line break in a text', CALL.replace('"a"', '"a\nb"')],
  ])('does not reach the server: %s', async (_what, body) => {
    const before = server.received.length;
    const answer = await post(proxy.url, body);
    expect(answer.status).toBe(400);
    expect([-32700, -32600, -32602]).toContain(answer.code);
    expect(server.received.length).toBe(before);
  });

  it('does not reach the server if it is not UTF-8', async () => {
    const before = server.received.length;
    const bytes = Buffer.from(CALL.replace('"a"', '"a?"'));
    bytes[bytes.indexOf('?')] = 0xff;
    expect((await post(proxy.url, bytes)).status).toBe(400);
    // An overlong encoding of a slash, which lenient decoders accept.
    const overlong = Buffer.concat([
      Buffer.from(CALL.slice(0, 60)),
      Buffer.of(0xc0, 0xaf),
      Buffer.from(CALL.slice(60)),
    ]);
    expect((await post(proxy.url, overlong)).status).toBe(400);
    expect(server.received.length).toBe(before);
  });

  it('does not reach the server in UTF-16', async () => {
    const before = server.received.length;
    expect((await post(proxy.url, Buffer.from(CALL, 'utf16le'))).status).toBe(400);
    expect(server.received.length).toBe(before);
  });

  it('leads to an error with its id if the id is readable', async () => {
    const answer = await post(proxy.url, CALL.replace('"name":"a"', '"name":7').replace('"id":1', '"id":"mine"'));
    expect(JSON.parse(answer.text)).toMatchObject({ id: 'mine', error: { code: -32602 } });
  });
});

describe('the type of a body', () => {
  it.each([
    'text/plain',
    'application/jsonp',
    'application/json-patch+json',
    'multipart/form-data; boundary=x',
    'application/x-www-form-urlencoded',
    'text/plain;application/json',
  ])('is refused before it is read: %s', async (type) => {
    const before = server.received.length;
    expect((await post(proxy.url, CALL, { 'content-type': type })).status).toBe(415);
    expect(server.received.length).toBe(before);
  });

  it.each(['utf-7', 'UTF-16', 'utf-16le', 'utf-32', 'iso-8859-1', '"utf-7"', 'us-ascii-ebcdic'])(
    'is refused with a charset by which a server would decode other characters: %s',
    async (charset) => {
      const before = server.received.length;
      // A server that decodes UTF-7 reads "a". Other servers read an unknown name.
      const body = CALL.replace('"name":"a"', '"name":"+AGE-"');
      expect((await post(proxy.url, body, { 'content-type': `application/json; charset=${charset}` })).status).toBe(
        415,
      );
      expect(server.received.length).toBe(before);
    },
  );

  it.each([
    'application/json;charset=utf-8; charset=utf-7',
    'application/json; profile="x; charset=utf-8"; charset=utf-7',
    'application/json; Charset = utf-7',
    'application/json; charset*=utf-7',
  ])('is refused if two readers could find different charsets: %s', async (type) => {
    expect((await post(proxy.url, CALL, { 'content-type': type })).status).toBe(415);
  });

  it.each([
    'application/json',
    'Application/JSON',
    'application/json;charset=UTF-8',
    'application/json; charset="utf-8"',
  ])('is accepted: %s', async (type) => {
    expect((await post(proxy.url, CALL, { 'content-type': type })).status).toBe(200);
  });

  it.each(['gzip', 'deflate', 'br', 'zstd', 'x-gzip', 'compress', 'gzip, identity'])(
    'is refused with a content coding, because the proxy scans only uncompressed bytes: %s',
    async (coding) => {
      const before = server.received.length;
      expect((await post(proxy.url, CALL, { 'content-encoding': coding })).status).toBe(415);
      expect(server.received.length).toBe(before);
    },
  );

  it('is accepted with the coding `identity`', async () => {
    expect((await post(proxy.url, CALL, { 'content-encoding': 'identity' })).status).toBe(200);
  });
});

describe('a body that is too large', () => {
  it('is refused by its Content-Length, before its first byte is sent', async () => {
    const client = openRaw(proxy.port);
    client.send(rawPost('').replace('Content-Length: 0', 'Content-Length: 100001'));
    await client.until(/HTTP\/1\.1 413 /);
    client.socket.destroy();
  });

  it('is refused as soon as it exceeds the limit, long before it ends', async () => {
    const before = server.received.length;
    const client = openRaw(proxy.port);
    client.send(rawPost('').replace('Content-Length: 0', 'Transfer-Encoding: chunked'));
    const chunk = `${(50_000).toString(16)}\r\n${'x'.repeat(50_000)}\r\n`;
    client.send(chunk);
    client.send(chunk);
    client.send(chunk);
    await client.until(/HTTP\/1\.1 413 /);
    client.socket.destroy();
    expect(server.received.length).toBe(before);
  });

  it('is refused in a way that a client that sends the whole body can read the response', async () => {
    const body = `${CALL}${' '.repeat(8_000_000)}`;
    for (let round = 0; round < 10; round += 1) expect((await post(proxy.url, body)).status).toBe(413);
  });

  it('leads to a closed connection, whatever number of bytes follows', async () => {
    const client = openRaw(proxy.port);
    client.send(rawPost('').replace('Content-Length: 0', 'Content-Length: 900000000000'));
    const more = Buffer.alloc(65_536, 'x');
    const pour = () => {
      while (!client.socket.destroyed && client.socket.write(more));
    };
    client.socket.on('drain', pour);
    pour();
    expect(
      statuses(await client.closed)
        .slice(0, 1)
        .every((status) => status === 413),
    ).toBe(true);
  });

  it('is never taken for the next request', async () => {
    const before = server.received.length;
    const client = openRaw(proxy.port);
    client.send(rawPost(rawPost(CALL).repeat(1000)));
    expect(statuses(await client.closed)).toEqual([413]);
    expect(server.received.length).toBe(before);
  });
});

describe('ids and answers', () => {
  it('of two requests with one id lead to a response for each request', async () => {
    const texts = await Promise.all(
      Array.from({ length: 20 }, async (_, nonce) => (await post(proxy.url, call('echo', { nonce }, 'same'))).text),
    );
    for (const [nonce, text] of texts.entries()) expect(text).toContain(`\\"nonce\\":${nonce}}`);
  });

  it('without a request pass like notifications, and get no response', async () => {
    const answer = await post(proxy.url, { jsonrpc: '2.0', id: 'never asked', result: {} });
    expect(answer.status).toBe(202);
  });
});

describe('a session id', () => {
  it('that the proxy never issued gets a 404', async () => {
    const before = server.received.length;
    for (const id of ['made up', 'session of the server', 'A'.repeat(5000), '../../etc', '%00']) {
      expect((await post(proxy.url, call('a'), { 'mcp-session-id': id })).status).toBe(404);
      const stream = await fetch(proxy.url, {
        headers: { ...HEADERS, accept: 'text/event-stream', 'mcp-session-id': id },
      });
      expect(stream.status).toBe(404);
      const end = await fetch(proxy.url, { method: 'DELETE', headers: { ...HEADERS, 'mcp-session-id': id } });
      expect(end.status).toBe(404);
    }
    expect(server.received.length).toBe(before);
  });

  it('of another proxy gets a 404', async () => {
    const other = await proxyBefore(server.port);
    const given = (await post(other.url, INITIALIZE)).headers.get('mcp-session-id') ?? '';
    expect((await post(other.url, call('a'), { 'mcp-session-id': given })).status).toBe(200);
    expect((await post(proxy.url, call('a'), { 'mcp-session-id': given })).status).toBe(404);
  });

  it('with one changed character gets a 404', async () => {
    const given = (await post(proxy.url, INITIALIZE)).headers.get('mcp-session-id') ?? '';
    expect(given).not.toContain('session of the server');
    for (const at of [0, 8, Math.floor(given.length / 2), given.length - 2]) {
      const changed = `${given.slice(0, at)}${given[at] === 'A' ? 'B' : 'A'}${given.slice(at + 1)}`;
      expect((await post(proxy.url, call('a'), { 'mcp-session-id': changed })).status).toBe(404);
    }
  });
});

describe('headers of the stateless era', () => {
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'attacker', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'a', arguments: {}, _meta: meta } };
  const right = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'a' };

  it.each([
    ['another method', { ...right, 'mcp-method': 'tools/list' }],
    ['another name', { ...right, 'mcp-name': 'b' }],
    ['another name in base64', { ...right, 'mcp-name': '=?base64?Yg==?=' }],
    ['another revision', { ...right, 'mcp-protocol-version': '2025-06-18' }],
    ['no name', { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call' }],
  ])('that disagree with the body are refused: %s', async (_what, headers) => {
    const before = server.received.length;
    expect((await post(proxy.url, body, headers)).status).toBe(400);
    expect(server.received.length).toBe(before);
  });
});

describe('a stream', () => {
  it('is not opened for a client that does not accept events', async () => {
    const answer = await fetch(proxy.url, { headers: { accept: 'application/json' } });
    expect((await readAnswer(answer)).status).toBe(406);
  });
});
