// Tests clients of 2026-07-28 on hand-written servers with sessions. In one file, because all tests begin with the same
// server and client.

import type { ServerResponse } from 'node:http';
import { expect, it } from 'vitest';
import { PATIENCE_MS } from '../../../harness/patience.ts';
import { testSeal } from '../shim.ts';
import { bridgeBefore, closeLater } from './bridged.ts';
import {
  callStateless,
  errorOf,
  eventsOf,
  type Fields,
  type RawRequest,
  readRaw,
  resultOf,
  sendEvents,
  sendJson,
  sendStateless,
  startSessions,
} from './raw-server.ts';

const ASKS = { elicitation: {}, sampling: {}, roots: {} };
const ELICIT = { message: 'Name?', requestedSchema: { type: 'object', properties: {} } };

function isCall({ message }: RawRequest): boolean {
  return message.method === 'tools/call';
}

function isResponse({ message }: RawRequest): boolean {
  return message.method === undefined && message.id !== undefined;
}

/** Returns a handler that responds to each call at once. */
function answering(result: Fields = { content: [] }): (request: RawRequest) => boolean {
  return (request) => {
    if (isCall(request)) sendJson(request.response, resultOf(request, result));
    return isCall(request);
  };
}

/** Returns a handler that asks the client for a name at each call. The client's answer becomes the result. */
function asking(): (request: RawRequest) => boolean {
  const waiting = new Map<unknown, RawRequest>();
  return (request) => {
    const { response, message } = request;
    if (isCall(request)) {
      waiting.set(`ask-${message.id}`, request);
      sendEvents(
        response,
        [{ jsonrpc: '2.0', id: `ask-${message.id}`, method: 'elicitation/create', params: ELICIT }],
        false,
      );
      return true;
    }
    const call = isResponse(request) ? waiting.get(message.id) : undefined;
    if (call === undefined) return false;
    response.writeHead(202).end();
    sendEvents(call.response, [resultOf(call, { content: [], answer: message.result })]);
    return true;
  };
}

it('responds to server/discover with the result of initialize', async () => {
  const capabilities = { tools: { listChanged: true }, logging: {}, tasks: { list: {} } };
  const server = closeLater(await startSessions(() => false, capabilities));
  const { url } = await bridgeBefore(server.url);
  const { messages } = await callStateless(url, 'server/discover');
  expect(messages[0]?.result).toEqual({
    resultType: 'complete',
    supportedVersions: ['2026-07-28', '2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'],
    capabilities: { tools: { listChanged: true }, logging: {} },
    instructions: 'Be brief.',
    ttlMs: 0,
    cacheScope: 'private',
    _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'raw', version: '1' } },
  });
});

it('removes members of 2026-07-28 from requests, and uses one session per caller and capabilities', async () => {
  const server = closeLater(await startSessions(answering()));
  const { url } = await bridgeBefore(server.url);
  const meta = {
    progressToken: 'mine',
    'com.example/x': 1,
    'io.modelcontextprotocol/clientInfo': { name: 'c', version: '1' },
  };
  for (const [caller, capabilities] of [
    ['ada', {}],
    ['ada', {}],
    ['bob', {}],
    ['ada', { roots: {} }],
  ] as const) {
    const { messages } = await callStateless(
      url,
      'tools/call',
      { name: 'a', arguments: { n: 1 } },
      { caller, capabilities, meta },
    );
    expect(messages).toEqual([
      {
        jsonrpc: '2.0',
        id: 1,
        result: {
          resultType: 'complete',
          content: [],
          _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'raw', version: '1' } },
        },
      },
    ]);
  }
  const calls = server.requests.filter(isCall);
  expect(calls.map(({ http }) => http.headers['mcp-session-id'])).toEqual(['s1', 's1', 's2', 's3']);
  expect(calls.map(({ http }) => http.headers['mcp-protocol-version'])).toEqual(Array(4).fill('2025-11-25'));
  expect(calls[0]?.message.params).toEqual({
    name: 'a',
    arguments: { n: 1 },
    _meta: { progressToken: calls[0]?.message.id, 'com.example/x': 1 },
  });
});

it('adds the required cache hints, and keeps all other bytes', async () => {
  const server = closeLater(
    await startSessions((request) => {
      const { message, response } = request;
      if (message.method !== 'tools/list') return false;
      sendJson(
        response,
        `{"jsonrpc":"2.0","id":${message.id},"result":{"tools":[{"name":"a","n":9007199254740993}],"_meta":{"x":1e400}}}`,
      );
      return true;
    }),
  );
  const { url } = await bridgeBefore(server.url);
  const { text } = await callStateless(url, 'tools/list', {}, { id: 'é' });
  expect(text).toBe(
    '{"jsonrpc":"2.0","id":"é","result":{"resultType":"complete","ttlMs":0,"cacheScope":"private",' +
      '"tools":[{"name":"a","n":9007199254740993}],' +
      '"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"raw","version":"1"},"x":1e400}}}',
  );
});

it('sends progress and responses to the right client if two clients use the same id and token', async () => {
  const calls: RawRequest[] = [];
  const server = closeLater(
    await startSessions((request) => {
      if (!isCall(request)) return false;
      calls.push(request);
      if (calls.length < 2) return true;
      // Responds to the calls in reverse order, each on its own stream.
      for (const call of calls.toReversed()) {
        const { progressToken } = Object(call.message.params._meta);
        const progress = {
          jsonrpc: '2.0',
          method: 'notifications/progress',
          params: { progressToken, progress: 1, message: call.message.params.name },
        };
        sendEvents(call.response, [progress, resultOf(call, { content: [], name: call.message.params.name })]);
      }
      return true;
    }),
  );
  const { url } = await bridgeBefore(server.url);
  const options = { id: 7, meta: { progressToken: 7 } };
  const answers = await Promise.all(['a', 'b'].map((name) => callStateless(url, 'tools/call', { name }, options)));
  for (const [index, name] of ['a', 'b'].entries()) {
    expect(answers[index]?.messages).toMatchObject([
      { method: 'notifications/progress', params: { progressToken: 7, message: name } },
      { id: 7, result: { name } },
    ]);
  }
  expect(new Set(calls.map(({ http }) => http.headers['mcp-session-id']))).toEqual(new Set(['s1']));
});

it('converts a question of the server to input_required, and the retry to its answer', async () => {
  const server = closeLater(await startSessions(asking()));
  const { url } = await bridgeBefore(server.url);
  const first = await callStateless(
    url,
    'tools/call',
    { name: 'ask', arguments: { b: 1, a: [1] } },
    { capabilities: ASKS },
  );
  expect([first.status, first.headers.get('content-type')]).toEqual([200, 'application/json']);
  const { requestState, ...asked } = first.messages[0]?.result ?? {};
  expect(asked).toEqual({
    resultType: 'input_required',
    inputRequests: { 'elicitation-1': { method: 'elicitation/create', params: ELICIT } },
  });
  const inputResponses = { 'elicitation-1': { action: 'accept', content: { n: 1.5 } }, other: {} };
  const params = { arguments: { a: [1], b: 1 }, name: 'ask', inputResponses, requestState };
  const second = await callStateless(url, 'tools/call', params, { capabilities: ASKS, id: 2 });
  expect(second.messages[0]).toMatchObject({
    id: 2,
    result: { resultType: 'complete', answer: { content: { n: 1.5 } } },
  });
  expect(server.requests.filter(isCall)).toHaveLength(1);
});

it('asks again for missing answers of the client', async () => {
  const server = closeLater(await startSessions(asking()));
  const { url } = await bridgeBefore(server.url);
  const options = { capabilities: ASKS };
  let requestState: unknown;
  for (const inputResponses of [undefined, {}, { 'elicitation-1': 'no object' }]) {
    const { messages } = await callStateless(url, 'tools/call', { name: 'ask', inputResponses, requestState }, options);
    expect(messages[0]?.result).toMatchObject({ resultType: 'input_required', inputRequests: { 'elicitation-1': {} } });
    requestState = messages[0]?.result?.requestState;
  }
  const inputResponses = { 'elicitation-1': { action: 'decline' } };
  const { messages } = await callStateless(url, 'tools/call', { name: 'ask', inputResponses, requestState }, options);
  expect(messages[0]?.result).toMatchObject({ resultType: 'complete', answer: { action: 'decline' } });
});

it('refuses a requestState that was changed, is used twice, or belongs to another caller, request or replica', async () => {
  const server = closeLater(await startSessions(asking()));
  const seal = testSeal();
  const { url } = await bridgeBefore(server.url, {}, seal);
  const replica = await bridgeBefore(server.url, {}, seal);
  const options = { capabilities: ASKS };
  const { messages } = await callStateless(url, 'tools/call', { name: 'ask' }, options);
  const state = String(messages[0]?.result?.requestState);
  const inputResponses = { 'elicitation-1': { action: 'accept' } };
  const retry = async (changes: Fields, at = url, caller = 'ada') => {
    const params = { name: 'ask', inputResponses, requestState: state, ...changes };
    const answer = await callStateless(at, 'tools/call', params, { ...options, caller });
    return answer.messages[0]?.error?.message ?? answer.messages[0]?.result?.resultType;
  };
  const changed = 'Invalid params: requestState is refused: it was changed, or was not issued by this server';
  expect(await retry({ requestState: `${state.slice(0, -2)}AA` })).toBe(changed);
  expect(await retry({ requestState: 7 })).toBe(changed);
  expect(await retry({}, url, 'bob')).toBe(changed);
  expect(await retry({ name: 'other' })).toContain('it belongs to another request');
  expect(await retry({ arguments: { a: 1 } })).toContain('it belongs to another request');
  expect(await retry({}, replica.url)).toContain('waits in another replica');
  expect(await retry({})).toBe('complete');
  expect(await retry({})).toContain('the call has ended');
});

it('cancels a call at the server if its client never retries', async () => {
  const server = closeLater(await startSessions(asking()));
  const { url } = await bridgeBefore(server.url, { parkedMs: 50 });
  const { messages } = await callStateless(url, 'tools/call', { name: 'ask' }, { capabilities: ASKS });
  const { message } = await server.waitFor((request) => request.message.method === 'notifications/cancelled');
  const call = server.requests.find(isCall);
  expect(message.params.requestId).toBe(call?.message.id);
  const refused = await server.waitFor(isResponse);
  expect(refused.message).toMatchObject({ id: `ask-${call?.message.id}`, error: { code: -32603 } });
  const retry = { name: 'ask', inputResponses: {}, requestState: messages[0]?.result?.requestState };
  const late = await callStateless(url, 'tools/call', retry, { capabilities: ASKS });
  expect(late.messages[0]?.error?.code).toBe(-32602);
});

it('limits the number of waiting calls per caller', async () => {
  const server = closeLater(await startSessions(asking()));
  const { url } = await bridgeBefore(server.url, { parkedCallsPerCaller: 2 });
  const ask = (caller: string) => callStateless(url, 'tools/call', { name: 'ask' }, { capabilities: ASKS, caller });
  const answers = [await ask('ada'), await ask('ada'), await ask('ada'), await ask('bob')];
  expect(answers.map(({ messages }) => messages[0]?.result?.resultType ?? messages[0]?.error?.code)).toEqual([
    'input_required',
    'input_required',
    -32603,
    'input_required',
  ]);
});

it('cancels at the server when the client closes its stream', async () => {
  const server = closeLater(
    await startSessions((request) => {
      if (isCall(request)) request.response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
      return isCall(request);
    }),
  );
  const { url } = await bridgeBefore(server.url);
  const abort = new AbortController();
  const sent = sendStateless(url, 'tools/call', { name: 'a' }, { signal: abort.signal }).catch(() => undefined);
  const call = await server.waitFor(isCall);
  abort.abort();
  await sent;
  const { message } = await server.waitFor((request) => request.message.method === 'notifications/cancelled');
  expect(message.params.requestId).toBe(call.message.id);
});

it('responds with -32021 and 400 if the server requests a capability that the client has not declared', async () => {
  const server = closeLater(await startSessions(asking()));
  const { url } = await bridgeBefore(server.url);
  const answer = await callStateless(url, 'tools/call', { name: 'ask' }, { capabilities: { sampling: {} } });
  expect(answer.status).toBe(400);
  expect(answer.messages[0]?.error).toMatchObject({
    code: -32021,
    data: { requiredCapabilities: { elicitation: {} } },
  });
  expect((await server.waitFor(isResponse)).message.error).toMatchObject({ code: -32601 });
});

it('assigns questions on the stream of a session to its only call, and does not use the session for a second call', async () => {
  let stream: ServerResponse | undefined;
  const calls: RawRequest[] = [];
  const server = closeLater(
    await startSessions((request) => {
      const { http, response } = request;
      if (http.method === 'GET') {
        stream = response.writeHead(200, { 'content-type': 'text/event-stream' });
        stream.flushHeaders();
        return true;
      }
      if (isCall(request)) calls.push(request);
      if (isCall(request) && request.message.params.name === 'ask' && stream !== undefined) {
        sendEvents(stream, [{ jsonrpc: '2.0', id: `q${calls.length}`, method: 'roots/list' }], false);
      }
      return isCall(request);
    }),
  );
  const { url } = await bridgeBefore(server.url, { sessionsPerClient: 1 });
  const options = { capabilities: ASKS };
  const asked = await callStateless(url, 'tools/call', { name: 'ask' }, options);
  expect(asked.messages[0]?.result).toMatchObject({ inputRequests: { 'roots-1': { method: 'roots/list' } } });
  const other = await callStateless(url, 'tools/call', { name: 'other' }, options);
  expect(other.status).toBe(503);
  expect(calls).toHaveLength(1);
  for (const call of calls) sendJson(call.response, resultOf(call, { content: [] }));
});

it('uses a separate session for each call that may get questions, reuses free sessions, and refuses further calls', async () => {
  const server = closeLater(await startSessions(asking()));
  const { url } = await bridgeBefore(server.url, { sessionsPerClient: 2 });
  const options = { capabilities: ASKS };
  const ask = async (params: Fields = {}) =>
    (await callStateless(url, 'tools/call', { name: 'ask', ...params }, options)).messages[0]?.result;
  const waiting = await Promise.all([ask(), ask()]);
  expect((await callStateless(url, 'tools/call', { name: 'ask' }, options)).status).toBe(503);
  const inputResponses = { 'elicitation-1': { action: 'accept' } };
  await ask({ inputResponses, requestState: waiting[1]?.requestState });
  await ask();
  const sessions = server.requests.filter(isCall).map(({ http }) => http.headers['mcp-session-id']);
  expect(sessions.slice(0, 2).sort()).toEqual(['s1', 's2']);
  expect(sessions).toHaveLength(3);
  expect(server.requests.filter(({ message }) => message.method === 'initialize')).toHaveLength(2);
});

it('asks the client to open a URL if the server requires this', async () => {
  const elicitations = [{ mode: 'url', elicitationId: 'e1', url: 'https://example.com/login', message: 'Log in' }];
  const server = closeLater(
    await startSessions((request) => {
      if (!isCall(request)) return false;
      const again = server.requests.filter(isCall).length > 1;
      const answer = again
        ? resultOf(request, { content: [] })
        : errorOf(request, -32042, 'URL required', { elicitations });
      sendJson(request.response, answer);
      return true;
    }),
  );
  const { url } = await bridgeBefore(server.url);
  const options = { capabilities: { elicitation: { url: {} } } };
  const first = await callStateless(url, 'tools/call', { name: 'a' }, options);
  const request = {
    method: 'elicitation/create',
    params: { mode: 'url', message: 'Log in', url: 'https://example.com/login' },
  };
  expect(first.messages[0]?.result).toEqual({
    resultType: 'input_required',
    inputRequests: { 'elicitation-1': request },
  });
  const inputResponses = { 'elicitation-1': { action: 'accept' } };
  const second = await callStateless(url, 'tools/call', { name: 'a', inputResponses }, options);
  expect(second.messages[0]?.result).toMatchObject({ resultType: 'complete' });
  expect(server.requests.filter(isCall)[1]?.message.params).toEqual({ name: 'a', _meta: {} });
});

it('sends log messages only to requests that ask for them, from the requested level on', async () => {
  const log = (level: string) => ({ jsonrpc: '2.0', method: 'notifications/message', params: { level, data: level } });
  const server = closeLater(
    await startSessions(
      (request) => {
        if (request.message.method === 'logging/setLevel') sendJson(request.response, resultOf(request, {}));
        else if (isCall(request))
          sendEvents(request.response, [log('info'), log('error'), resultOf(request, { content: [] })]);
        else return false;
        return true;
      },
      { logging: {} },
    ),
  );
  const { url } = await bridgeBefore(server.url);
  const heard: unknown[] = [];
  for (const level of [undefined, 'error', 'debug', 'error']) {
    const meta = level === undefined ? {} : { 'io.modelcontextprotocol/logLevel': level };
    const { messages } = await callStateless(url, 'tools/call', { name: 'a' }, { meta });
    heard.push(messages.flatMap(({ params }) => (params === undefined ? [] : [params.level])));
  }
  expect(heard).toEqual([[], ['error'], ['info', 'error'], ['error']]);
  const levels = server.requests.filter(({ message }) => message.method === 'logging/setLevel');
  expect(levels.map(({ message }) => message.params.level)).toEqual(['error', 'debug']);
  const meta = { 'io.modelcontextprotocol/logLevel': 'loud' };
  expect((await callStateless(url, 'tools/call', { name: 'a' }, { meta })).messages[0]?.error?.code).toBe(-32602);
});

it('repeats a call once if the server no longer knows the session', async () => {
  const server = closeLater(await startSessions(answering()));
  const { url } = await bridgeBefore(server.url);
  await callStateless(url, 'tools/call', { name: 'a' });
  server.forget();
  const { messages } = await callStateless(url, 'tools/call', { name: 'a' });
  expect(messages[0]?.result).toMatchObject({ resultType: 'complete' });
  const sessions = server.requests.filter(isCall).map(({ http }) => http.headers['mcp-session-id']);
  expect(sessions).toEqual(['s1', 's1', 's2']);
});

it('resumes a response whose stream the server has ended early', async () => {
  let call: RawRequest | undefined;
  const server = closeLater(
    await startSessions((request) => {
      const { http, response } = request;
      if (isCall(request)) {
        call = request;
        response.writeHead(200, { 'content-type': 'text/event-stream' }).end('id: e1\nretry: 10\ndata:\n\n');
        return true;
      }
      if (http.method !== 'GET' || http.headers['last-event-id'] !== 'e1' || call === undefined) return false;
      sendEvents(response, [resultOf(call, { content: [], resumed: true })]);
      return true;
    }),
  );
  const { url } = await bridgeBefore(server.url);
  const { messages } = await callStateless(url, 'tools/call', { name: 'a' });
  expect(messages[0]?.result).toMatchObject({ resumed: true });
});

it('serves subscriptions/listen from the stream of the session and resources/subscribe', async () => {
  let stream: ServerResponse | undefined;
  const server = closeLater(
    await startSessions(
      (request) => {
        const { http, response, message } = request;
        if (http.method === 'GET') {
          stream = response.writeHead(200, { 'content-type': 'text/event-stream' });
          stream.flushHeaders();
          return true;
        }
        if (message.method === 'resources/subscribe' && message.params.uri !== 'a:refused')
          sendJson(response, resultOf(request, {}));
        else if (message.method === 'resources/unsubscribe') sendJson(response, resultOf(request, {}));
        else return false;
        return true;
      },
      { tools: { listChanged: true }, prompts: {}, resources: { subscribe: true } },
    ),
  );
  const { url, backend } = await bridgeBefore(server.url);
  const notifications = {
    toolsListChanged: true,
    promptsListChanged: true,
    resourceSubscriptions: ['a:b', 'a:refused', 'file:///d'],
  };
  const events = eventsOf(await sendStateless(url, 'subscriptions/listen', { notifications }, { id: 'sub' }));
  const _meta = { 'io.modelcontextprotocol/subscriptionId': 'sub' };
  const next = async () => (await events.next()).value;
  expect(await next()).toMatchObject({
    method: 'notifications/subscriptions/acknowledged',
    params: { _meta, notifications: { toolsListChanged: true, resourceSubscriptions: ['a:b', 'file:///d'] } },
  });
  if (stream === undefined) throw new Error('the session has no stream');
  const changed = (method: string, params?: Fields) => ({ jsonrpc: '2.0', method: `notifications/${method}`, params });
  sendEvents(
    stream,
    [
      changed('prompts/list_changed'),
      changed('resources/updated', { uri: 'a:other' }),
      changed('tools/list_changed'),
      changed('resources/updated', { uri: 'file:///d/e', _meta: { x: 1 } }),
      changed('message', { level: 'error', data: 'not for subscriptions' }),
      changed('tools/list_changed', {}),
    ],
    false,
  );
  expect(await next()).toMatchObject({ method: 'notifications/tools/list_changed', params: { _meta } });
  expect(await next()).toMatchObject({ params: { uri: 'file:///d/e', _meta: { ..._meta, x: 1 } } });
  expect(await next()).toEqual({ jsonrpc: '2.0', method: 'notifications/tools/list_changed', params: { _meta } });
  await backend.close(0);
  expect(await next()).toMatchObject({ id: 'sub', result: { resultType: 'complete', _meta } });
});

it('reopens a closed stream of a session, even if the server refuses it at first', async () => {
  const streams: ServerResponse[] = [];
  let gets = 0;
  const server = closeLater(
    await startSessions(
      ({ http, response }) => {
        if (http.method !== 'GET') return false;
        gets += 1;
        if (gets === 2) response.writeHead(503).end();
        else {
          response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
          streams.push(response);
        }
        return true;
      },
      { tools: { listChanged: true } },
    ),
  );
  const { url } = await bridgeBefore(server.url);
  const listening = await sendStateless(url, 'subscriptions/listen', { notifications: { toolsListChanged: true } });
  const events = eventsOf(listening);
  await events.next();
  streams[0]?.end();
  await expect.poll(() => streams.length, { timeout: PATIENCE_MS }).toBe(2);
  if (streams[1] === undefined) throw new Error('there is no second stream');
  sendEvents(streams[1], [{ jsonrpc: '2.0', method: 'notifications/tools/list_changed' }], false);
  expect((await events.next()).value).toMatchObject({ method: 'notifications/tools/list_changed' });
});

it('unsubscribes at the server when the last subscription is closed', async () => {
  const server = closeLater(
    await startSessions(
      (request) => {
        const { message, response } = request;
        if (!String(message.method).startsWith('resources/')) return false;
        sendJson(response, resultOf(request, {}));
        return true;
      },
      { resources: { subscribe: true } },
    ),
  );
  const { url } = await bridgeBefore(server.url);
  const notifications = { resourceSubscriptions: ['a:b'] };
  const open = async () => {
    const abort = new AbortController();
    const response = await sendStateless(url, 'subscriptions/listen', { notifications }, { signal: abort.signal });
    await eventsOf(response).next();
    return abort;
  };
  const [first, second] = [await open(), await open()];
  first.abort();
  second.abort();
  await server.waitFor(({ message }) => message.method === 'resources/unsubscribe');
  const methods = server.requests
    .map(({ message }) => message.method)
    .filter((method) => method?.startsWith('resources/'));
  expect(methods).toEqual(['resources/subscribe', 'resources/unsubscribe']);
});

it('ends sessions at the server when it closes, and after a time without requests', async () => {
  const server = closeLater(await startSessions(answering()));
  const idle = await bridgeBefore(server.url, { backendSessionIdleMs: 20 });
  await callStateless(idle.url, 'tools/call', { name: 'a' });
  await server.waitFor(({ http }) => http.method === 'DELETE' && http.headers['mcp-session-id'] === 's1');
  const { url, backend } = await bridgeBefore(server.url);
  await callStateless(url, 'tools/call', { name: 'a' });
  await backend.close(0);
  await server.waitFor(({ http }) => http.method === 'DELETE' && http.headers['mcp-session-id'] === 's2');
});

it('limits the number of sessions, and ends the session that was unused for the longest time', async () => {
  const server = closeLater(await startSessions(answering()));
  const { url } = await bridgeBefore(server.url, { backendSessions: 2 });
  for (const caller of ['ada', 'bob', 'ada', 'cy']) await callStateless(url, 'tools/call', { name: 'a' }, { caller });
  const ended = await server.waitFor(({ http }) => http.method === 'DELETE');
  expect(ended.http.headers['mcp-session-id']).toBe('s2');
});

it('a caller with half of the sessions ends its own sessions, and cannot get more with other capabilities', async () => {
  const streams: RawRequest[] = [];
  const server = closeLater(
    await startSessions((request) => {
      if (isCall(request) && request.message.params.name === 'hang') streams.push(request);
      else return answering()(request);
      return true;
    }),
  );
  const { url } = await bridgeBefore(server.url, { backendSessions: 4 });
  const capabilities = (name: string) => ({ experimental: { [name]: {} } });
  const call = (caller: string, name: string, tool = 'a') =>
    callStateless(url, 'tools/call', { name: tool }, { caller, capabilities: capabilities(name) });
  await call('bob', 'b');
  for (const name of ['x', 'y', 'z']) expect((await call('eve', name)).status).toBe(200);
  const ended = await server.waitFor(({ http }) => http.method === 'DELETE');
  expect(ended.http.headers['mcp-session-id']).toBe('s2');
  const hanging = ['y', 'z'].map((name) => call('eve', name, 'hang'));
  await expect.poll(() => streams.length).toBe(2);
  expect((await call('eve', 'w')).status).toBe(503);
  expect([(await call('bob', 'b')).status, (await call('cy', 'c')).status]).toEqual([200, 200]);
  for (const each of streams) sendJson(each.response, resultOf(each, { content: [] }));
  await Promise.all(hanging);
});

it('refuses methods that 2026-07-28 has removed, and requests without required members', async () => {
  const server = closeLater(await startSessions(answering()));
  const { url } = await bridgeBefore(server.url);
  for (const method of ['ping', 'logging/setLevel', 'resources/subscribe', 'resources/unsubscribe', 'no/such']) {
    const { status, messages } = await callStateless(url, method, { uri: 'a:b' });
    expect([status, messages[0]?.error?.code], method).toEqual([404, -32601]);
  }
  const meta = { 'io.modelcontextprotocol/clientCapabilities': [] };
  const { status, messages } = await callStateless(url, 'tools/call', { name: 'a' }, { meta });
  expect([status, messages[0]?.error?.code]).toEqual([400, -32602]);
  const response = await fetch(url, { headers: { 'mcp-protocol-version': '2026-07-28' } });
  expect((await readRaw(response)).status).toBe(405);
});
