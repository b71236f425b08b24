// Tests the admin listener of a virtual server: its documents with names, and its page in a real browser.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { VmcpConfig } from '#contracts/vmcp-config.ts';
import { axeFindings } from '../../harness/axe.ts';
import { type Browser, findBrowser, NO_BROWSER, startBrowser } from '../../harness/browser.ts';
import { startMember, type TestMember, tool } from './member.ts';
import { callFlow, workflow } from './workflow-world.ts';
import { configOf, connect, operational, runVirtual, type TestedVirtualServer } from './world.ts';

const executable = findBrowser();
if (executable === undefined) process.stderr.write(NO_BROWSER);

const EVIL = '<img src=x onerror="alert(1)">';
const SECRET = 'not-for-anybody';
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
let admin: string;

function settings(backends: Record<string, Pick<TestMember, 'url'>>, more: Partial<VmcpConfig> = {}): VmcpConfig {
  const config = configOf(backends, {
    ...operational({ unhealthyThreshold: 1, partialFailureMode: 'best_effort' }),
    admin: { address: '127.0.0.1', port: 0 },
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
  server = await runVirtual(settings({ wiki, mail, gone }, { compositeTools: [FLOW, BROKEN] }));
  admin = server.adminUrl ?? '';
  for (let ready = false; !ready; ) ready = (await fetch(`${server.origin}/readyz`)).ok;
  await callFlow(await connect(server), {});
});

afterAll(async () => {
  await server.stop();
  for (const member of members) await member.close();
});

async function get(path: string, headers: Record<string, string> = {}) {
  const response = await fetch(admin + path, { headers });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

describe('the documents', () => {
  test('contain the tools of each backend, name conflicts and their resolution', async () => {
    const { offered, conflicts, conflict_resolution, name, metadata } = JSON.parse((await get('/status')).text);
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
    const { backends } = JSON.parse((await get('/api/backends/health')).text);
    expect(backends).toMatchObject([
      { name: 'wiki', url: new URL(members[0]?.url ?? '').origin, status: 'healthy', metadata: { area: 'docs' } },
      { name: 'mail', status: 'healthy' },
      { name: 'gone', url: 'http://127.0.0.1:1', status: 'unhealthy' },
    ]);
  });

  test('contain the steps of workflows and the outcomes of their last runs', async () => {
    const { workflows, runs } = JSON.parse((await get('/status')).text);
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
    for (const path of ['/status', '/api/backends/health']) expect((await get(path)).text).not.toContain(SECRET);
  });

  test('contain no backend names on the port for clients', async () => {
    for (const path of ['/status', '/api/backends/health']) {
      expect(await (await fetch(server.origin + path)).text()).not.toContain('wiki');
    }
    expect((await fetch(`${server.origin}/`)).status).toBe(404);
  });
});

test('the listener accepts only reads, has a strict content policy, and refuses other hosts', async () => {
  const { status, headers } = await get('/');
  expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
  expect(headers.get('content-security-policy')).toContain("require-trusted-types-for 'script'");
  expect(headers.get('content-security-policy')).not.toContain('unsafe');
  expect((await get('/page/tsconfig.json')).status).toBe(404);
  expect((await get('/page/..%2Fassets.ts')).status).toBe(404);
  expect((await fetch(`${admin}/status`, { method: 'POST' })).status).toBe(405);
  expect((await get('/status', { origin: 'https://elsewhere.example' })).status).toBe(403);
});

test('without the setting no admin listener opens', async () => {
  const { admin: _admin, ...config } = settings({ wiki: { url: members[0]?.url ?? '' } });
  const without = await runVirtual(config);
  expect(without.adminUrl).toBeUndefined();
  await without.stop();
});

const LOOKS = [
  { colorScheme: 'light', width: 1280, height: 900 },
  { colorScheme: 'dark', width: 390, height: 844 },
] as const;

test.skipIf(executable === undefined)('the page shows all data as text, and axe reports no problem', async () => {
  const browser: Browser = await startBrowser(executable ?? '');
  const { page, requests, complaints } = await browser.open();
  await page.goto(`${admin}/`);
  await page.getByRole('heading', { name: 'office' }).waitFor();
  for (const summary of await page.locator('summary').all()) await summary.press('Enter');
  const text = await page.locator('main').innerText();
  expect(text).toContain('2 of 3 backends healthy');
  expect(text).toContain('5 tools (2 hidden), 1 prompt');
  expect(text).toContain('The tool search belongs to wiki, not to mail');
  expect(text).toContain('Step lost: there is no tool mail.gone');
  expect(text).toContain('mail skipped');
  expect(text).toContain(EVIL);
  const graph = page.getByRole('img', {
    name: 'find starts at once; mail after find; note after find; end after mail and note',
  });
  expect(await graph.locator('rect').count()).toBe(4);
  expect(await graph.locator('path').count()).toBe(4);
  for (const { colorScheme, ...size } of LOOKS) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize(size);
    expect(await axeFindings(page)).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth <= window.innerWidth')).toBe(true);
    if (process.env.SKEP_SCREENSHOTS !== undefined) {
      await page.screenshot({ path: `${process.env.SKEP_SCREENSHOTS}/vmcp-${colorScheme}.png`, fullPage: true });
    }
  }
  expect(await page.locator('img').count()).toBe(0);
  await page.getByRole('button', { name: 'Look again' }).click();
  await page.getByRole('heading', { name: 'office' }).waitFor();
  expect(requests.filter((each) => !each.startsWith(admin))).toEqual([]);
  expect(complaints).toEqual([]);
  await browser.close();
});
