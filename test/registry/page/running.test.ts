// The page beside servers that run: what it shows of them, that the configuration it offers works in the official client as
// it stands, and a call that a reader tries in the page. Real servers behind real proxies, and a real browser. In one file,
// because all tests share these.

import { createServer, type Server } from 'node:http';
import { fileURLToPath } from 'node:url';
import {
  Client,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client';
import { Client as EarlierClient } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport as EarlierSse } from '@modelcontextprotocol/sdk/client/sse.js';
import { StreamableHTTPClientTransport as EarlierHttp } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { pino } from 'pino';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { readRegistryConfig } from '#contracts/registry/config-read.ts';
import { settleConfig } from '#contracts/registry/service.ts';
import type { RunConfig } from '#contracts/run-config.ts';
import { createFront, type Front, type FrontServer } from '#hosts/dev/front/front.ts';
import { type SampleIssuer, startSampleIssuer } from '#hosts/dev/issuer/issuer.ts';
import { type Service as RunningService, startService } from '#hosts/registry/serve.ts';
import { freePort } from '#kubernetes/devcluster/node/free-port.ts';
import { runProxy, type TestedProxy } from '../../gateway/proxy/world.ts';
import { startMember, tool } from '../../gateway/virtual-server/member.ts';
import { configOf, runVirtual } from '../../gateway/virtual-server/world.ts';
import { type Browser, findBrowser, NO_BROWSER, startBrowser, type Tab } from '../../harness/browser.ts';
import { temporaryFolder } from '../../harness/git-server.ts';
import { type Running, startSkep } from '../../harness/skep.ts';
import { openService, type Service } from '../service/service.ts';
import { CLOCK, entryOf } from './fixtures.ts';

const executable = findBrowser();
if (executable === undefined) process.stderr.write(NO_BROWSER);

const EXECUTABLE = fileURLToPath(new URL('../../../src/skep.ts', import.meta.url));
const TOKEN = 'the-token-of-skep-dev';
const IMAGE = 'ghcr.io/skep-dev/skep:0.1.0';
const JANUARY = '2026-01-01T00:00:00.000Z';

const CONFIG = `registryName: catalogue
namespace: fleet
registries: [{name: tools, file: {path: tools.json}, syncPolicy: {interval: 1h30m}}]
auth: {mode: anonymous}
`;

/** An entry of the image of the sample fleet, with the arguments that choose the server. */
function sampleEntry(name: string) {
  const extension = { tags: ['skep'], args: ['sample', name] };
  return entryOf({
    name: `io.skep/${name}`,
    description: `The server ${name}.`,
    version: '1.0.0',
    packages: [{ registryType: 'oci', identifier: IMAGE, transport: { type: 'stdio' } }],
    _meta: { 'io.modelcontextprotocol.registry/publisher-provided': { 'io.skep': { [IMAGE]: extension } } },
  });
}

describe.skipIf(executable === undefined)('the page beside servers that run', () => {
  const folder = temporaryFolder();
  const proxies: TestedProxy[] = [];
  const programs: Running[] = [];
  let servers: readonly FrontServer[] = [];
  let issuer: SampleIssuer | undefined;
  let front: Front;
  let service: Service;
  let running: RunningService;
  let listener: Server;
  let browser: Browser;
  let tab: Tab;
  let page: Page;

  async function behindProxy(settings: Partial<RunConfig>): Promise<number> {
    const proxy = await runProxy({ ...settings, trust_proxy_headers: true });
    proxies.push(proxy);
    return Number(new URL(proxy.origin).port);
  }

  async function listening(name: string, transport: 'streamable-http' | 'sse'): Promise<Partial<RunConfig>> {
    const program = startSkep(['sample', name], {
      cwd: folder.path,
      env: { MCP_TRANSPORT: transport, MCP_PORT: '0' },
    });
    programs.push(program);
    const [, port] = /http:\/\/127\.0\.0\.1:(\d+)/.exec(await program.printed('serving http')) ?? [];
    return { transport, target_host: '127.0.0.1', target_port: Number(port) };
  }

  function notes(): Partial<RunConfig> {
    const command = [process.execPath, EXECUTABLE, 'sample', 'notes', '--folder', `${folder.path}/notes`];
    return { transport: 'stdio', process: { command } };
  }

  beforeAll(async () => {
    issuer = await startSampleIssuer(`${folder.path}/issuer`);
    const port = await freePort();
    const origin = `http://127.0.0.1:${port}`;
    const oidc: RunConfig['oidc_config'] = {
      issuer: issuer?.url ?? '',
      audience: 'ops/journal',
      jwks_allow_private_ip: true,
      protected_resource_allow_private_ip: false,
      insecure_allow_http: true,
      resource_url: `${origin}/mcp/ops/journal`,
      scopes: ['openid'],
    };
    const common = { ready: true, image: IMAGE } as const;
    servers = [
      {
        ...common,
        namespace: 'docs',
        name: 'notes',
        transport: 'streamable-http',
        auth: 'token',
        args: ['sample', 'notes'],
        port: await behindProxy(notes()),
      },
      {
        ...common,
        namespace: 'docs',
        name: 'handbook',
        transport: 'sse',
        auth: 'token',
        args: ['sample', 'handbook'],
        port: await behindProxy(await listening('handbook', 'sse')),
      },
      {
        ...common,
        namespace: 'ops',
        name: 'journal',
        transport: 'streamable-http',
        auth: 'oidc',
        args: ['sample', 'notes'],
        port: await behindProxy({ ...notes(), oidc_config: oidc }),
        ready: false,
      },
    ];
    const book = await behindProxy(await listening('notes', 'streamable-http'));
    const args = ['sample', 'notes'];
    servers = [
      ...servers,
      { ...common, namespace: 'ops', name: 'book', transport: 'streamable-http', auth: 'token', args, port: book },
    ];
    front = createFront({ origin: () => origin, token: TOKEN, servers: async () => servers });
    service = await openService();
    await service.fill([entryOf(CLOCK), sampleEntry('notes'), sampleEntry('holidays')], JANUARY);
    const read = readRegistryConfig(CONFIG, 'config.yaml');
    if ('problems' in read) throw new Error('the configuration has problems');
    const config = { ...read.config, listen: { host: '127.0.0.1', port } };
    running = await startService(config, service.store, pino({ level: 'silent' }), { within: origin });
    listener = createServer((request, response) => {
      if (!front.serve(request, response)) running.handle(request, response);
    });
    await new Promise<void>((done) => listener.listen(port, '127.0.0.1', done));
    browser = await startBrowser(executable ?? '');
  });

  afterAll(async () => {
    await browser?.close();
    front?.close();
    listener?.close();
    listener?.closeAllConnections();
    await running?.stop();
    await service?.close();
    await Promise.all(proxies.map((proxy) => proxy.stop()));
    for (const program of programs) program.kill('SIGTERM');
    await issuer?.stop();
    folder.remove();
  });

  beforeEach(async () => {
    tab = await browser.open();
    page = tab.page;
    // As skep dev prints it.
    await page.goto(`${running.url}/#token=${TOKEN}`);
    await band().waitFor();
  });

  afterEach(async () => {
    // Nothing from elsewhere, and nothing that the browser's policies forbid.
    expect(tab.requests.filter((url) => !url.startsWith(`${running.url}/`))).toEqual([]);
    expect(tab.complaints).toEqual([]);
    await page.close();
  });

  function band() {
    return page.getByRole('region', { name: 'Running here' });
  }

  test('lists what runs with its URL and whether it answers, and follows when that changes', async () => {
    await page.goto(running.url);
    await band().getByRole('link', { name: 'docs/notes' }).waitFor();
    expect(await band().getByRole('listitem').allTextContents()).toEqual([
      `readydocs/handbook${running.url}/mcp/docs/handbook`,
      `readydocs/notes${running.url}/mcp/docs/notes`,
      `readyops/book${running.url}/mcp/ops/book`,
      `not readyops/journal${running.url}/mcp/ops/journal`,
    ]);
    const before = servers;
    servers = before.map((server) => ({ ...server, ready: false, notRunHere: 'no program is known for its image' }));
    await band()
      .getByRole('listitem')
      .filter({ hasText: /^does not run hereops\/journal/ })
      .waitFor();
    await page.goto(`${running.url}/#~ops/journal`);
    await page.getByText('no program is known for its image').waitFor();
    await page.goto(running.url);
    servers = before.map((server) => ({ ...server, ready: true }));
    await band()
      .getByRole('listitem')
      .filter({ hasText: /^readyops\/journal/ })
      .waitFor();
  });

  test('shows what runs, and how to get a catalogue, without any registry', async () => {
    const config = settleConfig({ registries: [], auth: { mode: 'anonymous' } });
    const bare = await startService(config, service.store, pino({ level: 'silent' }), { within: running.url });
    const before = running;
    running = { ...running, handle: bare.handle };
    await page.goto(running.url);
    await page.getByText('There is no catalogue').waitFor();
    await band().getByRole('link', { name: 'docs/notes' }).click();
    await page.getByLabel('Tool', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'All servers' }).click();
    await page.getByText('Commit an MCPRegistry').waitFor();
    running = before;
    await bare.stop();
  });

  test('says of an entry whether it runs here', async () => {
    await page.goto(running.url);
    const marked = page.locator('.card').filter({ hasText: 'runs here' });
    await marked.waitFor();
    expect(await marked.getByRole('heading').allTextContents()).toEqual(['notes']);
    await page.goto(`${running.url}/#/tools/${encodeURIComponent('io.skep/notes')}`);
    const here = page.locator('.here');
    await here.getByRole('heading', { name: 'It runs here' }).waitFor();
    expect(await here.getByRole('heading', { level: 3 }).allTextContents()).toEqual([
      'docs/notes',
      'ops/book',
      'ops/journal',
    ]);
    expect(await here.locator('dl').first().textContent()).toContain(`StatereadyURL${running.url}/mcp/docs/notes`);
    // How to connect to it comes before the ways to start another one.
    expect(await page.getByLabel('Run or reach it as').locator('option').allTextContents()).toEqual([
      'Running here: docs/notes',
      'Running here: ops/book',
      'Running here: ops/journal',
      `oci: ${IMAGE}`,
    ]);
    expect(await configurationFor('Claude Code')).toEqual({
      mcpServers: {
        notes: {
          type: 'http',
          url: `${running.url}/mcp/docs/notes`,
          headers: { Authorization: `Bearer ${TOKEN}` },
        },
      },
    });
    for (const name of ['io.skep/holidays', 'io.acme/clock']) {
      await page.goto(`${running.url}/#/tools/${encodeURIComponent(name)}`);
      await page
        .getByRole('heading', { level: 1 })
        .filter({ hasText: /holidays|Clock/ })
        .waitFor();
      await page.getByText('It does not run here: the catalogue only lists it.').waitFor();
    }
  });

  /** As the page shows it, for one of its clients. */
  async function configurationFor(client: string): Promise<Record<string, unknown>> {
    await page.locator('.connect').waitFor({ state: 'attached' });
    // The page of a running server has it in a tab of its own.
    const own = page.getByRole('tab', { name: 'Connect a client' });
    if ((await own.count()) > 0) await own.click();
    await page.getByRole('radio', { name: client }).check();
    return JSON.parse((await page.locator('.connect .snippet pre').textContent()) ?? '');
  }

  interface Definition {
    readonly type?: string;
    readonly url: string;
    readonly headers?: Record<string, string>;
  }

  async function toolsWith({ type, url, headers }: Definition): Promise<string[]> {
    const options = { requestInit: { headers: headers ?? {} } };
    const transport: Transport =
      type === 'sse'
        ? new SSEClientTransport(new URL(url), options)
        : new StreamableHTTPClientTransport(new URL(url), options);
    const client = new Client({ name: 'test', version: '1.0.0' });
    await client.connect(transport);
    const { tools } = await client.listTools();
    if (transport instanceof StreamableHTTPClientTransport) await transport.terminateSession();
    await client.close();
    return tools.map(({ name }) => name);
  }

  test.each([
    ['docs/notes', 'VS Code', 'servers', 'add_note'],
    ['docs/notes', 'Claude Code', 'mcpServers', 'add_note'],
    ['docs/notes', 'Cursor', 'mcpServers', 'add_note'],
    ['docs/handbook', 'VS Code', 'servers', 'search_pages'],
    ['docs/handbook', 'Claude Code', 'mcpServers', 'search_pages'],
  ])(
    'the configuration of %s for %s connects with the official client as it stands',
    async (server, client, key, tool) => {
      await page.goto(`${running.url}/#~${server}`);
      const configuration = await configurationFor(client);
      const [[name, definition] = []] = Object.entries(configuration[key] as Record<string, Definition>);
      expect(name).toBe(server.split('/')[1]);
      expect(definition?.headers).toEqual({ Authorization: `Bearer ${TOKEN}` });
      expect(definition === undefined ? [] : await toolsWith(definition)).toContain(tool);
    },
  );

  /** As VS Code reads mcp.json and Claude Code .mcp.json: a type, an address and headers, and nothing that they would ask for. */
  function readAsClient(configuration: Record<string, unknown>, members: string): Definition {
    expect(Object.keys(configuration)).toEqual([members]);
    const [definition] = Object.values(configuration[members] as Record<string, Definition>);
    if (definition === undefined) throw new Error('no server in it');
    expect(Object.keys(definition).sort()).toEqual(['headers', 'type', 'url']);
    expect(JSON.stringify(definition)).not.toContain('${');
    return definition;
  }

  test.each([
    ['docs/notes', 'VS Code', 'servers', 'http', 'list_notes', {}],
    ['docs/notes', 'Claude Code', 'mcpServers', 'http', 'list_notes', {}],
    ['docs/handbook', 'VS Code', 'servers', 'sse', 'search_pages', { query: 'sync', limit: 1 }],
    ['docs/handbook', 'Claude Code', 'mcpServers', 'sse', 'search_pages', { query: 'sync', limit: 1 }],
  ])('the client that %s is configured for in %s calls a tool', async (server, program, members, type, name, given) => {
    await page.goto(`${running.url}/#~${server}`);
    const definition = readAsClient(await configurationFor(program), members);
    expect(definition.type).toBe(type);
    const options = { requestInit: { headers: definition.headers ?? {} } };
    const url = new URL(definition.url);
    const client = new EarlierClient({ name: program, version: '1.0.0' });
    await client.connect(type === 'sse' ? new EarlierSse(url, options) : new EarlierHttp(url, options));
    const result = await client.callTool({ name, arguments: given });
    expect(result).toMatchObject({ content: [{ type: 'text' }] });
    expect(result.isError).not.toBe(true);
    await client.close();
  });

  async function openWithout(fragment: string): Promise<void> {
    await page.evaluate(() => localStorage.clear());
    await page.goto(`${running.url}/${fragment}`);
    await page.reload();
  }

  test('the token leaves the address at once, and a reload and other tabs have it', async () => {
    expect(page.url()).toBe(`${running.url}/`);
    await page.goto(`${running.url}/#~docs/notes`);
    await page.reload();
    expect(JSON.stringify(await configurationFor('Claude Code'))).toContain(TOKEN);
  });

  test.each([
    ['that was opened without the token', ''],
    ['that was opened with the token of another start', '#token=of-another-start'],
  ])('a page %s says so, and has its reader fill it in', async (_, fragment) => {
    await openWithout(fragment);
    const notice = page.getByText('Open this page by the address that skep dev prints');
    await notice.waitFor();
    await page.goto(`${running.url}/#~docs/notes`);
    await notice.waitFor();
    expect(await configurationFor('VS Code')).toMatchObject({
      inputs: [{ type: 'promptString', id: 'notes-token', password: true }],
      servers: { notes: { headers: { Authorization: `Bearer \${input:notes-token}` } } },
    });
    expect(await configurationFor('Claude Code')).toMatchObject({
      mcpServers: { notes: { headers: { Authorization: 'Bearer ${NOTES_TOKEN}' } } },
    });
    await page.getByRole('tab', { name: 'Try it' }).click();
    await page.getByLabel('Token of skep dev').fill(TOKEN);
    await page.getByRole('button', { name: 'List its tools' }).click();
    await page.getByLabel('Tool', { exact: true }).waitFor();
  });

  test('the printed address takes the notice away, and a tab of an older start leaves the token alone', async () => {
    const old = await page.context().newPage();
    await openWithout('#token=of-another-start');
    const notice = page.getByText('Open this page by the address that skep dev prints');
    await notice.waitFor();
    await old.goto(`${running.url}/#token=${TOKEN}`);
    await old.close();
    await page.goto(`${running.url}/#token=${TOKEN}`);
    await notice.waitFor({ state: 'detached' });
    expect(await page.evaluate(() => localStorage.getItem('skep-dev-token'))).toBe(TOKEN);
  });

  test('a server with an issuer of its own is offered without the token of skep dev', async () => {
    await page.goto(`${running.url}/#~ops/journal`);
    const { servers: offered } = await configurationFor('VS Code');
    expect(offered).toEqual({ journal: { type: 'http', url: `${running.url}/mcp/ops/journal` } });
  });

  async function choose(tool: string, given: Readonly<Record<string, string>>): Promise<void> {
    await page.getByLabel('Tool', { exact: true }).selectOption(tool);
    for (const [label, text] of Object.entries(given)) await page.getByLabel(label).fill(text);
    await page.getByRole('button', { name: 'Call' }).click();
  }

  async function answered(text: string | RegExp): Promise<void> {
    await page.getByRole('region', { name: 'Answer', exact: true }).filter({ hasText: text }).waitFor();
  }

  test('a reader calls tools in the page: forms by the schema, and what the server asks meanwhile', async () => {
    await page.goto(`${running.url}/#~ops/book`);
    await choose('add_note', { title: 'Tried', text: '<b>in</b> the page' });
    await answered('Added "Tried".');
    await choose('read_note', { title: 'Tried' });
    await answered('<b>in</b> the page');
    await choose('delete_note', { title: 'Tried' });
    await page.getByText('The server asks: Delete the note "Tried"?').waitFor();
    await page.getByRole('button', { name: 'Answer' }).click();
    await answered('Deleted "Tried".');
    await choose('read_note', { title: 'Tried' });
    await page.getByText('The tool says that it failed.').waitFor();
    await choose('read_note', { title: '../x' });
    const message = page
      .getByLabel('title')
      .evaluate((input) => ('validationMessage' in input ? input.validationMessage : ''));
    expect(await message).toMatch(/^This has to match/);
  });

  test('a reader calls a tool of a server with the older transport', async () => {
    await page.goto(`${running.url}/#~docs/handbook`);
    await choose('search_pages', { query: 'stdio one process for all clients', limit: '1' });
    await answered(/^# proxy: /);
  });

  test('a reader sees the extensions of a server, and that a tool has a user interface', async () => {
    const member = await startMember({ tools: [tool('draw', { _meta: { ui: { resourceUri: 'ui://draw.html' } } })] });
    const office = await runVirtual(configOf({ office: member }));
    const before = servers;
    const port = Number(new URL(office.url).port);
    const place = { namespace: 'ops', name: 'office', transport: 'streamable-http', auth: 'none' } as const;
    servers = [...before, { ...place, ready: true, image: IMAGE, args: [], port }];
    await page.goto(`${running.url}/#~ops/office`);
    await page.getByText('It offers extensions: user interfaces of tools.').waitFor();
    await page.getByText('This tool has a user interface, which this page does not show.').waitFor();
    servers = before;
    await office.stop();
    await member.close();
  });

  test('a server with an issuer refuses another token in words', async () => {
    await page.goto(`${running.url}/#~ops/journal`);
    await page.getByLabel('Access token of its issuer').fill('nonsense');
    await page.getByRole('button', { name: 'List its tools' }).click();
    await page.getByText('The server does not accept the token').waitFor();
    await page.getByText(`skep call ${running.url}/mcp/ops/journal`).waitFor();
    tab.complaints.splice(0);
  });

  test('what does not run here is told so', async () => {
    await page.goto(`${running.url}/#~docs/none`);
    await page.getByText('docs/none does not run here').waitFor();
  });
});
