// Tests official clients with official servers of the other era.

import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Client as Client2, StreamableHTTPClientTransport as Transport2 } from '@modelcontextprotocol/client';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as Transport1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { Server as Server1 } from '@modelcontextprotocol/sdk/server/index.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import {
  CallToolRequestSchema,
  CreateMessageRequestSchema,
  CreateMessageResultSchema,
  ElicitRequestSchema,
  ElicitResultSchema,
  ListToolsRequestSchema,
  LoggingMessageNotificationSchema,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { createMcpHandler, inputRequired, Server as Server2 } from '@modelcontextprotocol/server';
import { expect, it } from 'vitest';
import { bridgeBefore, closeLater } from './bridged.ts';

const INFO = { name: 'official', version: '1.0.0' };
const TOOLS = [{ name: 'ask', inputSchema: { type: 'object' as const } }];
const FORM = {
  message: 'Who?',
  requestedSchema: { type: 'object' as const, properties: { name: { type: 'string' as const } } },
};
const SAMPLE = { maxTokens: 5, messages: [{ role: 'user' as const, content: { type: 'text' as const, text: 'Hi' } }] };

async function listen(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closeLater({
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  });
  const { port }: AddressInfo = Object(server.address());
  return `http://127.0.0.1:${port}/mcp`;
}

/** Creates a server whose tool requests an elicitation and a sampling, and returns both results. */
function createServer2(): Server2 {
  const server = new Server2(INFO, { capabilities: { tools: { listChanged: true }, logging: {} } });
  server.setRequestHandler('tools/list', () => ({ tools: TOOLS }));
  server.setRequestHandler('tools/call', async (_request, { mcpReq }) => {
    const { inputResponses } = mcpReq;
    if (inputResponses === undefined) {
      const inputRequests = { name: inputRequired.elicit(FORM), greeting: inputRequired.createMessage(SAMPLE) };
      return inputRequired({ inputRequests, requestState: 'asked' });
    }
    await mcpReq.log('info', 'answered');
    return { content: [{ type: 'text' as const, text: JSON.stringify(inputResponses) }] };
  });
  return server;
}

it('serves the official client with sessions on the official server without sessions', async () => {
  const handler = createMcpHandler(createServer2, { legacy: 'reject' });
  closeLater(handler);
  const { url } = await bridgeBefore(await listen(toNodeHandler(handler)));
  const client = new Client1(INFO, { capabilities: { elicitation: {}, sampling: {} } });
  const asked: string[] = [];
  client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
    asked.push(params.message);
    return { action: 'accept', content: { name: 'Ada' } };
  });
  client.setRequestHandler(CreateMessageRequestSchema, () => ({
    role: 'assistant',
    model: 'm',
    content: { type: 'text', text: 'Hello' },
  }));
  const logged = Promise.withResolvers<unknown>();
  client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => logged.resolve(params.data));
  const changed = Promise.withResolvers<void>();
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => changed.resolve());
  await client.connect(new Transport1(new URL(url)));
  expect(client.getServerVersion()).toMatchObject(INFO);
  expect((await client.listTools()).tools).toMatchObject(TOOLS);
  const { content } = await client.callTool({ name: 'ask', arguments: {} });
  expect(content).toMatchObject([
    { text: expect.stringContaining('"name":{"action":"accept","content":{"name":"Ada"}}') },
  ]);
  expect(content).toMatchObject([{ text: expect.stringContaining('"text":"Hello"') }]);
  expect(asked).toEqual(['Who?']);
  expect(await logged.promise).toBe('answered');
  // The stream may open after a change, so the change is repeated until the client receives it.
  const changing = setInterval(() => handler.notify.toolsChanged(), 20);
  await changed.promise;
  clearInterval(changing);
  await client.close();
});

/**
 * Creates the same server with sessions. If `related`, requests to the client are on the stream of the call, otherwise
 * on the stream of the session.
 */
function createServer1(related: boolean): Server1 {
  const server = new Server1(INFO, { capabilities: { tools: { listChanged: true }, logging: {} } });
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: TOOLS }));
  server.setRequestHandler(CallToolRequestSchema, async (request, extra) => {
    const { progressToken } = request.params._meta ?? {};
    if (progressToken !== undefined) {
      await extra.sendNotification({
        method: 'notifications/progress',
        params: { progressToken, progress: 1, message: 'mine' },
      });
    }
    const elicit = { method: 'elicitation/create' as const, params: FORM };
    const answers = related
      ? await Promise.all([
          extra.sendRequest(elicit, ElicitResultSchema),
          extra.sendRequest({ method: 'sampling/createMessage', params: SAMPLE }, CreateMessageResultSchema),
        ])
      : [await server.elicitInput(FORM), await server.createMessage(SAMPLE)];
    await server.sendToolListChanged();
    return { content: [{ type: 'text', text: JSON.stringify(answers) }] };
  });
  return server;
}

async function listenSessions(related: boolean): Promise<string> {
  const transports = new Map<string, StreamableHTTPServerTransport>();
  return listen(async (request, response) => {
    const known = transports.get(String(request.headers['mcp-session-id']));
    if (known !== undefined) return known.handleRequest(request, response);
    const transport: StreamableHTTPServerTransport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => `session-${transports.size}`,
      onsessioninitialized: (id) => void transports.set(id, transport),
    });
    await createServer1(related).connect(transport);
    await transport.handleRequest(request, response);
  });
}

it.each([
  { where: 'on the stream of the call', related: true },
  { where: 'on the stream of the session', related: false },
])(
  'serves the official client without sessions on the official server with sessions, which asks $where',
  async ({ related }) => {
    const { url } = await bridgeBefore(await listenSessions(related));
    const client = new Client2(INFO, {
      capabilities: { elicitation: {}, sampling: {} },
      versionNegotiation: { mode: { pin: '2026-07-28' } },
    });
    const asked: string[] = [];
    client.setRequestHandler('elicitation/create', ({ params }) => {
      asked.push(params.message);
      return { action: 'accept', content: { name: 'Ada' } };
    });
    client.setRequestHandler('sampling/createMessage', () => ({
      role: 'assistant',
      model: 'm',
      content: { type: 'text', text: 'Hello' },
    }));
    await client.connect(new Transport2(new URL(url)));
    expect((await client.listTools()).tools).toMatchObject(TOOLS);
    const changed = Promise.withResolvers<void>();
    client.setNotificationHandler('notifications/tools/list_changed', () => changed.resolve());
    const subscription = await client.listen({ toolsListChanged: true });
    const progress: (string | undefined)[] = [];
    const onprogress = (each: { message?: string }) => void progress.push(each.message);
    const { content } = await client.callTool({ name: 'ask', arguments: {} }, { onprogress });
    expect(content).toMatchObject([{ text: expect.stringMatching(/"action":"accept".*"text":"Hello"/) }]);
    // Progress notifications of the client itself are excluded.
    expect([asked, progress.filter((each) => each === 'mine')]).toEqual([['Who?'], ['mine']]);
    await changed.promise;
    await subscription.close();
    await client.close();
  },
);
