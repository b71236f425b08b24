// The client under test of `conformance client`: an official client that does what the scenario asks, directly or through
// `skep proxy` with the scenario's server behind it. The suite appends the server's URL to the command.
//
// MCP_CONFORMANCE_SCENARIO, MCP_CONFORMANCE_PROTOCOL_VERSION and MCP_CONFORMANCE_CONTEXT: set by the suite.
// CONFORMANCE_THROUGH=proxy: through the proxy.

import {
  Client as StatelessClient,
  StreamableHTTPClientTransport as StatelessTransport,
} from '@modelcontextprotocol/client';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { fields, text } from '../../test/conformance/fixture/json.ts';
import { startProxy } from '../../test/harness/mcp-modes.ts';

/** What the scenarios need of either client. */
interface Caller {
  listTools(): Promise<readonly string[]>;
  callTool(name: string, args: Record<string, unknown>): Promise<unknown>;
  readResources(): Promise<void>;
  getPrompts(): Promise<void>;
  close(): Promise<void>;
}

const NAME = { name: 'conformance-client', version: '1.0.0' };

async function connectSession(url: URL): Promise<Caller> {
  const client = new Client(NAME, { capabilities: { elicitation: { form: { applyDefaults: true } } } });
  client.setRequestHandler(ElicitRequestSchema, () => ({ action: 'accept', content: {} }));
  await client.connect(new StreamableHTTPClientTransport(url));
  return {
    listTools: async () => (await client.listTools()).tools.map(({ name }) => name),
    callTool: (name, args) => client.callTool({ name, arguments: args }),
    readResources: () => Promise.resolve(),
    getPrompts: () => Promise.resolve(),
    close: () => client.close(),
  };
}

async function connectStateless(url: URL): Promise<Caller> {
  const client = new StatelessClient(NAME, {
    capabilities: { elicitation: {}, sampling: {}, roots: {} },
    versionNegotiation: { mode: { pin: '2026-07-28' } },
  });
  client.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: { confirmed: true } }));
  await client.connect(new StatelessTransport(url));
  return {
    listTools: async () => (await client.listTools()).tools.map(({ name }) => name),
    callTool: (name, args) => client.callTool({ name, arguments: args }),
    readResources: async () => {
      for (const { uri } of (await client.listResources()).resources) await client.readResource({ uri });
    },
    getPrompts: async () => {
      for (const { name } of (await client.listPrompts()).prompts) await client.getPrompt({ name, arguments: {} });
    },
    close: () => client.close(),
  };
}

async function play(scenario: string, caller: Caller, context: unknown): Promise<void> {
  const tools = await caller.listTools();
  switch (scenario) {
    case 'request-metadata':
    case 'json-schema-ref-no-deref':
      return;
    case 'http-standard-headers':
      for (const tool of tools) await caller.callTool(tool, {});
      await caller.readResources();
      return caller.getPrompts();
    case 'http-custom-headers': {
      const { toolCalls } = fields(context);
      for (const call of Array.isArray(toolCalls) ? toolCalls.map(fields) : []) {
        await caller.callTool(text(call.name), { ...fields(call.arguments) });
      }
      return;
    }
    case 'http-invalid-tool-headers':
      return void (await caller.callTool('valid_tool', { region: 'north' }));
    case 'sep-2322-client-request-state':
      // One tool answers without `resultType`, which the client refuses: what counts is that it does not ask again.
      for (const tool of tools) await caller.callTool(tool, {}).catch(() => undefined);
      return;
    default:
      for (const tool of tools.slice(0, 1)) await caller.callTool(tool, { a: 2, b: 3 });
  }
}

async function main(): Promise<void> {
  const { MCP_CONFORMANCE_SCENARIO, MCP_CONFORMANCE_PROTOCOL_VERSION, MCP_CONFORMANCE_CONTEXT, CONFORMANCE_THROUGH } =
    process.env;
  const server = text(process.argv[2]);
  const proxy =
    CONFORMANCE_THROUGH === 'proxy'
      ? await startProxy({ transport: 'streamable-http', remote_url: server })
      : undefined;
  try {
    const url = new URL(proxy?.url ?? server);
    const connect = MCP_CONFORMANCE_PROTOCOL_VERSION === '2026-07-28' ? connectStateless : connectSession;
    const caller = await connect(url);
    await play(text(MCP_CONFORMANCE_SCENARIO), caller, JSON.parse(MCP_CONFORMANCE_CONTEXT ?? '{}'));
    await caller.close();
  } finally {
    await proxy?.stop();
  }
}

await main();
