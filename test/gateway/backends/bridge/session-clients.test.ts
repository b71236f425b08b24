// Tests clients with sessions on hand-written servers of 2026-07-28. In one file, because all tests begin with the same
// server and client.

import { expect, it } from 'vitest';
import { testSeal } from '../shim.ts';
import { bridgeBefore, closeLater } from './bridged.ts';
import {
  connectSession,
  errorOf,
  eventsOf,
  type RawRequest,
  readRaw,
  resultOf,
  sendEvents,
  sendJson,
  startStateless,
} from './raw-server.ts';

const ELICIT = {
  method: 'elicitation/create',
  params: { message: 'Name?', requestedSchema: { type: 'object', properties: {} } },
};

function isCall({ message }: RawRequest): boolean {
  return message.method === 'tools/call';
}

it('responds to initialize with the result of server/discover, and sends the client info with each request', async () => {
  const server = closeLater(
    await startStateless(
      (request) => {
        if (request.message.method !== 'tools/list') return false;
        sendJson(
          request.response,
          resultOf(request, { resultType: 'complete', tools: [], ttlMs: 5, cacheScope: 'public' }),
        );
        return true;
      },
      { tools: { listChanged: true }, extensions: { 'io.modelcontextprotocol/tasks': {}, 'com.example/x': {} } },
    ),
  );
  const { url } = await bridgeBefore(server.url);
  const client = await connectSession(url, { roots: { listChanged: true }, sampling: {} });
  expect(client.initialized.messages[0]?.result).toEqual({
    protocolVersion: '2025-11-25',
    capabilities: { tools: { listChanged: true }, extensions: { 'com.example/x': {} } },
    serverInfo: { name: 'raw', version: '1' },
  });
  const listed = await client.call('tools/list', { _meta: { progressToken: 9007199254740991, 'com.example/y': 1 } });
  expect(listed.messages).toEqual([{ jsonrpc: '2.0', id: 1, result: { tools: [] } }]);
  const { http, message } = await server.waitFor((request) => request.message.method === 'tools/list');
  expect(http.headers).toMatchObject({ 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/list' });
  expect(http.headers).not.toHaveProperty('mcp-session-id');
  expect(message.params._meta).toEqual({
    progressToken: 9007199254740991,
    'com.example/y': 1,
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': { roots: {}, sampling: {} },
    'io.modelcontextprotocol/clientInfo': { name: 'raw-client', version: '1' },
    'io.modelcontextprotocol/logLevel': 'info',
  });
});

it('passes numbers unchanged in both directions', async () => {
  const server = closeLater(
    await startStateless((request) => {
      if (!isCall(request)) return false;
      const id = String(request.message.id);
      sendJson(
        request.response,
        `{"jsonrpc":"2.0","id":${id},"result":{"content":[],"n":9007199254740993,"resultType":"complete"}}`,
      );
      return true;
    }),
  );
  const { url } = await bridgeBefore(server.url);
  const client = await connectSession(url);
  const call =
    '{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"a","arguments":{"n":9007199254740993,"e":1e400}}}';
  const answer = await readRaw(await client.send(call));
  expect(answer.text).toBe('{"jsonrpc":"2.0","id":7,"result":{"content":[],"n":9007199254740993}}');
  expect((await server.waitFor(isCall)).text).toContain('"arguments":{"n":9007199254740993,"e":1e400}');
});

it('serves a session that began at another replica', async () => {
  const server = closeLater(
    await startStateless((request) => {
      if (!isCall(request)) return false;
      sendJson(request.response, resultOf(request, { resultType: 'complete', content: [] }));
      return true;
    }),
  );
  const seal = testSeal();
  const [first, second] = [await bridgeBefore(server.url, {}, seal), await bridgeBefore(server.url, {}, seal)];
  const client = await connectSession(first.url, { elicitation: {} });
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'a', arguments: {} } };
  const answer = await readRaw(await client.send(call, { url: second.url }));
  expect(answer.messages[0]?.result).toEqual({ content: [] });
  const { message } = await server.waitFor(isCall);
  expect(message.params._meta).toMatchObject({ 'io.modelcontextprotocol/clientCapabilities': { elicitation: {} } });
});

it('asks the client on the open stream, and repeats the call with the answers and requestState', async () => {
  const server = closeLater(
    await startStateless((request) => {
      if (!isCall(request)) return false;
      const { inputResponses, requestState } = request.message.params;
      if (requestState === undefined) {
        const roots = { method: 'roots/list' };
        const result = { resultType: 'input_required', inputRequests: { name: ELICIT, roots }, requestState: 'st"ate' };
        sendJson(request.response, resultOf(request, result));
      } else
        sendEvents(request.response, [
          resultOf(request, { resultType: 'complete', content: [], inputResponses, requestState }),
        ]);
      return true;
    }),
  );
  const { url } = await bridgeBefore(server.url);
  const client = await connectSession(url, { elicitation: {}, roots: {} });
  const call = { jsonrpc: '2.0', id: 'call', method: 'tools/call', params: { name: 'ask', arguments: { a: 1 } } };
  const messages: unknown[] = [];
  for await (const message of eventsOf(await client.send(call))) {
    messages.push(message.method ?? message.result);
    if (message.method === undefined) continue;
    const result = message.method === 'roots/list' ? { roots: [] } : { action: 'accept', content: { n: 1.5 } };
    const taken = await client.send({ jsonrpc: '2.0', id: message.id, result });
    expect(taken.status).toBe(202);
  }
  expect(messages).toEqual([
    'elicitation/create',
    'roots/list',
    {
      content: [],
      inputResponses: { name: { action: 'accept', content: { n: 1.5 } }, roots: { roots: [] } },
      requestState: 'st"ate',
    },
  ]);
  const calls = server.requests.filter(isCall);
  expect(calls.map(({ message }) => message.params.arguments)).toEqual([{ a: 1 }, { a: 1 }]);
  expect(calls[0]?.message.id).not.toEqual(calls[1]?.message.id);
});

it('a call fails if its client responds to a question with an error', async () => {
  const server = closeLater(
    await startStateless((request) => {
      if (!isCall(request)) return false;
      sendJson(request.response, resultOf(request, { resultType: 'input_required', inputRequests: { a: ELICIT } }));
      return true;
    }),
  );
  const { url } = await bridgeBefore(server.url);
  const client = await connectSession(url, { elicitation: {} });
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'ask' } };
  let last: unknown;
  for await (const message of eventsOf(await client.send(call))) {
    last = message;
    if (message.method !== undefined)
      await client.send({ jsonrpc: '2.0', id: message.id, error: { code: -1, message: 'No' } });
  }
  expect(last).toMatchObject({
    id: 1,
    error: { code: -1, message: 'The client did not answer elicitation/create: No' },
  });
});

it.each([
  {
    reason: 'a question that the client cannot answer',
    result: { resultType: 'input_required', inputRequests: { a: { method: 'sampling/createMessage', params: {} } } },
    message: 'The MCP server asks for sampling/createMessage, which the client does not support',
  },
  {
    reason: 'a question of an unknown kind',
    result: { resultType: 'input_required', inputRequests: { a: { method: 'ping' } } },
    message: 'The MCP server asks for ping, which the client does not support',
  },
  {
    reason: 'invalid questions',
    result: { resultType: 'input_required', inputRequests: { a: 1 } },
    message: 'The MCP server asks for input in an unknown form',
  },
  {
    reason: 'no question at all',
    result: { resultType: 'input_required' },
    message: 'The MCP server asks for input without saying which',
  },
  {
    reason: 'a type of result that sessions do not have',
    result: { resultType: 'task', taskId: '1' },
    message: "The MCP server's result has the type task, which this revision lacks",
  },
])('responds to a call with an error if the server sends $reason', async ({ result, message }) => {
  const server = closeLater(
    await startStateless((request) => {
      if (isCall(request)) sendJson(request.response, resultOf(request, result));
      return isCall(request);
    }),
  );
  const { url } = await bridgeBefore(server.url);
  const client = await connectSession(url, { elicitation: {} });
  const answer = await client.call('tools/call', { name: 'a' });
  expect(answer.messages[0]?.error).toEqual({ code: -32603, message });
});

it('ends a call if the server requests input without an end', async () => {
  const server = closeLater(
    await startStateless((request) => {
      if (isCall(request))
        sendJson(request.response, resultOf(request, { resultType: 'input_required', requestState: 'again' }));
      return isCall(request);
    }),
  );
  const { url } = await bridgeBefore(server.url, { rounds: 3 });
  const client = await connectSession(url);
  const answer = await client.call('tools/call', { name: 'a' });
  expect(answer.messages[0]?.error?.message).toBe('The MCP server asked for input too often');
  expect(server.requests.filter(isCall)).toHaveLength(3);
});

it('aborts the request at the server when the client cancels it', async () => {
  const closed = Promise.withResolvers<void>();
  const server = closeLater(
    await startStateless((request) => {
      if (!isCall(request)) return false;
      sendEvents(
        request.response,
        [{ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: 1, progress: 1 } }],
        false,
      );
      request.response.on('close', closed.resolve);
      return true;
    }),
  );
  const { url } = await bridgeBefore(server.url);
  const client = await connectSession(url);
  const call = { jsonrpc: '2.0', id: 5, method: 'tools/call', params: { name: 'a', _meta: { progressToken: 1 } } };
  const heard: unknown[] = [];
  for await (const message of eventsOf(await client.send(call))) {
    heard.push(message.method);
    await client.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 5 } });
  }
  await closed.promise;
  expect(heard).toEqual(['notifications/progress']);
});

it('handles ping, log levels and subscriptions itself, and refuses unknown log levels', async () => {
  const server = closeLater(await startStateless(() => false));
  const { url } = await bridgeBefore(server.url);
  const client = await connectSession(url);
  expect((await client.call('ping')).messages[0]?.result).toEqual({});
  expect((await client.call('logging/setLevel', { level: 'debug' })).messages[0]?.result).toEqual({});
  expect((await client.call('logging/setLevel', { level: 'loud' })).messages[0]?.error?.code).toBe(-32602);
  expect((await client.call('resources/subscribe', { uri: 'a:b' })).messages[0]?.result).toEqual({});
  expect(server.requests.map(({ message }) => message.method)).toEqual([
    'initialize',
    'server/discover',
    'server/discover',
  ]);
});

it('stores the URIs of a session up to a limit of characters', async () => {
  const server = closeLater(await startStateless(() => false));
  const { url } = await bridgeBefore(server.url);
  const client = await connectSession(url);
  const subscribe = async (name: string) =>
    (await client.call('resources/subscribe', { uri: `${name}:${'x'.repeat(30_000)}` })).messages[0];
  expect([await subscribe('a'), await subscribe('b')]).toMatchObject([{ result: {} }, { result: {} }]);
  expect((await subscribe('c'))?.error?.code).toBe(-32603);
  expect((await subscribe('a'))?.result).toEqual({});
});

it('converts errors of a server of 2026-07-28 to errors for clients with sessions', async () => {
  const server = closeLater(
    await startStateless((request) => {
      if (request.message.method !== 'resources/read') return false;
      sendJson(request.response, errorOf(request, -32602, 'Resource not found', { uri: 'a:b' }));
      return true;
    }),
  );
  const { url } = await bridgeBefore(server.url);
  const client = await connectSession(url);
  const missing = await client.call('resources/read', { uri: 'a:b' });
  expect(missing.messages[0]?.error).toEqual({ code: -32002, message: 'Resource not found', data: { uri: 'a:b' } });
  const unknown = await client.call('no/such');
  expect([unknown.status, unknown.messages[0]?.error?.code]).toEqual([200, -32601]);
});

const HEADED = { type: 'object', properties: { region: { type: 'string', 'x-mcp-header': 'Region' } } };

it('reads the tool list and repeats the call if the server refuses its headers', async () => {
  const server = closeLater(
    await startStateless((request) => {
      const { http, response, message } = request;
      if (message.method === 'tools/list') {
        const [first] = [message.params.cursor === undefined];
        const tools = first
          ? [{ name: 'other', inputSchema: { type: 'object' } }]
          : [{ name: 'headed', inputSchema: HEADED }];
        sendJson(response, resultOf(request, { resultType: 'complete', tools, nextCursor: first ? 'x' : undefined }));
        return true;
      }
      if (!isCall(request)) return false;
      const header = http.headers['mcp-param-region'];
      if (header === undefined) sendJson(response, errorOf(request, -32020, 'Header mismatch'), 400);
      else sendJson(response, resultOf(request, { resultType: 'complete', content: [], header }));
      return true;
    }),
  );
  const { url } = await bridgeBefore(server.url);
  const client = await connectSession(url);
  for (const region of ['north', 'süd']) {
    const answer = await client.call('tools/call', { name: 'headed', arguments: { region } });
    const header = region === 'north' ? 'north' : '=?base64?c8O8ZA==?=';
    expect(answer.messages[0]?.result).toEqual({ content: [], header });
  }
  expect(server.requests.filter(isCall)).toHaveLength(3);
});

it('removes members that clients with sessions cannot read from lists and results', async () => {
  const plain = { type: 'object' };
  const tools = [
    {
      name: 'twice',
      inputSchema: {
        type: 'object',
        properties: { a: { type: 'string', 'x-mcp-header': 'X' }, b: { type: 'string', 'x-mcp-header': 'x' } },
      },
    },
    { name: 'list', inputSchema: plain, outputSchema: { type: 'array' } },
    { name: 'object', inputSchema: plain, outputSchema: plain },
    { name: 'number', inputSchema: { type: 'object', properties: { a: { type: 'number', 'x-mcp-header': 'X' } } } },
  ];
  const server = closeLater(
    await startStateless((request) => {
      const call = isCall(request);
      if (!call && request.message.method !== 'tools/list') return false;
      const result = call ? { content: [], structuredContent: [1] } : { tools, ttlMs: 1, cacheScope: 'public' };
      sendJson(request.response, resultOf(request, { resultType: 'complete', ...result }));
      return true;
    }),
  );
  const { url } = await bridgeBefore(server.url);
  const client = await connectSession(url);
  const listed = await client.call('tools/list');
  expect(listed.messages[0]?.result).toEqual({
    tools: [
      { name: 'list', inputSchema: plain },
      { name: 'object', inputSchema: plain, outputSchema: plain },
    ],
  });
  const called = await client.call('tools/call', { name: 'list' });
  expect(called.messages[0]?.result).toEqual({ content: [] });
});

it('subscribes at the server to the resources that the client has subscribed to', async () => {
  const server = closeLater(
    await startStateless(
      (request) => {
        const { response, message } = request;
        if (message.method !== 'subscriptions/listen') return false;
        const _meta = { 'io.modelcontextprotocol/subscriptionId': message.id };
        const { notifications } = message.params;
        sendEvents(
          response,
          [{ jsonrpc: '2.0', method: 'notifications/subscriptions/acknowledged', params: { _meta, notifications } }],
          false,
        );
        const uris = Object(notifications).resourceSubscriptions ?? [];
        for (const uri of [...uris, 'a:other']) {
          sendEvents(
            response,
            [{ jsonrpc: '2.0', method: 'notifications/resources/updated', params: { _meta, uri } }],
            false,
          );
        }
        return true;
      },
      { resources: { subscribe: true, listChanged: true } },
    ),
  );
  const { url } = await bridgeBefore(server.url);
  const client = await connectSession(url);
  const stream = eventsOf(await client.listen());
  await server.waitFor(({ message }) => message.method === 'subscriptions/listen');
  await client.call('resources/subscribe', { uri: 'a:b' });
  const { value } = await stream.next();
  expect(value).toEqual({
    jsonrpc: '2.0',
    method: 'notifications/resources/updated',
    params: { _meta: {}, uri: 'a:b' },
  });
  const filters = server.requests
    .filter(({ message }) => message.method === 'subscriptions/listen')
    .map(({ message }) => message.params.notifications);
  expect(filters).toEqual([
    { resourcesListChanged: true },
    { resourcesListChanged: true, resourceSubscriptions: ['a:b'] },
  ]);
  await stream.return(undefined);
});

it.each([
  {
    reason: 'a status without a message',
    answer: ({ response }: RawRequest) => void response.writeHead(503).end(),
    status: 503,
  },
  {
    reason: 'HTML',
    answer: ({ response }: RawRequest) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<p>'),
    status: 502,
  },
  { reason: 'an invalid message', answer: ({ response }: RawRequest) => sendJson(response, '{"a":1}'), status: 502 },
  {
    reason: 'a message that is too large',
    answer: (request: RawRequest) => sendJson(request.response, resultOf(request, { text: 'x'.repeat(70_000) })),
    status: 502,
  },
  { reason: 'a closed connection', answer: ({ response }: RawRequest) => void response.destroy(), status: 502 },
])('reports a subscription to which the server responds with $reason', async ({ answer, status }) => {
  const server = closeLater(
    await startStateless((request) => {
      if (isCall(request)) answer(request);
      return isCall(request);
    }),
  );
  const { url } = await bridgeBefore(server.url, { messageBytes: 65_536 });
  const client = await connectSession(url);
  expect((await client.call('tools/call', { name: 'a' })).status).toBe(status);
  expect((await client.call('ping')).status).toBe(200);
});

it('refuses unknown sessions and ended sessions', async () => {
  const server = closeLater(await startStateless(() => false));
  const { url } = await bridgeBefore(server.url);
  const client = await connectSession(url);
  const headers = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' };
  const body = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
  const statuses: number[] = [];
  for (const session of ['unknown', 'bridge.e30', client.id]) {
    statuses.push(
      (await fetch(url, { method: 'POST', headers: { ...headers, 'mcp-session-id': session }, body })).status,
    );
  }
  statuses.push((await fetch(url, { method: 'DELETE', headers: { 'mcp-session-id': client.id } })).status);
  statuses.push((await client.call('ping')).status, (await fetch(url, { method: 'POST', headers, body })).status);
  expect(statuses).toEqual([404, 404, 200, 204, 404, 400]);
});
