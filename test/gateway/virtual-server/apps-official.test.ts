// Tests the official host and view of MCP Apps with two copies of a public example server behind a virtual server. Each
// view gets its own user interface and calls its own server.

import { fileURLToPath } from 'node:url';
import { Client, InMemoryTransport, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { App } from '@modelcontextprotocol/ext-apps';
import { AppBridge, getToolUiResourceUri } from '@modelcontextprotocol/ext-apps/app-bridge';
import { afterEach, expect, it } from 'vitest';
import { MODES, startMode } from '../../harness/mcp-modes.ts';
import type { StartServer } from '../../harness/mcp-servers.ts';
import { APPS, REVISION } from './stateless-client.ts';
import { configOf, runVirtual } from './world.ts';

const PROGRAM = '../../../node_modules/@modelcontextprotocol/server-basic-vanillajs/dist/index.js';
const ERAS = ['session', 'stateless'] as const;
type Era = (typeof ERAS)[number];

const stopping: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const stop of stopping.splice(0).reverse()) await stop();
});

const startExample: StartServer = async () => ({
  backend: {
    url: new URL('http://127.0.0.1'),
    command: [process.execPath, fileURLToPath(new URL(PROGRAM, import.meta.url)), '--stdio'],
  },
  stop: async () => undefined,
});

async function startBackend() {
  const mode = MODES.find(({ name }) => name === 'stdio-per-session');
  if (mode === undefined) throw new Error('there is no such mode');
  const reached = await startMode(mode, startExample);
  stopping.push(reached.stop);
  return reached;
}

async function connectHost(era: Era, names: readonly string[]): Promise<Client> {
  const backends = Object.fromEntries(await Promise.all(names.map(async (name) => [name, await startBackend()])));
  const office = await runVirtual(configOf(backends));
  stopping.push(office.stop);
  const extensions = { [APPS]: { mimeTypes: ['text/html;profile=mcp-app'] } };
  const versionNegotiation = { mode: era === 'session' ? ('legacy' as const) : { pin: REVISION } };
  const client = new Client({ name: 'host', version: '1' }, { capabilities: { extensions }, versionNegotiation });
  await client.connect(new StreamableHTTPClientTransport(new URL(office.url)));
  stopping.push(() => client.close());
  return client;
}

/** Opens a view and connects it to the host in memory, without a browser frame. */
async function openView(client: Client): Promise<App> {
  const bridge = new AppBridge(client, { name: 'host', version: '1' }, { serverTools: {}, serverResources: {} });
  const view = new App({ name: 'view', version: '1' }, {}, { autoResize: false });
  const [ofHost, ofView] = InMemoryTransport.createLinkedPair();
  await bridge.connect(ofHost);
  await view.connect(ofView);
  stopping.push(() => view.close());
  return view;
}

it.each(ERAS)('a host (%s) shows the user interface of each server, although their URIs are equal', async (era) => {
  const client = await connectHost(era, ['north', 'south']);
  const { tools } = await client.listTools();
  const uris = tools.map((tool) => getToolUiResourceUri(tool) ?? '');
  expect(uris).toEqual(['ui://skep/north/get-time/mcp-app.html', 'ui://skep/south/get-time/mcp-app.html']);
  for (const uri of uris) {
    const { contents } = await client.readResource({ uri });
    expect(contents).toMatchObject([{ uri, mimeType: 'text/html;profile=mcp-app' }]);
    expect(contents[0] !== undefined && 'text' in contents[0] && contents[0].text).toContain('<!DOCTYPE html>');
  }
});

it.each(ERAS)(
  'a view calls the tool and reads the resource of its server by the names at the server (%s)',
  async (era) => {
    const client = await connectHost(era, ['north']);
    const view = await openView(client);
    const result = await view.callServerTool({ name: 'get-time', arguments: {} });
    expect(result.isError ?? false).toBe(false);
    expect(result.content).toHaveLength(1);
    const { contents } = await view.readServerResource({ uri: 'ui://get-time/mcp-app.html' });
    expect(contents).toHaveLength(1);
  },
);
