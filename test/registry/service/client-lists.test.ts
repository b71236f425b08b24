// Lists for administrators of MCP clients: what of a registry they allow, in which form, and what can never be allowed.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseRegistry } from '#registry/catalogue/formats/registry.ts';
import { temporaryFolder } from '../../harness/git-server.ts';
import { type Finished, skep } from '../../harness/skep.ts';
import { openService, type Service } from './service.ts';

const JANUARY = '2026-01-01T00:00:00.000Z';

const folder = temporaryFolder();
let service: Service;

beforeAll(async () => {
  service = await openService();
});

afterAll(async () => {
  folder.remove();
  await service.close();
});

function server(name: string, more: object): object {
  return { name, description: name, version: '1.0.0', ...more };
}

const HTTP = 'streamable-http';

const SERVERS = [
  server('com.example.one/wiki', { remotes: [{ type: HTTP, url: 'https://mcp.example.com/wiki' }] }),
  server('com.example.two/wiki', { remotes: [{ type: 'sse', url: 'https://two.example.com/sse' }] }),
  server('com.example/tool', {
    packages: [
      { registryType: 'npm', identifier: '@example/tool', version: '1.2.3', transport: { type: 'stdio' } },
      { registryType: 'oci', identifier: 'ghcr.io/example/tool:1.2.3', transport: { type: 'stdio' } },
    ],
  }),
  // Each user has another address or another argument.
  server('com.example/tenant', {
    remotes: [
      {
        type: HTTP,
        url: 'https://{tenant}.example.com/mcp',
        variables: { tenant: { description: 'yours', isRequired: true } },
      },
    ],
  }),
  server('com.example/path', {
    packages: [
      {
        ...{ registryType: 'npm', identifier: 'files', version: '1.0.0', transport: { type: 'stdio' } },
        packageArguments: [{ type: 'positional', valueHint: 'folder', isRequired: true }],
      },
    ],
  }),
  // For clients a star is a wildcard.
  server('com.evil/star', { remotes: [{ type: HTTP, url: 'https://*/mcp' }] }),
  server('com.evil/stars', { remotes: [{ type: HTTP, url: 'http*://*' }] }),
];

async function fill(servers: readonly object[]): Promise<void> {
  const parsed = parseRegistry('upstream', JSON.stringify({ servers }), 'registry.json');
  if (!parsed.ok) throw new Error(parsed.problem.message);
  await service.fill(parsed.entries, JANUARY);
}

const MATCHERS = [
  { serverUrl: 'https://mcp.example.com/wiki' },
  { serverUrl: 'https://two.example.com/sse' },
  { serverCommand: ['npx', '-y', '@example/tool@1.2.3'] },
  { serverCommand: ['docker', 'run', '-i', '--rm', 'ghcr.io/example/tool:1.2.3'] },
];

async function list(client: string): Promise<Record<string, unknown>> {
  const { status, json } = await service.get(`/tools/clients/${client}.json`);
  expect(status).toBe(200);
  return json;
}

test.each([
  ['vscode', 'chat.mcp.allowedServers', {}],
  ['copilot', 'allowedMcpServers', {}],
  ['claude-code', 'allowedMcpServers', { allowManagedMcpServersOnly: true }],
])('%s: each server that is the same for all users, and no other', async (client, field, more) => {
  await fill(SERVERS);
  const { [field]: matchers, ...others } = await list(client);
  expect(others).toEqual(more);
  expect(matchers).toHaveLength(MATCHERS.length);
  expect(matchers).toEqual(expect.arrayContaining(MATCHERS));
});

test('cursor: an mcp.json with a name for each server, the whole one where two end alike', async () => {
  await fill(SERVERS);
  expect(await list('cursor')).toEqual({
    mcpServers: {
      'com.example.one/wiki': { url: 'https://mcp.example.com/wiki' },
      'com.example.two/wiki': { url: 'https://two.example.com/sse' },
      tool: { command: 'npx', args: ['-y', '@example/tool@1.2.3'] },
    },
  });
});

test('a list of nothing allows nothing', async () => {
  await fill([]);
  expect(await list('vscode')).toEqual({ 'chat.mcp.allowedServers': [] });
  expect(await list('claude-code')).toEqual({ allowManagedMcpServersOnly: true, allowedMcpServers: [] });
});

test('more than one page is read to its end, and a list that nobody reviews is not made', async () => {
  const many = (count: number) =>
    Array.from({ length: count }, (_, number) =>
      server(`com.example/s${number}`, { remotes: [{ type: HTTP, url: `https://mcp.example.com/${number}` }] }),
    );
  await fill(many(250));
  expect((await list('copilot')).allowedMcpServers).toHaveLength(250);
  await fill(many(2001));
  expect(await service.get('/tools/clients/copilot.json')).toMatchObject({
    status: 404,
    json: { error: 'the registry has more than 2000 servers: select fewer by its filter' },
  });
});

test('a list is sent again only if the registry has changed', async () => {
  await fill(SERVERS);
  const { headers } = await service.get('/tools/clients/vscode.json');
  const again = await service.get('/tools/clients/vscode.json', { 'if-none-match': headers.etag ?? '' });
  expect(again.status).toBe(304);
});

function clients(...args: readonly string[]): Promise<Finished> {
  return skep(['clients', ...args], { cwd: folder.path });
}

test('skep clients prints a list, compares a file with it, and says why there is none', async () => {
  await fill(SERVERS);
  const origin = await service.app.listen({ host: '127.0.0.1', port: 0 });
  const printed = await clients(`${origin}/tools/`, '--format', 'claude-code');
  expect([printed.code, JSON.parse(printed.stdout)]).toEqual([0, await list('claude-code')]);

  const file = join(folder.path, 'managed-settings.json');
  const check = () => clients(`${origin}/tools`, '--format', 'claude-code', '--check', file);
  writeFileSync(file, printed.stdout);
  expect(await check()).toMatchObject({ code: 0, stdout: '', stderr: '' });
  await fill(SERVERS.slice(1));
  expect(await check()).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('is not the list of') });

  const none = await clients(`${origin}/nothing-here`, '--format', 'vscode');
  expect(none.code).toBe(1);
  expect(none.stderr).toContain(
    `error registry-list-refused: ${origin}/nothing-here/clients/vscode.json was answered with 404: registry not found`,
  );
  const missing = await clients(`${origin}/tools`, '--format', 'vscode', '--check', join(folder.path, 'none'));
  expect([missing.code, missing.stderr]).toEqual([64, expect.stringContaining('there is no file')]);
  expect((await clients('tools', '--format', 'vscode')).code).toBe(64);
});

test.each(['/tools/clients/emacs.json', '/tools/clients/vscode', '/tools/clients/__proto__.json'])(
  '%s is no list: the answer names those that there are',
  async (path) => {
    expect(await service.get(path)).toMatchObject({
      status: 404,
      json: { error: expect.stringContaining('vscode.json, copilot.json, claude-code.json, cursor.json') },
    });
  },
);
