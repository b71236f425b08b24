// Tests user interfaces of tools (SEP-1865, MCP Apps) behind a virtual server: a client reads the user interface of a
// tool, and the user interface calls tools of its own server. In one file, because the tests share two backends with
// equal URIs.

import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { VmcpConfig } from '#contracts/vmcp-config.ts';
import { answerPlainly, answerResult, type Received, startServer, stopAll, type TestServer } from '../proxy/rig.ts';
import { startMember, type TestMember, tool } from './member.ts';
import {
  APPS,
  askStateless,
  type Declared,
  REVISION,
  SHOWS_APPS,
  statelessHeaders,
  statelessMeta,
} from './stateless-client.ts';
import { clientWith, configOf, connect, operational, postTo, runVirtual, type TestedVirtualServer } from './world.ts';

const VIEW = 'ui://view.html';
const CHART_VIEW = 'ui://skep/chart/view.html';
const TABLE_VIEW = 'ui://skep/table/view.html';
const PAGE = { uri: VIEW, mimeType: 'text/html;profile=mcp-app', _meta: { ui: { csp: { connectDomains: [] } } } };

let chart: TestServer;
let table: TestMember;
let office: TestedVirtualServer;
let running: TestedVirtualServer[] = [];

beforeAll(async () => {
  chart = await startServer(answerChart);
  table = await startMember({ name: 'table', tools: TABLE_TOOLS, resources: [{ uri: VIEW, name: 'view' }] });
  office = await runVirtual(configOf(bothBackends()));
});
afterEach(async () => {
  await Promise.all(running.map((each) => each.stop()));
  running = [];
});
afterAll(async () => {
  await office.stop();
  await table.close();
  await stopAll();
});

function bothBackends() {
  return { chart: { url: `http://127.0.0.1:${chart.port}/mcp` }, table };
}

async function run(settings: Partial<VmcpConfig>, backends: Parameters<typeof configOf>[0] = bothBackends()) {
  const server = await runVirtual(configOf(backends, settings));
  running.push(server);
  return server;
}

function withView(name: string, visibility?: readonly string[], uri = VIEW) {
  const ui = { resourceUri: uri, ...(visibility === undefined ? {} : { visibility }) };
  return tool(name, { _meta: { ui, 'ui/resourceUri': uri } });
}

const CHART_TOOLS = [
  withView('draw'),
  withView('refresh', ['app']),
  withView('explain', ['model']),
  withView('other', ['model', 'app'], 'ui://chart/other.html'),
  tool('sort'),
];
const TABLE_TOOLS = [withView('open'), tool('sort')];

/** Responds as a server of 2026-07-28 that does not list its resources. */
function answerChart(received: Received): void {
  const { response, message } = received;
  const lists = { resultType: 'complete', ttlMs: 0, cacheScope: 'private' };
  const results: Readonly<Record<string, object>> = {
    'server/discover': {
      supportedVersions: [REVISION],
      capabilities: { tools: {}, resources: {}, extensions: { [APPS]: {} } },
      ...lists,
    },
    'tools/list': { tools: CHART_TOOLS, ...lists },
    'resources/list': { resources: [], ...lists },
    'resources/templates/list': { resourceTemplates: [], ...lists },
    'resources/read': { contents: [{ ...PAGE, text: `<p>${JSON.stringify(message?.params)}` }], ...lists },
  };
  const result = results[message?.method ?? ''];
  if (message === undefined || result === undefined) answerPlainly(received);
  else answerResult(response, message, result);
}

function toolsOf(answer: { result: { tools: { name: string; _meta?: unknown }[] } } | undefined) {
  return new Map(answer?.result.tools.map(({ name, _meta }) => [name, _meta]));
}

async function listed(server: TestedVirtualServer, extensions: Declared = SHOWS_APPS) {
  return toolsOf(await askStateless(server, 'tools/list', {}, '', extensions));
}

function call(server: TestedVirtualServer, name: string) {
  return askStateless(server, 'tools/call', { name, arguments: {} }, name, SHOWS_APPS);
}

function read(server: TestedVirtualServer, uri: string) {
  return askStateless(server, 'resources/read', { uri }, uri, SHOWS_APPS);
}

function lastAtChart(method: string): object | undefined {
  return chart.received.findLast(({ message }) => message?.method === method)?.message?.params;
}

test('clients of both eras are offered user interfaces', async () => {
  const discovered = await askStateless(office, 'server/discover', {}, '');
  expect(discovered?.result.capabilities.extensions).toEqual({ [APPS]: {} });
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } };
  const begun = await postTo(office.url, { id: 0, method: 'initialize', params });
  expect(begun.json?.result.capabilities.extensions).toEqual({ [APPS]: {} });
});

test('a server can offer user interfaces without a declared capability', async () => {
  const server = await run({}, { table });
  const discovered = await askStateless(server, 'server/discover', {}, '');
  expect(discovered?.result.capabilities.extensions).toEqual({ [APPS]: {} });
});

test('backends get requests as from a client that shows user interfaces', async () => {
  const declared = { 'io.modelcontextprotocol/clientCapabilities': { extensions: SHOWS_APPS } };
  await listed(office);
  expect(lastAtChart('tools/list')).toMatchObject({ _meta: declared });
  await call(office, 'chart_draw');
  expect(lastAtChart('tools/call')).toMatchObject({ _meta: declared });
  const begun = table.asked.filter(({ message }) => message?.method === 'initialize').length;
  const client = await connect(office, { extensions: { ...SHOWS_APPS, 'com.example/other': {} } });
  await client.ask('tools/call', { name: 'table_open', arguments: {} });
  const sessions = table.asked.filter(({ message }) => message?.method === 'initialize').slice(begun);
  expect(sessions.map(({ message }) => message.params.capabilities)).toEqual([{ extensions: SHOWS_APPS }]);
});

test('equal URIs of two backends are distinguished in tools and in resources', async () => {
  const tools = await listed(office);
  expect(tools.get('chart_draw')).toEqual({ ui: { resourceUri: CHART_VIEW }, 'ui/resourceUri': CHART_VIEW });
  expect(tools.get('table_open')).toEqual({ ui: { resourceUri: TABLE_VIEW }, 'ui/resourceUri': TABLE_VIEW });
  expect(tools.get('chart_other')).toMatchObject({ ui: { resourceUri: 'ui://chart/other.html' } });
  const client = await connect(office, { extensions: SHOWS_APPS });
  expect(toolsOf({ result: await client.ask('tools/list') }).get('table_open')).toEqual(tools.get('table_open'));
  const { resources } = await client.ask('resources/list');
  expect(resources).toEqual([{ uri: TABLE_VIEW, name: 'view' }]);
});

test('each user interface is read from its backend, and only its URI changes', async () => {
  const answer = await read(office, CHART_VIEW);
  expect(answer?.result.contents).toEqual([{ ...PAGE, uri: CHART_VIEW, text: expect.stringContaining(VIEW) }]);
  expect(lastAtChart('resources/read')).toMatchObject({ uri: VIEW });
  const client = await connect(office);
  expect(await client.ask('resources/read', { uri: TABLE_VIEW })).toMatchObject({ from: 'table', got: { uri: VIEW } });
  expect((await read(office, 'ui://chart/other.html'))?.result.contents).toHaveLength(1);
});

test('a URI of several backends or of an unknown backend is not found', async () => {
  const before = chart.received.length;
  for (const uri of [VIEW, 'ui://skep/nobody/view.html', 'ui://skep/chart', 'ui://skep//view.html'])
    expect((await read(office, uri))?.error.code).toBe(-32602);
  expect(chart.received.slice(before).filter(({ message }) => message?.method === 'resources/read')).toEqual([]);
});

test('the URI of a backend stays valid after no other backend has an equal URI', async () => {
  const { chart: alone } = bothBackends();
  const server = await run({}, { chart: alone });
  expect((await listed(server)).get('chart_draw')).toMatchObject({ ui: { resourceUri: VIEW } });
  expect((await read(server, VIEW))?.result.contents).toHaveLength(1);
  expect((await read(server, CHART_VIEW))?.result.contents).toHaveLength(1);
});

test('a backend cannot refer to the user interface of another backend', async () => {
  const liar = await startMember({ name: 'liar', tools: [withView('show', undefined, CHART_VIEW)] });
  const server = await run({}, { ...bothBackends(), liar });
  const named = (await listed(server)).get('liar_show');
  expect(named).toMatchObject({ ui: { resourceUri: 'ui://skep/liar/skep/chart/view.html' } });
  const client = await connect(server);
  const answer = await client.ask('resources/read', { uri: 'ui://skep/liar/skep/chart/view.html' });
  await liar.close();
  expect(answer).toMatchObject({ from: 'liar', got: { uri: CHART_VIEW } });
});

test.each([
  ['in the metadata', '"_meta":{"\\ud800":1,"ui":{"resourceUri":"ui://skep/chart/view.html"}}'],
  ['in its settings', '"_meta":{"ui":{"\\ud800":1,"resourceUri":"ui://skep/chart/view.html"}}'],
])('a tool whose metadata cannot be changed is left out: an invalid Unicode key %s', async (_where, meta) => {
  const { chart: own } = bothBackends();
  const liar = await startServer((received) => {
    const { response, message } = received;
    const tools = `{"name":"show","inputSchema":{"type":"object"},${meta}},{"name":"plain","inputSchema":{"type":"object"}}`;
    const lists = '"resultType":"complete","ttlMs":0,"cacheScope":"private"';
    const discovered = `{"supportedVersions":["${REVISION}"],"capabilities":{"tools":{}},${lists}}`;
    const result = message?.method === 'server/discover' ? discovered : `{"tools":[${tools}],${lists}}`;
    if (message?.id === undefined) response.writeHead(202).end();
    else {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(`{"jsonrpc":"2.0","id":${JSON.stringify(message.id)},"result":${result}}`);
    }
  });
  const server = await run({}, { chart: own, liar: { url: `http://127.0.0.1:${liar.port}/mcp` } });
  await server.written('its _meta has a key that is not valid Unicode');
  const names = [...(await listed(server)).keys()];
  await liar.stop();
  expect(names).toContain('liar_plain');
  expect(names).not.toContain('liar_show');
});

test('tools only for user interfaces are listed for clients that show user interfaces', async () => {
  expect([...(await listed(office)).keys()]).toContain('chart_refresh');
  expect([...(await listed(office, {})).keys()]).not.toContain('chart_refresh');
  const [plain, shows] = [await connect(office), await connect(office, { extensions: SHOWS_APPS })];
  expect([...toolsOf({ result: await plain.ask('tools/list') }).keys()]).not.toContain('chart_refresh');
  expect([...toolsOf({ result: await shows.ask('tools/list') }).keys()]).toContain('chart_refresh');
});

test('find_tool does not find tools only for user interfaces', async () => {
  const optimizer = {
    ...{ maxToolsToReturn: 20, embeddingServiceTimeout: '30s' },
    ...{ hybridSearchSemanticRatio: '0.5', semanticDistanceThreshold: '0.5' },
  };
  const server = await run({ optimizer });
  const ask = (name: string, given: object) =>
    askStateless(server, 'tools/call', { name, arguments: given }, name, SHOWS_APPS);
  const found = await ask('find_tool', { tool_description: 'of the server' });
  const names = found?.result.structuredContent.tools.map(({ name }: { name: string }) => name);
  expect(names).toContain('chart_draw');
  expect(names).not.toContain('chart_refresh');
  const called = await ask('call_tool', { tool_name: 'chart_refresh', parameters: {} });
  expect(called?.result.isError).toBe(true);
});

test.each(['refresh', 'draw'])('a user interface calls %s by its name at the server', async (own) => {
  const answer = await call(office, own);
  expect(answer?.result.content).toHaveLength(1);
  const sent = chart.received.findLast(({ message }) => message?.method === 'tools/call');
  expect([sent?.message?.params?.name, sent?.request.headers['mcp-name']]).toEqual([own, own]);
  const client = await connect(office);
  expect((await client.ask('tools/call', { name: 'open', arguments: {} })).content).toHaveLength(1);
});

test('the name of a hidden tool does not lead to a tool of another backend', async () => {
  const aggregation: VmcpConfig['aggregation'] = {
    conflictResolution: 'prefix',
    conflictResolutionConfig: { prefixFormat: '{workload}_' },
    tools: [{ workload: 'chart', excludeAll: false, filter: ['draw'] }],
    excludeAllTools: false,
  };
  const server = await run({ aggregation });
  expect([...(await listed(server)).keys()]).toContain('table_sort');
  expect((await call(server, 'sort'))?.error.message).toBe('Unknown tool: sort');
});

test('a call needs no list of other backends, even if the caller has read no list', async () => {
  const gone = await startMember({ name: 'gone' });
  await gone.close();
  const failing: Partial<VmcpConfig> = {
    ...operational({ partialFailureMode: 'fail' }),
    outgoingAuth: {
      source: 'inline',
      backends: {
        table: { type: 'unauthenticated' },
        gone: {
          type: 'token_exchange',
          tokenExchange: {
            tokenUrl: 'http://127.0.0.1:9/token',
            audience: 'gone',
            subjectTokenType: 'urn:ietf:params:oauth:token-type:access_token',
          },
        },
      },
    },
  };
  const server = await run(failing, { table, gone });
  expect((await call(server, 'table_open'))?.result.content).toHaveLength(1);
});

test.each([
  ['that two members have', 'sort'],
  ['of a tool for models alone', 'explain'],
  ['that no member has', 'nothing'],
])('a name %s calls no tool', async (_which, own) => {
  expect((await call(office, own))?.error).toMatchObject({ code: -32602, message: `Unknown tool: ${own}` });
});

test('a name that clients see always leads to the listed tool', async () => {
  const aggregation: VmcpConfig['aggregation'] = {
    conflictResolution: 'prefix',
    conflictResolutionConfig: { prefixFormat: '{workload}_' },
    tools: [
      { workload: 'table', excludeAll: false, overrides: { open: { name: 'draw' } } },
      { workload: 'chart', excludeAll: false, filter: ['draw', 'other'] },
    ],
    excludeAllTools: false,
  };
  const server = await run({ aggregation });
  expect([...(await listed(server)).keys()]).toEqual(['chart_draw', 'chart_other', 'table_draw', 'table_sort']);
  const unknown = await call(server, 'refresh');
  expect(unknown?.error.message).toBe('Unknown tool: refresh');
  expect((await call(server, 'open'))?.result.content).toHaveLength(1);
  expect(table.calls('tools/call').at(-1)?.message.params.name).toBe('open');
});

function policies(...lines: readonly string[]): Partial<VmcpConfig> {
  return { incomingAuth: { type: 'anonymous', authz: { type: 'cedar', policies: [...lines] } } };
}

const CALL = 'principal, action == Action::"call_tool", resource';

test('policies use the name that clients see, and the audit event contains both names', async () => {
  const data = { includeRequestData: false, includeResponseData: false, maxDataSize: 0 };
  const audit = { enabled: true as const, component: 'office', ...data };
  const server = await run({ audit, ...policies(`permit(${CALL} == Tool::"chart_refresh");`) });
  expect((await call(server, 'refresh'))?.result.content).toHaveLength(1);
  expect((await call(server, 'draw'))?.error.code).toBe(403);
  await server.written('chart_refresh');
  expect(server.audit.map(({ target, metadata }) => [target.name, metadata.extra.backend_name])).toContainEqual([
    'refresh',
    'chart_refresh',
  ]);
});

test('a policy that forbids the name that clients see forbids the name of the server', async () => {
  const server = await run(
    policies('permit(principal, action, resource);', `forbid(${CALL} == Tool::"chart_refresh");`),
  );
  expect((await call(server, 'refresh'))?.error.code).toBe(403);
  expect((await call(server, 'draw'))?.result.content).toHaveLength(1);
});

test('policies use the URI of a user interface at its server', async () => {
  const forbid =
    'forbid(principal, action == Action::"read_resource", resource) when { resource.uri == "ui://view.html" };';
  const server = await run(policies('permit(principal, action, resource);', forbid));
  expect((await read(server, CHART_VIEW))?.error.code).toBe(403);
  const client = await connect(server);
  expect((await client.ask('resources/list')).resources).toEqual([]);
  expect((await read(server, 'ui://chart/other.html'))?.result.contents).toHaveLength(1);
});

test('a listening client gets updates of a user interface or a part of it, with the URI for clients', async () => {
  const notifications = { resourceSubscriptions: [TABLE_VIEW] };
  const message = {
    id: 7,
    method: 'subscriptions/listen',
    params: { notifications, _meta: statelessMeta(SHOWS_APPS) },
  };
  const stream = await clientWith(office.url, statelessHeaders('subscriptions/listen', '')).open(message);
  expect(await stream.next()).toMatchObject({ params: { notifications } });
  const subscribed = () => table.calls('resources/subscribe').some(({ message: each }) => each.params.uri === VIEW);
  const before = table.asked.length;
  const listens = () => table.asked.slice(before - 50).some(({ method }) => method === 'GET');
  await expect.poll(() => subscribed() && listens()).toBe(true);
  table.say({ method: 'notifications/resources/updated', params: { uri: `${VIEW}/part` } });
  expect(await stream.next()).toMatchObject({ params: { uri: `${TABLE_VIEW}/part` } });
  stream.close();
});

test('a subscription ends at its backend, even if its URI is no longer found', async () => {
  const other = await startMember({ name: 'other', tools: [tool('wait')] });
  const server = await run({}, { table, other });
  const client = await connect(server, { extensions: SHOWS_APPS });
  await client.ask('resources/subscribe', { uri: VIEW });
  other.offer({ tools: [withView('wait')] });
  await expect.poll(async () => (await read(server, VIEW))?.error?.code).toBe(-32602);
  const ended = await client.ask('resources/unsubscribe', { uri: VIEW });
  await other.close();
  expect(ended).toMatchObject({ from: 'table', got: { uri: VIEW } });
});

test('a client gets updates of a subscribed user interface, with the URI for clients', async () => {
  const client = await connect(office, { extensions: SHOWS_APPS });
  await client.ask('resources/subscribe', { uri: TABLE_VIEW });
  expect(table.calls('resources/subscribe').at(-1)?.message.params).toEqual({ uri: VIEW });
  const stream = await client.open();
  const session = table.calls('resources/subscribe').at(-1)?.headers['mcp-session-id'];
  const listens = () =>
    table.asked.some(({ method, headers }) => method === 'GET' && headers['mcp-session-id'] === session);
  await expect.poll(listens).toBe(true);
  table.say({ method: 'notifications/resources/updated', params: { uri: VIEW } });
  expect(await stream.next()).toMatchObject({ params: { uri: TABLE_VIEW } });
  stream.close();
});
