// The page of one resource in a real browser: what its pods say, what it offers to whom, and what could not be read.

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type Browser, findBrowser, NO_BROWSER, startBrowser, type Tab } from '../../harness/browser.ts';
import { fakeFleet } from './console-app.ts';
import { recordedRuns, smallFleet, WIKI, wikiDetail } from './console-fleet.ts';
import { DESK_READINGS, deskDetail, WIKI_LOGS, WIKI_READINGS } from './console-pods.ts';
import { controlApp } from './control-app.ts';

const executable = findBrowser();
if (executable === undefined) process.stderr.write(NO_BROWSER);

const TOKEN = 'let-me-in';
const DESK = 'docs/VirtualMCPServer/desk';
const fleet = fakeFleet(smallFleet());
let browser: Browser;
let url: string;
let close: () => Promise<unknown>;

beforeAll(async () => {
  const app = controlApp({ fleet, runs: recordedRuns(), tokens: { values: async () => [TOKEN] } });
  close = () => app.close();
  url = await app.listen({ host: '127.0.0.1', port: 0 });
  if (executable !== undefined) browser = await startBrowser(executable);
  fill();
});

afterEach(async () => {
  fill();
  for (const page of browser?.context.pages() ?? []) await page.close();
});

afterAll(async () => {
  await browser?.close();
  await close();
});

function fill(): void {
  const texts = {
    [WIKI]: wikiDetail(),
    [`${WIKI} logs`]: WIKI_LOGS,
    [`${WIKI} readings`]: WIKI_READINGS,
    [DESK]: deskDetail(),
    [`${DESK} readings`]: DESK_READINGS,
  };
  for (const [id, value] of Object.entries(texts)) fleet.resources.set(id, JSON.stringify(value));
}

async function openResource(id: string): Promise<Tab> {
  const tab = await browser.open();
  await tab.page.goto(`${url}/#/resource/${encodeURIComponent(id)}`);
  await tab.page.getByLabel('Token').fill(TOKEN);
  await tab.page.keyboard.press('Enter');
  await tab.page.getByRole('heading', { name: 'Manifest in Git' }).waitFor();
  return tab;
}

describe.skipIf(executable === undefined)('the page of a resource', () => {
  test('shows calls and errors a minute, by tool, and the pods whose metrics cannot be read', async () => {
    const { page } = await openResource(WIKI);
    await page.getByText('Requests a minute').waitFor();
    const text = await page.locator('main').innerText();
    expect(text).toMatch(/Requests a minute\s*92\.4\s*48,210 in all/);
    expect(text).toContain('2 pods, over the last 9 min.');
    expect(text).toContain('The metrics of wiki-6d9c-w7p cannot be read: https://10.0.0.1: the pod does not listen');
    const row = page.getByRole('region', { name: 'Calls by tool' }).getByRole('row', { name: /read_page/ });
    expect(await row.innerText()).toMatch(/read_page\s+20\.2\s+9,100\s+298\s+31 ms/);
  });

  test('says so if no metrics can be read at all', async () => {
    const readings = { version: 1, resource: WIKI, pods: [], unread: 'pods is forbidden' };
    fleet.resources.set(`${WIKI} readings`, JSON.stringify(readings));
    const { page } = await openResource(WIKI);
    await page.getByText('The metrics cannot be read: pods is forbidden').waitFor();
    fleet.resources.delete(`${WIKI} readings`);
    await page.reload();
    await page.getByLabel('Token').fill(TOKEN);
    await page.keyboard.press('Enter');
    await page.getByText(/The metrics cannot be read: the last run knew no resource/).waitFor();
  });

  test('says who may call which tool', async () => {
    const { page } = await openResource(WIKI);
    await page.getByText('Callers need a token of https://id.example.com, for the audience wiki.').waitFor();
    const tools = page.getByRole('region', { name: 'Tools' });
    expect(await tools.getByRole('row', { name: /write_page/ }).innerText()).toMatch(/write_page\s+2/);
    await page.getByText('The policies', { exact: true }).click();
    await page.getByText('principal in THVGroup::"editors"').waitFor();
    const { page: desk } = await openResource(DESK);
    await desk.getByText('Callers need no token. They may call every tool.').waitFor();
    await desk.getByText('Git does not say which tools handbook has.').waitFor();
  });

  test('shows Events, what to do, and why Events could not be read', async () => {
    const { page } = await openResource(WIKI);
    const events = page.getByRole('region', { name: 'Events' });
    expect(await events.getByRole('row').count()).toBe(3);
    await page.getByText('Its image cannot be pulled.').waitFor();
    const { page: desk } = await openResource(DESK);
    await desk.getByText('Events cannot be read: https://10.0.0.1: events is forbidden').waitFor();
    await desk.getByText('the last after OOMKilled, exit code 137').waitFor();
  });

  test('reads logs when someone opens them, and shows them as text', async () => {
    const { page, requests } = await openResource(WIKI);
    expect(requests.filter((each) => each.includes('/logs'))).toEqual([]);
    await page.getByRole('button', { name: 'Show the last lines' }).click();
    await page.getByText('request of <img').waitFor();
    await page.getByText('is waiting to start: ImagePullBackOff').waitFor();
    await page.getByText('The logs of 2 more containers were not read.').waitFor();
    expect(await page.locator('img').count()).toBe(0);
    await page.getByRole('button', { name: 'Read again' }).click();
    await expect.poll(() => requests.filter((each) => each.includes('/logs')).length).toBe(2);
  });

  test('shows the members, conflicts and workflows of a virtual server', async () => {
    const { page } = await openResource(DESK);
    await page.getByText('unhealthy, offers nothing: connection refused').waitFor();
    for (const summary of await page.locator('.folded-part > summary').all()) await summary.press('Enter');
    const text = await page.locator('main').innerText();
    expect(text).toContain('healthy, 3 tools (1 hidden), 1 prompt');
    expect(text).toContain('Step note: there is no tool wiki.gone.');
    expect(text).toContain('ask skipped; read completed, 2 retries');
    const graph = page.getByRole('img', {
      name: 'find starts at once; ask after find; read after find; note after ask and read',
    });
    expect(await graph.locator('rect').count()).toBe(4);
    expect(await graph.locator('path').count()).toBe(4);
    fleet.resources.set(
      `${DESK} readings`,
      JSON.stringify({ version: 1, resource: DESK, pods: [], virtualServerUnread: 'it is not found' }),
    );
    const { page: other } = await openResource(DESK);
    await other.getByText('The virtual server cannot be read: it is not found').waitFor();
  });
});
