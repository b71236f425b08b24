// Tests settings of a virtual server that take effect without a restart, in existing sessions too.

import { afterAll, beforeAll, expect, test } from 'vitest';
import type { VmcpConfig } from '#contracts/vmcp-config.ts';
import { startMember, type TestMember, tool } from './member.ts';
import { type Client, configOf, connect, operational, runVirtual, type TestedVirtualServer } from './world.ts';

let wiki: TestMember;
const stops: (() => unknown)[] = [];
beforeAll(async () => {
  wiki = await startMember({ tools: [tool('find'), tool('read')] });
});
afterAll(async () => {
  for (const stop of stops) await stop();
  await wiki.close();
});

const AUDIT = { enabled: true, includeRequestData: false, includeResponseData: false, maxDataSize: 1024 } as const;
const CEDAR = { type: 'cedar', policies: ['permit(principal, action, resource == Tool::"wiki_read");'] } as const;

interface Begun {
  readonly server: TestedVirtualServer;
  readonly client: Client;
  readonly change: (settings: Partial<VmcpConfig>) => void;
}

async function begin(settings: Partial<VmcpConfig> = {}): Promise<Begun> {
  const server = await runVirtual(configOf({ wiki }, settings));
  stops.push(() => server.stop());
  const client = await connect(server);
  return { server, client, change: (next) => server.replace(configOf({ wiki }, { ...settings, ...next })) };
}

async function namesOf(client: Client): Promise<string[]> {
  const { tools } = await client.ask('tools/list');
  return tools.map(({ name }: { readonly name: string }) => name);
}

test('another prefix of tools takes effect', async () => {
  const { client, change } = await begin();
  expect(await namesOf(client)).toEqual(['wiki_find', 'wiki_read']);
  const { aggregation } = configOf({ wiki });
  change({ aggregation: { ...aggregation, conflictResolutionConfig: { prefixFormat: '{workload}.' } } });
  expect(await namesOf(client)).toEqual(['wiki.find', 'wiki.read']);
});

test('an optimizer is added and removed', async () => {
  const { client, change } = await begin();
  change({ optimizer: { maxToolsToReturn: 1 } as NonNullable<VmcpConfig['optimizer']> });
  expect(await namesOf(client)).toEqual(['call_tool', 'find_tool']);
  change({});
  expect(await namesOf(client)).toEqual(['wiki_find', 'wiki_read']);
});

test('an audit is added, changed and removed', async () => {
  const { server, client, change } = await begin();
  const types = async () => {
    const before = server.audit.length;
    await client.ask('tools/list');
    await client.ask('tools/call', { name: 'wiki_find', arguments: {} });
    return server.audit.slice(before).map(({ type, component }) => `${component} ${type}`);
  };
  expect(await types()).toEqual([]);
  change({ audit: { ...AUDIT, component: 'desk' } });
  expect(await types()).toEqual(['desk mcp_tools_list', 'desk mcp_tool_call']);
  change({ audit: { ...AUDIT, component: 'door', excludeEventTypes: ['mcp_tools_list'] } });
  expect(await types()).toEqual(['door mcp_tool_call']);
  change({});
  expect(await types()).toEqual([]);
});

test('policies', async () => {
  const { client, change } = await begin();
  change({ incomingAuth: { type: 'anonymous', authz: { ...CEDAR, policies: [...CEDAR.policies] } } });
  expect(await namesOf(client)).toEqual(['wiki_read']);
  change({});
  expect(await namesOf(client)).toEqual(['wiki_find', 'wiki_read']);
});

test('changed authentication takes effect', async () => {
  const { server, change } = await begin();
  const status = async () =>
    (await fetch(server.url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' })).status;
  expect(await status()).toBe(400);
  change({
    incomingAuth: {
      type: 'oidc',
      authz: { type: 'none' },
      oidc: {
        issuer: 'https://id.example.com',
        resource: 'https://office.example.com',
        scopes: [] as readonly string[],
      },
    } as VmcpConfig['incomingAuth'],
  });
  expect(await status()).toBe(401);
  change({});
  expect(await status()).toBe(400);
});

test('a changed timeout of a backend takes effect', async () => {
  const { client, change } = await begin();
  wiki.silence('tools/call');
  const { operational: usual } = operational({});
  change({ operational: { ...usual, timeouts: { ...usual.timeouts, default: '200ms' } } });
  const asked = client.ask('tools/call', { name: 'wiki_find', arguments: {} });
  await expect(asked).resolves.toMatchObject({ error: { message: 'the backend wiki did not answer in time' } });
  wiki.silence();
});
