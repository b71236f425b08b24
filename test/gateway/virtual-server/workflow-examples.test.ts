// Tests manifests with workflows end to end: the rendered configuration, a public MCP server and the official client.

import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readVmcpConfig, VMCP_CONFIG_FILE, type VmcpConfig } from '#contracts/vmcp-config.ts';
import { KINDS } from '#reconciler/kinds/index.ts';
import { isObject } from '#std/json.ts';
import { type RunningServer, startEverything } from '../../harness/mcp-servers.ts';
import { readFixture, SETTINGS } from '../../reconciler/kinds/fixture.ts';
import { runVirtual, type TestedVirtualServer } from './world.ts';

let everything: RunningServer;
let server: TestedVirtualServer;
const client = new Client({ name: 'test', version: '1' }, { capabilities: { elicitation: {} } });

/** Returns the rendered configuration of the manifests, with the URL of the running server. */
function renderedConfig(): VmcpConfig {
  const kind = KINDS.find((each) => each.kind === 'VirtualMCPServer');
  if (kind === undefined) throw new Error('there is no kind VirtualMCPServer');
  const { resource, view, problems } = readFixture(
    kind,
    join(import.meta.dirname, 'examples/workflows.yaml'),
    'workflows',
  );
  expect(problems).toEqual([]);
  const texts = kind.children(resource, view, SETTINGS).flatMap(({ data }) => {
    const text = isObject(data) ? data[VMCP_CONFIG_FILE] : undefined;
    return typeof text === 'string' ? [text] : [];
  });
  const read = readVmcpConfig(texts[0] ?? '');
  if ('fault' in read) throw new Error(read.fault);
  expect(read.config.backends.map(({ name }) => name)).toEqual(['everything']);
  return {
    ...read.config,
    backends: [{ name: 'everything', url: everything.backend.url.href, transport: 'streamable-http' }],
  };
}

beforeAll(async () => {
  everything = await startEverything({ transport: 'http', eras: 'session' });
  server = await runVirtual(renderedConfig());
  await client.connect(new StreamableHTTPClientTransport(new URL(server.url)));
});
afterAll(async () => {
  await client.close();
  await server?.stop();
  await everything?.stop();
});

/** Calls a tool with the official client, which validates the result against the listed schema. */
async function call(name: string, args: Record<string, unknown> = {}) {
  const { structuredContent, content, isError } = await client.callTool({ name, arguments: args });
  return isError === true ? content : structuredContent;
}

it('the list contains the six workflows, and no hidden tools', async () => {
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual([
    'in_a_row',
    'on_a_condition',
    'over_a_list',
    'side_by_side',
    'with_a_question',
    'with_faults',
  ]);
});

it('runs steps in a row', async () => {
  expect(await call('in_a_row', { place: 'New York' })).toEqual({
    text: expect.stringMatching(/^Echo: New York: .+, \d+ degrees$/),
    humidity: expect.any(Number),
  });
  expect(await call('in_a_row')).toMatchObject({ text: expect.stringContaining('Chicago') });
});

it('runs steps side by side', async () => {
  expect(await call('side_by_side', { number: 1_000_000 })).toEqual({
    text: 'Echo: The sum of 1000000 and 1 is 1000001. The sum of 1000000 and 2 is 1000002. The sum of 1000000 and 3 is 1000003.',
  });
});

it('runs a step on a condition', async () => {
  expect(await call('on_a_condition', { number: 1_000_000 })).toEqual({
    text: 'Echo: completed: The sum of 1000000 and 1 is 1000001.',
  });
  expect(await call('on_a_condition', { number: 2.5 })).toEqual({ text: 'Echo: skipped: too small' });
});

it('runs a step for each item of a list', async () => {
  expect(await call('over_a_list', { names: ['Ada', 'Bo'] })).toEqual({
    greetings: ['Echo: Hello Ada, number 0', 'Echo: Hello Bo, number 1'],
    count: 2,
  });
});

it('runs a workflow with a question', async () => {
  client.setRequestHandler('elicitation/create', ({ params }) => {
    expect(params.message).toBe('Say "hello"?');
    return { action: 'accept', content: { loud: true } };
  });
  expect(await call('with_a_question', { text: 'hello' })).toEqual({ text: 'Echo: hello!' });
  client.setRequestHandler('elicitation/create', () => ({ action: 'decline' }));
  expect(await call('with_a_question', { text: 'hello' })).toEqual({ text: 'nothing' });
});

it('runs a workflow with failing steps', async () => {
  expect(await call('with_faults')).toEqual({ text: 'Echo: failed 0; The sum of 2 and 3 is 5.' });
});
