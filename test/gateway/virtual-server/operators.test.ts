// The documents of a virtual server for operators: with names, and for requests with the token alone.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { OPERATOR_HEADER, OPERATOR_PATHS, operatorToken } from '#contracts/virtual/operator-documents.ts';
import { VMCP_ENV, type VmcpConfig } from '#contracts/vmcp-config.ts';
import { startMember, type TestMember, tool } from './member.ts';
import { callFlow, workflow } from './workflow-world.ts';
import { configOf, connect, operational, runVirtual, type TestedVirtualServer } from './world.ts';

const EVIL = '<img src=x onerror="alert(1)">';
const SECRET = 'not-for-anybody';
const KEY = 'k'.repeat(44);
const TOKEN = operatorToken(KEY);
const FLOW = workflow(
  [
    { id: 'find', tool: 'wiki.find', arguments: { q: SECRET } },
    { id: 'mail', tool: 'mail.send', dependsOn: ['find'], condition: '{{eq 1 2}}', defaultResults: {} },
    { id: 'note', tool: 'wiki.note', dependsOn: ['find'] },
    { id: 'end', tool: 'wiki.fail', dependsOn: ['mail', 'note'], onError: { action: 'continue' }, defaultResults: {} },
  ],
  { description: EVIL },
);

const BROKEN = workflow([{ id: 'lost', tool: 'mail.gone' }], { name: 'broken' });

let members: readonly TestMember[];
let server: TestedVirtualServer;

function settings(backends: Record<string, Pick<TestMember, 'url'>>, more: Partial<VmcpConfig> = {}): VmcpConfig {
  const config = configOf(backends, {
    ...operational({ unhealthyThreshold: 1, partialFailureMode: 'best_effort' }),
    aggregation: {
      conflictResolution: 'priority',
      conflictResolutionConfig: { prefixFormat: '{workload}_', priorityOrder: ['wiki'] },
      excludeAllTools: false,
      tools: [{ workload: 'wiki', filter: ['find', 'search', EVIL], excludeAll: false }],
    },
    metadata: { owner: 'the team' },
    ...more,
  });
  const listed = config.backends.map((each) => (each.name === 'wiki' ? { ...each, metadata: { area: 'docs' } } : each));
  return { ...config, backends: listed };
}

beforeAll(async () => {
  const shared = { uri: 'file:///shared', name: 'shared' };
  const wiki = await startMember({
    name: 'wiki',
    tools: [tool('find'), tool('search'), tool('note'), tool('fail'), tool(EVIL)],
    results: { fail: () => ({ isError: true, content: [{ type: 'text', text: SECRET }] }) },
    resources: [shared],
    prompts: [{ name: 'ask' }],
  });
  const mail = await startMember({ name: 'mail', tools: [tool('send'), tool('search')], resources: [shared] });
  members = [wiki, mail];
  const gone = { url: `http://user:${SECRET}@127.0.0.1:1/${SECRET}/mcp?key=${SECRET}` };
  server = await runVirtual(settings({ wiki, mail, gone }, { compositeTools: [FLOW, BROKEN] }), {
    [VMCP_ENV.sessionHmacSecret]: KEY,
  });
  for (let ready = false; !ready; ) ready = (await fetch(`${server.origin}/readyz`)).ok;
  await callFlow(await connect(server), {});
});

afterAll(async () => {
  await server.stop();
  for (const member of members) await member.close();
});

async function get(path: string, token = TOKEN) {
  const response = await fetch(server.origin + path, { headers: { [OPERATOR_HEADER]: token } });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

describe('the documents', () => {
  test('contain the tools of each backend, name conflicts and their resolution', async () => {
    const { offered, conflicts, conflict_resolution, name, metadata } = JSON.parse(
      (await get(OPERATOR_PATHS.status)).text,
    );
    expect([name, metadata, conflict_resolution]).toEqual(['office', { owner: 'the team' }, 'priority']);
    expect(offered).toContainEqual({ list: 'tools', name: 'search', backend: 'wiki', own: 'search', advertised: true });
    expect(offered).toContainEqual({ list: 'tools', name: 'note', backend: 'wiki', own: 'note', advertised: false });
    expect(offered).toContainEqual({ list: 'tools', name: 'flow', advertised: true });
    expect(offered).toContainEqual({ list: 'prompts', name: 'ask', backend: 'wiki', own: 'ask', advertised: true });
    expect(conflicts).toEqual([
      {
        list: 'tools',
        name: 'search',
        given_to: { backend: 'wiki', own: 'search' },
        others: [{ backend: 'mail', own: 'search' }],
      },
      {
        list: 'resources',
        name: 'file:///shared',
        given_to: { backend: 'mail', own: 'file:///shared' },
        others: [{ backend: 'wiki', own: 'file:///shared' }],
      },
    ]);
  });

  test('contain the state of each backend by name', async () => {
    const { backends } = JSON.parse((await get(OPERATOR_PATHS.status)).text);
    expect(backends).toMatchObject([
      { name: 'wiki', url: new URL(members[0]?.url ?? '').origin, status: 'healthy', metadata: { area: 'docs' } },
      { name: 'mail', status: 'healthy' },
      { name: 'gone', url: 'http://127.0.0.1:1', status: 'unhealthy' },
    ]);
  });

  test('contain the steps of workflows and the outcomes of their last runs', async () => {
    const { workflows, runs } = JSON.parse((await get(OPERATOR_PATHS.status)).text);
    expect(workflows).toMatchObject([
      {
        name: 'flow',
        shown: true,
        steps: [
          { id: 'find', tool: 'wiki.find', missing: false, depends_on: [] },
          { id: 'mail', tool: 'mail.send', depends_on: ['find'], conditional: true },
          { id: 'note', tool: 'wiki.note', depends_on: ['find'] },
          { id: 'end', tool: 'wiki.fail', depends_on: ['mail', 'note'] },
        ],
      },
      { name: 'broken', shown: false, steps: [{ id: 'lost', tool: 'mail.gone', missing: true }] },
    ]);
    expect(runs).toHaveLength(1);
    expect(runs[0]).toMatchObject({ workflow: 'flow', result: 'completed' });
    const ends = Object.fromEntries(
      runs[0].steps.map(({ id, result }: { id: string; result: string }) => [id, result]),
    );
    expect(ends).toEqual({ find: 'completed', mail: 'skipped', note: 'completed', end: 'failed' });
  });

  test('contain no credentials and no arguments', async () => {
    for (const path of Object.values(OPERATOR_PATHS)) {
      const { status, text } = await get(path);
      expect([status, text.includes(SECRET), text.includes(KEY)]).toEqual([200, false, false]);
    }
  });

  test('have the metrics, also if no port of metrics is configured', async () => {
    expect((await get(OPERATOR_PATHS.metrics)).text).toContain('toolhive_mcp_requests_total');
    expect((await fetch(`${server.origin}/metrics`)).status).toBe(404);
  });

  test('contain no backend names on the port for clients', async () => {
    for (const path of ['/status', '/api/backends/health']) {
      expect(await (await fetch(server.origin + path)).text()).not.toContain('wiki');
    }
    expect((await fetch(`${server.origin}/`)).status).toBe(404);
  });
});

test('do not exist for a request without the token, and cannot be changed', async () => {
  for (const path of Object.values(OPERATOR_PATHS)) {
    expect((await get(path, operatorToken('another'))).status).toBe(404);
    expect((await fetch(server.origin + path)).status).toBe(404);
    const headers = { [OPERATOR_HEADER]: TOKEN };
    expect((await fetch(server.origin + path, { method: 'POST', headers })).status).toBe(404);
  }
});

test('do not exist without a key, which no token can be derived from', async () => {
  const without = await runVirtual(settings({ wiki: { url: members[0]?.url ?? '' } }));
  const headers = { [OPERATOR_HEADER]: operatorToken('') };
  expect((await fetch(without.origin + OPERATOR_PATHS.status, { headers })).status).toBe(404);
  await without.stop();
});
