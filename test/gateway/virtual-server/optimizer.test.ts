// Tests the optimizer of a virtual server: clients see only find_tool and call_tool, find callable tools by words and
// by meaning, and call them with the same checks. In one file, because all tests share one backend and its tools.

import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import type { VmcpConfig } from '#contracts/vmcp-config.ts';
import { eventually } from '../../harness/cluster.ts';
import { type Behaviour, startEmbeddings, type TestEmbeddings } from './embeddings.ts';
import { startMember, type TestMember, tool } from './member.ts';
import { workflow } from './workflow-world.ts';
import { type Client, clientWith, configOf, connect, postTo, runVirtual, type TestedVirtualServer } from './world.ts';

const CAMERA = tool('take_snapshot', { description: 'Uses the camera of the machine.' });
const TOOLS = [
  CAMERA,
  tool('create_invoice', { description: 'Writes to a customer what there is to pay.' }),
  tool('getForecast', { description: 'Says whether it will rain.', annotations: { readOnlyHint: true } }),
  tool('add_memo', { description: 'Keeps a text.' }),
  tool('hidden_photo', { description: 'A picture that nobody sees.' }),
  tool('hang'),
];

let office: TestMember;
let service: TestEmbeddings;
let running: TestedVirtualServer[] = [];

beforeAll(async () => {
  office = await startMember({ name: 'office', tools: TOOLS });
  service = await startEmbeddings();
});

afterEach(async () => {
  await Promise.all(running.map((each) => each.stop()));
  running = [];
  service.behave('well');
});

afterAll(async () => {
  await Promise.all([office.close(), service.close()]);
});

const HIDING: VmcpConfig['aggregation'] = {
  conflictResolution: 'priority',
  conflictResolutionConfig: { prefixFormat: '{workload}_', priorityOrder: [] },
  tools: [
    {
      workload: 'office',
      filter: TOOLS.flatMap(({ name }) => (name === 'hidden_photo' ? [] : [String(name)])),
      excludeAll: false,
    },
  ],
  excludeAllTools: false,
};

function optimizer(settings: Partial<VmcpConfig['optimizer']> = {}): NonNullable<VmcpConfig['optimizer']> {
  return {
    maxToolsToReturn: 8,
    embeddingServiceTimeout: '30s',
    hybridSearchSemanticRatio: '0.5',
    semanticDistanceThreshold: '0.5',
    ...settings,
  };
}

async function run(settings: Partial<VmcpConfig['optimizer']> = {}, more: Partial<VmcpConfig> = {}) {
  const server = await runVirtual(
    configOf({ office }, { aggregation: HIDING, optimizer: optimizer(settings), ...more }),
  );
  running.push(server);
  return server;
}

async function find(client: Client, description: string, keywords?: readonly string[]) {
  const args = { tool_description: description, ...(keywords === undefined ? {} : { tool_keywords: keywords }) };
  const { structuredContent, content } = await client.ask('tools/call', { name: 'find_tool', arguments: args });
  expect(JSON.parse(content[0].text)).toEqual(structuredContent);
  return structuredContent;
}

async function names(client: Client, description: string, keywords?: readonly string[]): Promise<readonly string[]> {
  return (await find(client, description, keywords)).tools.map(({ name }: { name: string }) => name);
}

/** Returns a client of 2026-07-28, which has no session. */
function stateless({ url }: TestedVirtualServer): Client {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  };
  const headers = { 'mcp-protocol-version': '2026-07-28' };
  return {
    ...clientWith(url, headers),
    ask: (method, params = {}) => {
      const { name } = params as { name?: string };
      const named: Record<string, string> = name === undefined ? {} : { 'mcp-name': name };
      return clientWith(url, { ...headers, 'mcp-method': method, ...named }).ask(method, { ...params, _meta });
    },
  };
}

it('clients of both eras see two tools, and find and call other tools by words', async () => {
  const server = await run();
  for (const client of [await connect(server), stateless(server)]) {
    const { tools } = await client.ask('tools/list');
    expect(tools.map(({ name }: { name: string }) => name)).toEqual(['call_tool', 'find_tool']);
    const found = await find(client, 'Something that can say how likely forecasts of rain are');
    expect(found.tools[0]).toEqual(TOOLS[2]);
    const call = { tool_name: 'getForecast', parameters: { day: 1 } };
    const { content } = await client.ask('tools/call', { name: 'call_tool', arguments: call });
    expect(JSON.parse(content[0].text)).toEqual({ server: 'office', tool: 'getForecast', args: { day: 1 } });
  }
});

it('the audit names the tool that call_tool calls, also for refused calls', async () => {
  const audit = {
    enabled: true,
    component: 'desk',
    includeRequestData: false,
    includeResponseData: false,
    maxDataSize: 0,
  };
  const server = await run({}, { audit: { ...audit, enabled: true } });
  const client = await connect(server);
  for (const tool of ['getForecast', 'hidden_photo']) {
    await client.ask('tools/call', {
      name: 'call_tool',
      arguments: { tool_name: tool, parameters: { day: 'secret' } },
    });
  }
  await find(client, 'rain');
  await server.stop();
  const calls = server.audit.filter(({ type }) => type === 'mcp_tool_call');
  expect(calls.map(({ target, outcome, metadata }) => [target.name, metadata.extra.inner_tool, outcome])).toEqual([
    ['call_tool', 'getForecast', 'success'],
    ['call_tool', 'hidden_photo', 'failure'],
    ['find_tool', undefined, 'success'],
  ]);
  expect(JSON.stringify(calls)).not.toContain('secret');
});

it('a matching keyword counts more than a matching word of the description', async () => {
  const client = await connect(await run({ maxToolsToReturn: 1 }));
  const sentence = 'keeps a text about the camera';
  expect(await names(client, sentence)).toEqual(['add_memo']);
  expect(await names(client, sentence, ['snapshot'])).toEqual(['take_snapshot']);
});

it('at most maxToolsToReturn tools are found, and the result contains the saved tokens', async () => {
  const client = await connect(await run({ maxToolsToReturn: 2 }));
  const { tools, token_metrics: tokens } = await find(client, 'camera, pay, rain, text');
  expect(tools).toHaveLength(2);
  const shown = TOOLS.filter(({ name }) => name !== 'hidden_photo');
  const sizes = (list: readonly unknown[]) => list.reduce((sum: number, each) => sum + JSON.stringify(each).length, 0);
  const [baseline, returned] = [Math.floor(sizes(shown) / 4), Math.floor(sizes(tools) / 4)];
  expect(tokens).toEqual({
    baseline_tokens: baseline,
    returned_tokens: returned,
    savings_percent: Math.round((10_000 * (baseline - returned)) / baseline) / 100,
  });
});

it('hidden tools are neither found nor called, and no tool can be called without call_tool', async () => {
  const client = await connect(await run());
  expect(await names(client, 'picture')).toEqual([]);
  for (const [name, args] of [
    ['call_tool', { tool_name: 'hidden_photo', parameters: {} }],
    ['call_tool', { tool_name: 'office.hidden_photo', parameters: {} }],
    ['call_tool', { tool_name: 'call_tool', parameters: {} }],
    ['add_memo', {}],
  ] as const) {
    const { isError, content } = await client.ask('tools/call', { name, arguments: args });
    expect([isError, content[0].text]).toEqual([true, expect.stringMatching(/^tool not found: /)]);
  }
});

it('the response for a forbidden tool equals the response for an unknown tool', async () => {
  const policies = ['permit(principal, action, resource) when { resource.name != "hang" && resource.name != "gone" };'];
  const authz = { type: 'cedar' as const, policies };
  const client = await connect(await run({}, { incomingAuth: { type: 'anonymous', authz } }));
  const answers = ['hang', 'gone'].map((name) =>
    client.ask('tools/call', { name: 'call_tool', arguments: { tool_name: name, parameters: {} } }),
  );
  const [there, missing] = await Promise.all(answers);
  expect([there.isError, there]).toEqual([true, missing]);
});

it.each([
  ['find_tool', {}, 'find_tool needs tool_description, a text'],
  ['find_tool', { tool_description: 'x', tool_keywords: 'y' }, 'find_tool takes a list of texts as tool_keywords'],
  ['call_tool', { parameters: {} }, 'call_tool needs tool_name, a text'],
  ['call_tool', { tool_name: 'hang', parameters: [] }, 'call_tool takes an object as parameters'],
])('%s with %j is refused with a message for models', async (name, args, text) => {
  const client = await connect(await run());
  const { isError, content } = await client.ask('tools/call', { name, arguments: args });
  expect([isError, content[0].text]).toEqual([true, text]);
});

it('ambiguous arguments are refused', async () => {
  const server = await run();
  const client = await connect(server);
  const twice = '{"tool_name":"add_memo","Tool_Name":"hang","parameters":{}}';
  const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"call_tool","arguments":${twice}}}`;
  const headers = {
    ...client.headers,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  };
  const answer = await fetch(server.url, { method: 'POST', headers, body });
  expect(await answer.text()).toContain('call_tool has an argument twice');
});

it('progress of the called tool reaches its caller, and numbers in its arguments are unchanged', async () => {
  const server = await run();
  const client = await connect(server);
  const hung = office.hanging();
  const inner = '{"parameters":{"n":12345678901234567890},"tool_name":"hang"}';
  const params = `{"_meta":{"progressToken":"p"},"arguments":${inner},"name":"call_tool"}`;
  const body = `{"jsonrpc":"2.0","id":9,"method":"tools/call","params":${params}}`;
  const headers = {
    ...client.headers,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  };
  const answer = fetch(server.url, { method: 'POST', headers, body }).then((response) => response.text());
  const { message, event, respond } = await hung;
  expect(message.params).toMatchObject({ name: 'hang', arguments: { n: 12345678901234567000 } });
  const { progressToken } = message.params._meta;
  event({ method: 'notifications/progress', params: { progressToken, progress: 1 } });
  respond({ content: [] });
  expect(await answer).toContain('"method":"notifications/progress","params":{"progressToken":"p","progress":1}');
});

it('policies decide the called tool, and only callers who may call a tool find it', async () => {
  const policies = [
    'permit(principal, action == Action::"call_tool", resource == Tool::"find_tool");',
    'permit(principal, action == Action::"call_tool", resource == Tool::"call_tool");',
    'permit(principal, action == Action::"call_tool", resource) when { resource has readOnlyHint && resource.readOnlyHint == true };',
    'permit(principal, action == Action::"call_tool", resource == Tool::"add_memo") when { context.arg_text == "mine" };',
  ];
  const client = await connect(
    await run({}, { incomingAuth: { type: 'anonymous', authz: { type: 'cedar', policies } } }),
  );
  const found = await find(client, 'camera, pay, rain, text');
  expect(found.tools.map(({ name }: { name: string }) => name)).toEqual(['getForecast']);
  expect(found.token_metrics.savings_percent).toBe(0);
  const call = async (tool_name: string, parameters: object) => {
    const { isError = false } = await client.ask('tools/call', {
      name: 'call_tool',
      arguments: { tool_name, parameters },
    });
    return isError;
  };
  expect(await call('getForecast', {})).toBe(false);
  expect(await call('take_snapshot', {})).toBe(true);
  expect(await call('add_memo', { text: 'mine' })).toBe(false);
  expect(await call('add_memo', { text: 'yours' })).toBe(true);
});

const cedar = (...policies: string[]): Partial<VmcpConfig> => ({
  incomingAuth: { type: 'anonymous', authz: { type: 'cedar', policies } },
});
const onTool = (effect: 'permit' | 'forbid', name: string, condition = '') =>
  `${effect}(principal, action == Action::"call_tool", resource == Tool::"${name}")${condition};`;

async function callsOf(client: Client, called: string, parameters: object = {}) {
  const { isError = false, content } = await client.ask('tools/call', {
    name: 'call_tool',
    arguments: { tool_name: called, parameters },
  });
  return isError ? content[0].text : 'called';
}

const shownTo = async (client: Client) =>
  (await client.ask('tools/list')).tools.map(({ name }: { name: string }) => name);

it('policies need to name only the tools of backends', async () => {
  const client = await connect(await run({}, cedar(onTool('permit', 'getForecast'))));
  expect(await shownTo(client)).toEqual(['call_tool', 'find_tool']);
  expect(await names(client, 'camera, pay, rain, text')).toEqual(['getForecast']);
  expect(await callsOf(client, 'getForecast')).toBe('called');
  expect(await callsOf(client, 'take_snapshot')).toContain('Unauthorized');
  for (const own of ['call_tool', 'find_tool']) expect(await callsOf(client, own)).toContain('Unauthorized');
});

it('a permit that reads arguments uses the arguments of the called tool', async () => {
  const policy = 'permit(principal, action == Action::"call_tool", resource) when { context.arg_text == "mine" };';
  const client = await connect(await run({}, cedar(policy)));
  expect(await callsOf(client, 'add_memo', { text: 'mine' })).toBe('called');
  expect(await callsOf(client, 'add_memo', { text: 'yours' })).toContain('Unauthorized');
  expect(await callsOf(client, 'add_memo')).toContain('Unauthorized');
});

it.each([
  { reason: 'it names the tool', forbid: onTool('forbid', 'call_tool'), shown: ['find_tool'] },
  {
    reason: 'it reads the arguments of the tool',
    forbid: onTool('forbid', 'call_tool', ' when { context has arg_tool_name && context.arg_tool_name == "add_memo" }'),
    shown: ['call_tool', 'find_tool'],
  },
  {
    reason: 'it cannot be evaluated',
    forbid: 'forbid(principal, action == Action::"call_tool", resource) when { context.arg_text == "no" };',
    shown: [],
  },
])('a forbid holds for the tools of the optimizer: $reason', async ({ forbid, shown }) => {
  const everything = 'permit(principal, action == Action::"call_tool", resource);';
  const server = await run({}, cedar(everything, forbid));
  const client = await connect(server);
  expect(await shownTo(client)).toEqual(shown);
  const call = { name: 'call_tool', arguments: { tool_name: 'add_memo', parameters: { text: 'yes' } } };
  const refused = await postTo(server.url, { id: 2, method: 'tools/call', params: call }, client.headers);
  expect(refused.status).toBe(403);
});

it('without an optimizer, backend tools named call_tool or find_tool need a permit', async () => {
  const own = await startMember({ name: 'own', tools: [tool('call_tool'), tool('find_tool')] });
  const policies = cedar(onTool('permit', 'call_tool'));
  const server = await runVirtual(configOf({ own }, { aggregation: HIDING, ...policies }));
  running.push(server);
  const client = await connect(server);
  expect(await shownTo(client)).toEqual(['call_tool']);
  const call = { id: 2, method: 'tools/call', params: { name: 'find_tool', arguments: {} } };
  expect((await postTo(server.url, call, client.headers)).status).toBe(403);
  await own.close();
});

it('a forbidden call is recorded as denied in the audit, and a failed call is not', async () => {
  const policies = [
    'permit(principal, action == Action::"call_tool", resource) unless { resource == Tool::"take_snapshot" };',
  ];
  const data = { includeRequestData: false, includeResponseData: false, maxDataSize: 0 };
  const audit = { enabled: true, component: 'desk', ...data } as const;
  const server = await run({}, { audit, incomingAuth: { type: 'anonymous', authz: { type: 'cedar', policies } } });
  const client = await connect(server);
  for (const tool_name of ['getForecast', 'take_snapshot', 'none']) {
    await client.ask('tools/call', { name: 'call_tool', arguments: { tool_name, parameters: {} } });
  }
  await server.stop();
  const calls = server.audit.filter(({ type }) => type === 'mcp_tool_call');
  expect(calls.map(({ metadata, outcome }) => [metadata.extra.inner_tool, outcome])).toEqual([
    ['getForecast', 'success'],
    ['take_snapshot', 'denied'],
    ['none', 'failure'],
  ]);
  expect(JSON.stringify(calls[1])).toContain('policy-denied');
});

it('a workflow is found and called like a tool', async () => {
  const steps = [{ id: 'keep', tool: 'office.add_memo', arguments: { text: '{{.params.what}}' } }];
  const remember = workflow(steps, { name: 'remember', description: 'Keeps something in mind.' });
  const server = await run({}, { compositeTools: [remember] });
  for (const client of [await connect(server), stateless(server)]) {
    expect(await names(client, 'something to keep in mind')).toContain('remember');
    const call = { tool_name: 'remember', parameters: { what: 'bees' } };
    const { content, isError = false } = await client.ask('tools/call', { name: 'call_tool', arguments: call });
    expect(isError).toBe(false);
    expect(content[0].text).toContain('bees');
  }
});

it('a tool is found by its meaning, and each text is sent to the service once', async () => {
  const asked = service.asked.length;
  const server = await run({ embeddingService: service.url, hybridSearchSemanticRatio: '1.0' });
  const client = await connect(server);
  await ready(server);
  expect(await names(client, 'photo')).toEqual(['take_snapshot']);
  const texts = service.asked.slice(asked).flat();
  expect(texts.toSorted()).toEqual([...new Set(texts)].toSorted());
  expect(texts).toContain('name: take_snapshot description: Uses the camera of the machine.');
  expect(texts).not.toContain(expect.stringContaining('hidden_photo'));
  office.offer({ tools: [...TOOLS.slice(0, -1), tool('hang', { description: 'Sends a bill.' })] });
  await eventually(
    () => names(client, 'invoice'),
    (found) => found.includes('hang'),
  );
  await names(client, 'photo');
  const more = service.asked.slice(asked).flat();
  expect(more.slice(texts.length).toSorted()).toEqual(['invoice', 'name: hang description: Sends a bill.']);
  office.offer({ tools: TOOLS });
});

async function ready(server: TestedVirtualServer): Promise<void> {
  await eventually(
    () => fetch(`${server.origin}/readyz`),
    ({ status }) => status === 200,
  );
}

it('the ratio divides results between meaning and words, and the threshold limits results by meaning', async () => {
  const sentence = 'umbrella, photo: text';
  const find = async (ratio: string, threshold: string) => {
    const settings = { hybridSearchSemanticRatio: ratio, semanticDistanceThreshold: threshold, maxToolsToReturn: 2 };
    const server = await run({ embeddingService: service.url, ...settings });
    await ready(server);
    return names(await connect(server), sentence);
  };
  expect(await find('0.0', '0.5')).toEqual(['add_memo']);
  expect(await find('0.5', '0.5')).toEqual(['getForecast', 'add_memo']);
  expect(await find('1.0', '0.5')).toEqual(['getForecast', 'take_snapshot']);
  expect(await find('1.0', '0.2')).toEqual([]);
  expect(await find('0.5', '0.2')).toEqual(['add_memo']);
});

it.each<[Behaviour, string, string]>([
  ['fail', '30s', 'answers with status 503'],
  ['nonsense', '30s', 'one vector for each text'],
  ['few', '30s', 'one vector for each text'],
  ['hang', '100ms', 'no answer within 100 ms'],
])(
  'if the service responds with %s, only words count, and the result contains a note',
  async (behaviour, timeout, why) => {
    service.behave(behaviour);
    const server = await run({ embeddingService: service.url, embeddingServiceTimeout: timeout });
    await ready(server);
    const client = await connect(server);
    const { tools, note } = await find(client, 'rain');
    expect(tools).toEqual([TOOLS[2]]);
    expect(note).toMatch(/^Found by words alone: /);
    await server.written('vmcp-embeddings-unavailable');
    expect(JSON.stringify(server.log)).toContain(why);
  },
);

it('vectors of another size belong to another model: only words count until all texts have new vectors', async () => {
  const server = await run({ embeddingService: service.url, hybridSearchSemanticRatio: '1.0' });
  await ready(server);
  const client = await connect(server);
  expect(await names(client, 'photo')).toEqual(['take_snapshot']);
  service.behave('wide');
  const { note } = await find(client, 'snapshot of money');
  expect(note).toContain('Found by words alone');
  await eventually(
    () => find(client, 'photo'),
    (found) => found.note === undefined,
  );
  expect(await names(client, 'photo')).toEqual(['take_snapshot']);
});

it('metrics count searches and saved tokens', async () => {
  const telemetry = { ...TELEMETRY, enablePrometheusMetricsPath: true };
  const server = await run({}, { telemetry });
  await find(await connect(server), 'rain');
  const text = await (await fetch(`${server.origin}/metrics`)).text();
  expect(text).toMatch(/skep_vmcp_tool_searches_total\{server="office",search="words"\} 1/);
  expect(text).toMatch(/skep_vmcp_tool_tokens_saved_total\{server="office"\} [1-9]/);
});

const TELEMETRY = {
  serviceName: 'office',
  tracingEnabled: false,
  metricsEnabled: false,
  samplingRate: '0.05',
  insecure: false,
  useLegacyAttributes: true,
};

it('changed settings of the optimizer take effect without a restart', async () => {
  const server = await run();
  const client = await connect(server);
  const stream = await client.open();
  const { optimizer: _off, ...without } = server.config;
  server.replace(without);
  expect(await stream.next()).toMatchObject({ method: 'notifications/tools/list_changed' });
  expect((await client.ask('tools/list')).tools).toHaveLength(TOOLS.length - 1);
  stream.close();
});
