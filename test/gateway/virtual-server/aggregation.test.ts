// Tests the aggregation of several servers by a virtual server: the lists for clients, and the routing of requests. In
// one file, because the tests share the same two backends and their lists.

import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { VmcpConfig } from '#contracts/vmcp-config.ts';
import { startMember, type TestMember, tool } from './member.ts';
import {
  type Client,
  clientWith,
  configOf,
  connect,
  operational,
  postTo,
  runVirtual,
  type TestedVirtualServer,
} from './world.ts';

let wiki: TestMember;
let mail: TestMember;
const running: TestedVirtualServer[] = [];

beforeAll(async () => {
  wiki = await startMember({
    name: 'wiki',
    tools: [
      tool('find', { annotations: { readOnlyHint: true }, 'x-more': 9007199254740993n.toString() }),
      tool('read'),
    ],
    prompts: [{ name: 'summary', description: 'Of a page.' }],
    resources: [
      { uri: 'wiki://start', name: 'start' },
      { uri: 'shared://a', name: 'a of the wiki' },
    ],
    resourceTemplates: [{ uriTemplate: 'wiki://page/{id}', name: 'page' }],
  });
  mail = await startMember({
    name: 'mail',
    tools: [tool('send'), tool('find')],
    prompts: [{ name: 'summary' }, { name: 'reply' }],
    resources: [
      { uri: 'mail://inbox', name: 'inbox' },
      { uri: 'shared://a', name: 'a of the mail' },
    ],
  });
});
afterEach(async () => {
  for (const each of running.splice(0)) await each.stop();
});
afterAll(async () => {
  await Promise.all([wiki.close(), mail.close()]);
});

async function run(settings: Partial<VmcpConfig> = {}, backends: Record<string, TestMember> = { wiki, mail }) {
  const server = await runVirtual(configOf(backends, settings));
  running.push(server);
  return server;
}

function aggregation(more: Partial<VmcpConfig['aggregation']>): Pick<VmcpConfig, 'aggregation'> {
  const conflictResolutionConfig = { prefixFormat: '{workload}_', priorityOrder: ['wiki'] };
  return { aggregation: { conflictResolution: 'prefix', conflictResolutionConfig, excludeAllTools: false, ...more } };
}

async function namesOf(client: Client, list = 'tools/list'): Promise<readonly string[]> {
  const result = await client.ask(list);
  const [items] = Object.values(result).filter(Array.isArray);
  return (items ?? []).map((each: Record<string, string>) => each.name ?? each.uri ?? '');
}

/** Calls a tool. Returns the server and the tool that received the call. */
async function reached(client: Client, name: string): Promise<unknown> {
  const { content, error } = await client.ask('tools/call', { name, arguments: { a: 1 } });
  return error?.message ?? JSON.parse(content[0].text);
}

describe('tools', () => {
  it('have the name of their backend as a prefix, in a stable order', async () => {
    const client = await connect(await run());
    expect(await namesOf(client)).toEqual(['mail_find', 'mail_send', 'wiki_find', 'wiki_read']);
    expect(await reached(client, 'wiki_find')).toEqual({ server: 'wiki', tool: 'find', args: { a: 1 } });
    expect(await reached(client, 'mail_find')).toEqual({ server: 'mail', tool: 'find', args: { a: 1 } });
    expect(await reached(client, 'find')).toBe('Unknown tool: find');
  });

  it('keep their names if priorities resolve conflicts', async () => {
    const client = await connect(await run(aggregation({ conflictResolution: 'priority' })));
    expect(await namesOf(client)).toEqual(['find', 'read', 'send']);
    expect(await reached(client, 'find')).toMatchObject({ server: 'wiki' });
    expect(await reached(client, 'send')).toMatchObject({ server: 'mail' });
  });

  it('with equal names are hidden if overrides are missing, and the log reports this', async () => {
    const server = await run(aggregation({ conflictResolution: 'manual' }));
    const client = await connect(server);
    expect(await namesOf(client)).toEqual(['read', 'send']);
    expect(await reached(client, 'find')).toBe('Unknown tool: find');
    await server.written('vmcp-tools-clash');
    expect(server.log.find(({ code }) => code === 'vmcp-tools-clash')).toMatchObject({
      name: 'find',
      tools: ['mail/find', 'wiki/find'],
    });
  });

  it('are listed with their overrides, and called by their own name', async () => {
    const overrides = {
      find: { name: 'search', description: 'Searches.', annotations: { title: 'Search', readOnlyHint: false } },
    };
    const tools = [{ workload: 'wiki', overrides, filter: ['search'], excludeAll: false }];
    const client = await connect(await run(aggregation({ tools })));
    const { tools: listed } = await client.ask('tools/list');
    expect(listed.map(({ name }: { name: string }) => name)).toEqual(['mail_find', 'mail_send', 'wiki_search']);
    expect(listed.at(-1)).toMatchObject({
      description: 'Searches.',
      annotations: { title: 'Search', readOnlyHint: false },
      'x-more': '9007199254740993',
    });
    expect(await reached(client, 'wiki_search')).toMatchObject({ server: 'wiki', tool: 'find' });
    expect(await reached(client, 'wiki_read')).toBe('Unknown tool: wiki_read');
  });

  it.each([
    ['one backend', { tools: [{ workload: 'mail', excludeAll: true }] }, ['wiki_find', 'wiki_read']],
    ['all backends', { excludeAllTools: true }, []],
  ])('of %s are hidden', async (_name, settings, expected) => {
    const server = await run(aggregation(settings));
    const client = await connect(server);
    expect(await namesOf(client)).toEqual(expected);
    expect(await reached(client, 'mail_send')).toBe('Unknown tool: mail_send');
  });
});

describe('prompts, resources and templates', () => {
  it('are listed, and requests reach their backend', async () => {
    const client = await connect(await run());
    expect(await namesOf(client, 'prompts/list')).toEqual(['mail_reply', 'mail_summary', 'wiki_summary']);
    expect(await client.ask('prompts/get', { name: 'wiki_summary' })).toMatchObject({
      from: 'wiki',
      got: { name: 'summary' },
    });
    expect(await namesOf(client, 'resources/list')).toEqual(['inbox', 'a of the mail', 'start']);
    expect(await client.ask('resources/read', { uri: 'mail://inbox' })).toMatchObject({ from: 'mail' });
    expect(await client.ask('resources/read', { uri: 'wiki://page/7' })).toMatchObject({ from: 'wiki' });
    expect((await client.ask('resources/read', { uri: 'nobody://knows' })).error.code).toBe(-32002);
    expect(await namesOf(client, 'resources/templates/list')).toEqual(['page']);
  });

  it('are completed by their backend', async () => {
    const client = await connect(await run());
    const complete = (ref: object) => client.ask('completion/complete', { ref, argument: { name: 'x', value: 'y' } });
    expect(await complete({ type: 'ref/prompt', name: 'mail_reply' })).toMatchObject({
      from: 'mail',
      got: { ref: { name: 'reply' } },
    });
    expect(await complete({ type: 'ref/resource', uri: 'wiki://page/{id}' })).toMatchObject({ from: 'wiki' });
  });
});

describe('lists', () => {
  it('are paginated with stable cursors', async () => {
    const many = await startMember({
      tools: Array.from({ length: 1500 }, (_, index) => tool(`t${String(index).padStart(4, '0')}`)),
    });
    const client = await connect(await run({}, { many }));
    const first = await client.ask('tools/list');
    expect([first.tools.length, first.tools[0].name, first.tools.at(-1).name]).toEqual([
      1000,
      'many_t0000',
      'many_t0999',
    ]);
    const second = await client.ask('tools/list', { cursor: first.nextCursor });
    expect([second.tools.length, second.tools[0].name, second.nextCursor]).toEqual([500, 'many_t1000', undefined]);
    expect((await client.ask('tools/list', { cursor: 'x' })).error.code).toBe(-32602);
    await many.close();
  });

  it('are the same for clients without sessions', async () => {
    const { url } = await run();
    const meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': {},
    };
    const headers = { 'mcp-protocol-version': '2026-07-28' };
    const listed = await postTo(
      url,
      { id: 1, method: 'tools/list', params: { _meta: meta } },
      { ...headers, 'mcp-method': 'tools/list' },
    );
    expect(listed.json.result.tools.map(({ name }: { name: string }) => name)).toEqual([
      'mail_find',
      'mail_send',
      'wiki_find',
      'wiki_read',
    ]);
    const called = await clientWith(url, { ...headers, 'mcp-method': 'tools/call', 'mcp-name': 'wiki_find' }).ask(
      'tools/call',
      {
        name: 'wiki_find',
        _meta: meta,
      },
    );
    expect(JSON.parse(called.content[0].text)).toMatchObject({ server: 'wiki', tool: 'find' });
  });

  it('change during sessions, and each change is notified once', async () => {
    const changing = await startMember({ tools: [tool('a')] });
    const client = await connect(await run({}, { changing, wiki }));
    expect(await namesOf(client)).toContain('changing_a');
    const stream = await client.open();
    changing.offer({ tools: [tool('a'), tool('b')] });
    expect(await stream.next()).toEqual({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' });
    expect(await namesOf(client)).toContain('changing_b');
    expect(await reached(client, 'changing_b')).toMatchObject({ tool: 'b' });
    // Another order is not a change of the list, so the next message is about prompts.
    changing.offer({ tools: [tool('b'), tool('a')] });
    changing.offer({ tools: [tool('b'), tool('a')], prompts: [{ name: 'p' }] });
    expect(await stream.next()).toEqual({ jsonrpc: '2.0', method: 'notifications/prompts/list_changed' });
    stream.close();
    await changing.close();
  });
});

it('backends are added and removed without a restart, in existing sessions', async () => {
  const server = await run({}, { wiki });
  const client = await connect(server);
  const stream = await client.open();
  expect(await namesOf(client)).toEqual(['wiki_find', 'wiki_read']);
  server.replace(configOf({ wiki, mail }));
  expect(await stream.next()).toMatchObject({ method: 'notifications/tools/list_changed' });
  expect(await namesOf(client)).toEqual(['mail_find', 'mail_send', 'wiki_find', 'wiki_read']);
  expect(await reached(client, 'mail_send')).toMatchObject({ server: 'mail' });
  server.replace(configOf({ mail }));
  expect(await namesOf(client)).toEqual(['mail_find', 'mail_send']);
  stream.close();
});

describe('an unreachable backend', () => {
  it('leads to list errors with its name, while calls of other backends pass', async () => {
    const gone = await startMember({ tools: [tool('a')] });
    const server = await run({}, { wiki, gone });
    const client = await connect(server);
    expect(await namesOf(client)).toContain('gone_a');
    await gone.close();
    const next = await run({}, { wiki, gone });
    const refused = await postTo(next.url, {
      id: 1,
      method: 'initialize',
      params: { protocolVersion: '2025-11-25', capabilities: {} },
    });
    expect([refused.status, refused.json.error.message]).toEqual([
      502,
      expect.stringContaining('the backend gone is not available'),
    ]);
    expect(await reached(client, 'wiki_find')).toMatchObject({ server: 'wiki' });
    expect(await reached(client, 'gone_a')).toContain('the backend gone cannot be reached');
  });

  it('is left out of lists if lists do not need every backend', async () => {
    const gone = await startMember();
    await gone.close();
    const client = await connect(await run(operational({ partialFailureMode: 'best_effort' }), { wiki, gone }));
    expect(await namesOf(client)).toEqual(['wiki_find', 'wiki_read']);
  });
});
