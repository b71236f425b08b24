// The official client 2.x (`@modelcontextprotocol/client`), with sessions and without.

import {
  Client,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client';
import { type Fields, fields } from '../conformance/fixture/json.ts';
import { type CallOptions, type ClientKind, createMailbox, type Replies, type StoryClient } from './story-client.ts';

type HttpTransport = StreamableHTTPClientTransport | SSEClientTransport;
type Era = 'session' | 'stateless';

const LOG_LEVEL_KEY = 'io.modelcontextprotocol/logLevel';

function kind(name: string, era: Era, front: ClientKind['front']): ClientKind {
  const transport = (url: string) =>
    front === 'sse' ? new SSEClientTransport(new URL(url)) : new StreamableHTTPClientTransport(new URL(url));
  return { name, era, front, connect: (url, replies) => connect(transport(url), era, replies) };
}

export const CLIENT_V2_SESSION = kind('sdk-2', 'session', 'streamable-http');
export const CLIENT_V2_STATELESS = kind('sdk-2-stateless', 'stateless', 'streamable-http');
export const CLIENT_V2_SSE = kind('sdk-2-sse', 'session', 'sse');

async function connect(transport: HttpTransport, era: Era, replies: Replies): Promise<StoryClient> {
  const client = new Client(
    { name: 'story', version: '1.0.0' },
    {
      capabilities: { elicitation: {}, sampling: {}, roots: {} },
      versionNegotiation: { mode: era === 'session' ? 'legacy' : { pin: '2026-07-28' } },
    },
  );
  client.setRequestHandler('elicitation/create', ({ params }) => replies.elicit(fields(params)));
  client.setRequestHandler('sampling/createMessage', ({ params }) => ({
    role: 'assistant',
    model: 'story',
    content: { type: 'text', text: replies.sample(fields(params)) },
  }));
  client.setRequestHandler('roots/list', () => ({ roots: replies.roots.map((uri) => ({ uri })) }));
  const mailbox = createMailbox();
  await client.connect(transport);
  record(transport, mailbox.put);
  return { era, messages: mailbox.messages, heard: mailbox.heard, ...operations(client, transport, era) };
}

function record(transport: Transport, put: (message: unknown) => void): void {
  const { onmessage } = transport;
  transport.onmessage = (message, extra) => {
    put(message);
    onmessage?.(message, extra);
  };
}

function operations(
  client: Client,
  transport: HttpTransport,
  era: Era,
): Omit<StoryClient, 'era' | 'messages' | 'heard'> {
  let meta: Record<string, unknown> | undefined;
  return {
    server: () => ({
      capabilities: client.getServerCapabilities(),
      version: client.getServerVersion(),
      instructions: client.getInstructions(),
    }),
    listTools: () => client.listTools(),
    callTool: (name, args, options) => client.callTool({ name, arguments: args, _meta: meta }, requestOptions(options)),
    listPrompts: () => client.listPrompts(),
    getPrompt: (name, args) => client.getPrompt({ name, arguments: args }),
    listResources: () => client.listResources(),
    listTemplates: () => client.listResourceTemplates(),
    resourcesAfter: (cursor) => client.listResources({ cursor }),
    readResource: (uri) => client.readResource({ uri }),
    complete: ({ prompt, template }, name, value, chosen) =>
      client.complete({
        ref:
          prompt === undefined ? { type: 'ref/resource', uri: template ?? '' } : { type: 'ref/prompt', name: prompt },
        argument: { name, value },
        context: chosen === undefined ? undefined : { arguments: chosen },
      }),
    logFrom: async (level) => {
      if (era === 'session') return void (await client.setLoggingLevel(level));
      meta = { [LOG_LEVEL_KEY]: level };
    },
    watch: (watched) => (era === 'session' ? subscribe(client, watched.uris ?? []) : listen(client, watched)),
    unknownMethod: () => client.request({ method: 'unknown/method', params: {} }, ANY_RESULT),
    leave: async () => {
      if (era === 'session' && transport instanceof StreamableHTTPClientTransport) await transport.terminateSession();
      await client.close();
    },
  };
}

/** A schema that takes every result (https://standardschema.dev). */
const ANY_RESULT = {
  '~standard': { version: 1 as const, vendor: 'story', validate: (value: unknown) => ({ value: fields(value) }) },
};

function requestOptions({ signal, progress = false }: CallOptions = {}): {
  signal?: AbortSignal;
  onprogress?: () => void;
} {
  return { signal, onprogress: progress ? () => undefined : undefined };
}

async function subscribe(client: Client, uris: readonly string[]): Promise<() => Promise<void>> {
  for (const uri of uris) await client.subscribeResource({ uri });
  return async () => {
    for (const uri of uris) await client.unsubscribeResource({ uri });
  };
}

async function listen(
  client: Client,
  { uris, lists = [] }: Parameters<StoryClient['watch']>[0],
): Promise<() => Promise<void>> {
  const filter: Fields = {
    resourceSubscriptions: uris,
    ...Object.fromEntries(lists.map((list) => [`${list}ListChanged`, true])),
  };
  const subscription = await client.listen(filter);
  return () => subscription.close();
}
