// Tests manifests with the shapes of the existing platform's examples of virtual servers: clients list and call the
// promised tools of public MCP servers.

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { get } from '../proxy/world.ts';
import { type ExampleWorld, type ServedExample, startExampleWorld } from './example-world.ts';

let world: ExampleWorld;
let served: ServedExample;
const clients: Client[] = [];
const stopping: (Promise<void> | undefined)[] = [];
const seen = new Set<string>();

beforeAll(async () => {
  world = await startExampleWorld();
});
afterEach(async () => {
  for (const client of clients.splice(0)) await client.close();
  // The server stops in the background, during the next tests.
  stopping.push(served?.stop());
});
afterAll(async () => {
  await Promise.all(stopping);
  await world?.close();
});

async function open(shape: string, role?: string): Promise<Client> {
  seen.add(shape);
  served = await world.serve(shape);
  return openClient(role);
}

async function openClient(role?: string): Promise<Client> {
  const claims = { iss: world.issuer.url, aud: 'office', sub: 'ada', role, exp: Math.floor(Date.now() / 1000) + 3600 };
  const headers = role === undefined ? undefined : { authorization: `Bearer ${await world.issuer.sign(claims)}` };
  const client = new Client({ name: 'test', version: '1' }, { capabilities: { elicitation: {} } });
  await client.connect(new StreamableHTTPClientTransport(new URL(served.url), { requestInit: { headers } }));
  clients.push(client);
  return client;
}

async function names(client: Client): Promise<readonly string[]> {
  return (await client.listTools()).tools.map(({ name }) => name);
}

/** Calls a tool. Returns its structured content, or its first text. */
async function call(client: Client, name: string, args: Record<string, unknown> = {}): Promise<unknown> {
  const { structuredContent, content, isError } = await client.callTool({ name, arguments: args });
  const [first] = content;
  const text = first?.type === 'text' ? first.text : undefined;
  return isError === true || structuredContent === undefined || text?.startsWith('{') === false
    ? text
    : structuredContent;
}

describe('a group and its servers', () => {
  it('simple-discovered', async () => {
    const client = await open('simple-discovered');
    const listed = await names(client);
    expect(listed).toEqual(listed.toSorted());
    expect(listed).toEqual(
      expect.arrayContaining(['everything_echo', 'files_read_text_file', 'memory_read_graph', 'twin_echo']),
    );
    expect(await call(client, 'everything_echo', { message: 'hello' })).toBe('Echo: hello');
    expect(await call(client, 'files_read_text_file', { path: join(world.files, 'one.txt') })).toContain('first');
    expect(await call(client, 'memory_read_graph')).toMatchObject({ entities: [] });
    expect((await client.listPrompts()).prompts.map(({ name }) => name)).toContain('everything_simple-prompt');
  });

  it('health-monitoring', async () => {
    const client = await open('health-monitoring');
    expect(await names(client)).toEqual(expect.arrayContaining(['everything_echo', 'twin_sing']));
    const { origin } = new URL(served.url);
    const health = async () => (await get(`${origin}/api/backends/health`)).json;
    await expect.poll(async () => (await health()).summary).toMatchObject({ total: 5, healthy: 4, unhealthy: 1 });
    expect((await health()).backends).toContainEqual(expect.objectContaining({ circuit_state: 'open' }));
    expect(await call(client, 'everything_echo', { message: 'still here' })).toBe('Echo: still here');
  });
});

describe('equal names', () => {
  it('conflict-prefix', async () => {
    const client = await open('conflict-prefix');
    expect(await names(client)).toEqual(expect.arrayContaining(['at-everything.echo', 'at-twin.echo']));
    expect(await call(client, 'at-everything.echo', { message: 'hello' })).toBe('Echo: hello');
    expect(await call(client, 'at-twin.echo')).toContain('twin');
  });

  it('conflict-priority', async () => {
    const client = await open('conflict-priority');
    const listed = await names(client);
    expect(listed.filter((name) => name.includes('echo'))).toEqual(['echo']);
    expect(listed).toEqual(expect.arrayContaining(['get-sum', 'read_text_file', 'read_graph', 'sing']));
    expect(await call(client, 'echo', { message: 'hello' })).toContain('twin');
    expect(await call(client, 'get-sum', { a: 1, b: 2 })).toContain('3');
  });

  it('conflict-manual', async () => {
    const client = await open('conflict-manual');
    expect(await names(client)).toEqual(['echo', 'get-sum', 'read_text_file', 'second_echo']);
    expect(await call(client, 'echo', { message: 'hello' })).toBe('Echo: hello');
    expect(await call(client, 'second_echo')).toContain('twin');
    const { tools } = await client.listTools();
    expect(tools.find(({ name }) => name === 'second_echo')?.description).toBe('The echo of the twin.');
  });
});

describe('workflows', () => {
  it('composite-simple', async () => {
    const client = await open('composite-simple');
    const path = join(world.files, 'one.txt');
    expect(await names(client)).toContain('read_and_say');
    expect(await call(client, 'read_and_say', { path })).toMatchObject({ text: `Echo: In ${path}: first` });
    expect(await call(client, 'read_and_say', { path: '/etc/passwd' })).toContain(
      'Workflow execution failed: step read',
    );
  });

  it('composite-complex', async () => {
    const client = await open('composite-complex');
    const [one, two] = ['one.txt', 'two.txt'].map((name) => join(world.files, name));
    const sum = 'The sum of 5 and 6 is 11.';
    expect(await call(client, 'compare', { one, two })).toMatchObject({ same: false, sum, kept: 'skipped' });
    expect(await call(client, 'compare', { one, two, remember: true })).toMatchObject({
      kept: 'completed',
      graph: { entities: [{ name: 'sum', entityType: 'number', observations: [sum] }] },
    });
  });

  it('composite-elicitation', async () => {
    const client = await open('composite-elicitation');
    const answering = (...answers: readonly object[]) => {
      const left = [...answers];
      client.setRequestHandler(
        'elicitation/create',
        () => (left.shift() ?? { action: 'cancel' }) as { action: 'cancel' },
      );
      return call(client, 'ask_and_say', { what: 'tea' });
    };
    const yes = { action: 'accept', content: { sure: true } };
    expect(await answering(yes, { action: 'accept', content: { place: 'there' } })).toMatchObject({
      text: 'Echo: tea goes there',
    });
    expect(await answering(yes, { action: 'decline' })).toMatchObject({ text: 'Echo: tea goes here' });
    expect(await answering({ action: 'decline' })).toMatchObject({ text: 'nowhere' });
    expect(await answering(yes)).toContain('step where: the user did not answer');
  });

  it('composite-for-each', async () => {
    const client = await open('composite-for-each');
    const paths = ['one.txt', 'none.txt', 'two.txt'].map((name) => join(world.files, name));
    expect(await call(client, 'read_all', { paths })).toEqual({ read: 2, lost: 1 });
  });
});

describe('rights', () => {
  it('inline-incoming-auth', async () => {
    const developer = await open('inline-incoming-auth', 'developer');
    expect((await get(new URL(served.url).href)).status).toBe(401);
    const listed = await names(developer);
    expect(listed).toContain('everything_echo');
    expect(listed).not.toContain('files_write_file');
    expect(await call(developer, 'everything_echo', { message: 'hello' })).toBe('Echo: hello');
    await expect(call(developer, 'files_write_file', { path: 'x', content: 'y' })).rejects.toThrow();
    const visitor = await openClient('visitor');
    expect(await names(visitor)).toEqual([]);
    await expect(call(visitor, 'everything_echo', { message: 'hello' })).rejects.toThrow();
  });

  it.each(['inline-backend-auth', 'discovered-backend-auth'])('%s', async (shape) => {
    const client = await open(shape);
    expect(await names(client)).toEqual(['counter_count', 'desk_open']);
    expect(await call(client, 'desk_open')).toContain('desk');
    expect(await call(client, 'counter_count')).toContain('counter');
  });
});

describe('the optimizer', () => {
  it('optimizer-quickstart', async () => {
    const client = await open('optimizer-quickstart');
    expect(await names(client)).toEqual(['call_tool', 'find_tool']);
    const found = (await call(client, 'find_tool', { tool_description: 'read the contents of a text file' })) as {
      tools: readonly { name: string }[];
    };
    expect(found.tools.length).toBeLessThanOrEqual(8);
    expect(found.tools.map(({ name }) => name)).toContain('files_read_text_file');
    const inner = { tool_name: 'everything_echo', parameters: { message: 'hello' } };
    expect(await call(client, 'call_tool', inner)).toBe('Echo: hello');
  });

  it('optimizer-all-options', async () => {
    const asked = world.embeddings.asked.length;
    const client = await open('optimizer-all-options');
    const found = (await call(client, 'find_tool', { tool_description: 'write a file' })) as {
      tools: readonly { name: string }[];
    };
    expect(found.tools.length).toBeLessThanOrEqual(3);
    expect(found.tools.map(({ name }) => name)).toContain('files_write_file');
    expect(world.embeddings.asked.length).toBeGreaterThan(asked);
  });
});

it('production-full', async () => {
  const developer = await open('production-full', 'developer');
  const listed = await names(developer);
  expect(listed).toEqual(expect.arrayContaining(['echo', 'read_text_file', 'sing']));
  expect(listed).not.toContain('read_graph');
  expect(await call(developer, 'echo', { message: 'hello' })).toBe('Echo: hello');
  await served.program.printed(/"type":"mcp_tool_call"/);
  expect((await get(`${new URL(served.url).origin}/metrics`)).text).toContain('server="office"');
});

it('these tests cover all shapes', () => {
  const shapes = readdirSync(join(import.meta.dirname, 'examples/shapes')).map((file) => file.replace('.yaml', ''));
  expect([...seen, 'common'].toSorted()).toEqual(shapes.toSorted());
});
