// Tests that official clients accept the responses of the hand-written MCP servers of these tests.

import { Client as NewClient, StreamableHTTPClientTransport as NewTransport } from '@modelcontextprotocol/client';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startBackend, type TestBackend } from './proxy/backend.ts';
import { startMember, type TestMember, tool } from './virtual-server/member.ts';

let member: TestMember;
let backend: TestBackend;

beforeAll(async () => {
  member = await startMember({ tools: [tool('echo')] });
  backend = await startBackend();
});
afterAll(() => Promise.all([member.close(), backend.close()]));

describe.each(['member', 'backend'] as const)('the %s', (name) => {
  const url = () => new URL(name === 'member' ? member.url : backend.url);

  it('answers the official client 1.x', async () => {
    const client = new Client({ name: 'test', version: '1' });
    await client.connect(new StreamableHTTPClientTransport(url()));
    expect((await client.listTools()).tools.map((each) => each.name)).toContain('echo');
    expect((await client.callTool({ name: 'echo', arguments: { text: 'hello' } })).content).toHaveLength(1);
    await client.close();
  });

  it('answers the official client 2.x', async () => {
    const client = new NewClient({ name: 'test', version: '1' });
    await client.connect(new NewTransport(url()));
    expect((await client.listTools()).tools.map((each) => each.name)).toContain('echo');
    expect((await client.callTool({ name: 'echo', arguments: { text: 'hello' } })).content).toHaveLength(1);
    await client.close();
  });
});
