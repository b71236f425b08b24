// The official client 1.x (`@modelcontextprotocol/sdk`), over streamable HTTP, HTTP+SSE and stdio.

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  ResultSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { fields } from '../conformance/fixture/json.ts';
import type { Backend } from '../harness/mcp-servers.ts';
import { type CallOptions, type ClientKind, createMailbox, type Replies, type StoryClient } from './story-client.ts';

export const CLIENT_V1: ClientKind = {
  name: 'sdk-1',
  era: 'session',
  front: 'streamable-http',
  connect: (url, replies) => connect(new StreamableHTTPClientTransport(new URL(url)), replies),
};

export const CLIENT_V1_SSE: ClientKind = {
  name: 'sdk-1-sse',
  era: 'session',
  front: 'sse',
  connect: (url, replies) => connect(new SSEClientTransport(new URL(url)), replies),
};

/** With a server that it starts itself. */
export function stdioClient({ command: [command = '', ...args], env }: Backend): ClientKind {
  return {
    name: 'sdk-1-stdio',
    era: 'session',
    front: 'streamable-http',
    connect: (_url, replies) => connect(new StdioClientTransport({ command, args, env, stderr: 'ignore' }), replies),
  };
}

async function connect(transport: Transport, replies: Replies): Promise<StoryClient> {
  const client = new Client(
    { name: 'story', version: '1.0.0' },
    { capabilities: { elicitation: {}, sampling: {}, roots: {} } },
  );
  client.setRequestHandler(ElicitRequestSchema, ({ params }) => replies.elicit(fields(params)));
  client.setRequestHandler(CreateMessageRequestSchema, ({ params }) => ({
    role: 'assistant',
    model: 'story',
    content: { type: 'text', text: replies.sample(fields(params)) },
  }));
  client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: replies.roots.map((uri) => ({ uri })) }));
  const mailbox = createMailbox();
  await client.connect(transport);
  record(transport, mailbox.put);
  return { era: 'session', messages: mailbox.messages, heard: mailbox.heard, ...operations(client, transport) };
}

function record(transport: Transport, put: (message: unknown) => void): void {
  const { onmessage } = transport;
  transport.onmessage = (message, extra) => {
    put(message);
    onmessage?.(message, extra);
  };
}

function operations(client: Client, transport: Transport): Omit<StoryClient, 'era' | 'messages' | 'heard'> {
  return {
    server: () => ({
      capabilities: client.getServerCapabilities(),
      version: client.getServerVersion(),
      instructions: client.getInstructions(),
    }),
    listTools: () => client.listTools(),
    callTool: (name, args, options) => client.callTool({ name, arguments: args }, undefined, requestOptions(options)),
    listPrompts: () => client.listPrompts(),
    getPrompt: (name, args) => client.getPrompt({ name, arguments: args }),
    listResources: () => allPages((cursor) => client.listResources({ cursor }), 'resources'),
    listTemplates: () => allPages((cursor) => client.listResourceTemplates({ cursor }), 'resourceTemplates'),
    resourcesAfter: (cursor) => client.listResources({ cursor }),
    readResource: (uri) => client.readResource({ uri }),
    complete: ({ prompt, template }, name, value, chosen) =>
      client.complete({
        ref:
          prompt === undefined ? { type: 'ref/resource', uri: template ?? '' } : { type: 'ref/prompt', name: prompt },
        argument: { name, value },
        context: chosen === undefined ? undefined : { arguments: chosen },
      }),
    logFrom: async (level) => void (await client.setLoggingLevel(level)),
    watch: async ({ uris = [] }) => {
      for (const uri of uris) await client.subscribeResource({ uri });
      return async () => {
        for (const uri of uris) await client.unsubscribeResource({ uri });
      };
    },
    unknownMethod: () => client.request({ method: 'unknown/method', params: {} }, ResultSchema),
    leave: async () => {
      if (transport instanceof StreamableHTTPClientTransport) await transport.terminateSession();
      await client.close();
    },
  };
}

function requestOptions({ signal, progress = false }: CallOptions = {}): {
  signal?: AbortSignal;
  onprogress?: () => void;
} {
  return { signal, onprogress: progress ? () => undefined : undefined };
}

async function allPages(
  page: (cursor: string | undefined) => Promise<{ readonly nextCursor?: string }>,
  key: string,
): Promise<readonly unknown[]> {
  const pages: unknown[] = [];
  let cursor: string | undefined;
  do {
    const got = await page(cursor);
    pages.push(fields(got)[key]);
    cursor = got.nextCursor;
  } while (cursor !== undefined);
  return pages;
}
