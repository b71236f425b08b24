// Tests the console in a real browser: login, the fleet, one resource, the runs, hostile text, the keyboard, and 1,000
// servers. In one file, because all tests share one browser and one console with a simulated fleet.

import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { axeFindings } from '../../harness/axe.ts';
import { type Browser, findBrowser, NO_BROWSER, startBrowser, type Tab } from '../../harness/browser.ts';
import { entryOf, fakeFleet, largeFleet, RUN, stateOf } from './console-app.ts';
import { EVIL, recordedRuns, smallFleet, WIKI, wikiDetail } from './console-fleet.ts';
import { DESK_READINGS, deskDetail, WIKI_LOGS, WIKI_READINGS } from './console-pods.ts';
import { controlApp } from './control-app.ts';
import { fakeActions } from './fake-actions.ts';

const executable = findBrowser();
if (executable === undefined) process.stderr.write(NO_BROWSER);

const TOKEN = 'let-me-in';
const DESK = 'docs/VirtualMCPServer/desk';
const fleet = fakeFleet(smallFleet());
const actions = fakeActions();
let browser: Browser;
let url: string;
let close: () => Promise<unknown>;

beforeAll(async () => {
  fleet.resources.set(WIKI, JSON.stringify(wikiDetail()));
  fleet.resources.set(`${WIKI} readings`, JSON.stringify(WIKI_READINGS));
  fleet.resources.set(`${WIKI} logs`, JSON.stringify(WIKI_LOGS));
  fleet.resources.set(DESK, JSON.stringify(deskDetail()));
  fleet.resources.set(`${DESK} readings`, JSON.stringify(DESK_READINGS));
  const operatorTokens = { values: async () => [TOKEN] };
  const app = controlApp({ fleet, actions, runs: recordedRuns(), operatorTokens });
  close = () => app.close();
  url = await app.listen({ host: '127.0.0.1', port: 0 });
  if (executable !== undefined) browser = await startBrowser(executable);
});

afterEach(async () => {
  fleet.put(smallFleet());
  for (const page of browser?.context.pages() ?? []) await page.close();
});

afterAll(async () => {
  await browser?.close();
  await close();
});

/** A tab with the console at an address, after its login. */
async function openAt(address = ''): Promise<Tab> {
  const tab = await browser.open();
  await tab.page.goto(`${url}/${address}`);
  await tab.page.getByLabel('Token').fill(TOKEN);
  await tab.page.keyboard.press('Enter');
  await tab.page.getByRole('navigation', { name: 'Views' }).waitFor();
  return tab;
}

function addressOf(id: string): string {
  return `#/resource/${encodeURIComponent(id)}`;
}

const FOLDER = process.env.SKEP_SCREENSHOTS;
const SIZES = [
  { size: 'wide', width: 1280 },
  { size: 'phone', width: 390 },
] as const;

async function shoot(page: Page, name: string): Promise<void> {
  if (FOLDER === undefined) return;
  for (const { size, width } of SIZES) {
    await page.setViewportSize({ width, height: 840 });
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      await page.screenshot({
        path: `${FOLDER}/${name}-${size}-${colorScheme}.png`,
        fullPage: !name.startsWith('large'),
      });
    }
  }
}

const VIEWS: readonly { readonly name: string; readonly address: string; readonly shows: string }[] = [
  { name: 'fleet', address: '#/fleet', shows: '11 of 17 are healthy, 4 need attention' },
  { name: 'map', address: '#/map', shows: 'Sources → groups → servers → virtual servers → registries' },
  { name: 'resource', address: addressOf(WIKI), shows: 'Manifest in Git' },
  { name: 'virtual-server', address: addressOf(DESK), shows: 'Last runs of its workflows' },
  { name: 'source', address: addressOf('Source/fleet'), shows: 'Declares' },
  { name: 'runs', address: '#/runs', shows: 'skep approve 3f1c0b5e9a7d2468' },
  { name: 'waiting', address: '#/waiting', shows: '3 things wait for you' },
];

describe.skipIf(executable === undefined)('the console', () => {
  test('asks for a token, keeps it in memory only, and requests nothing from elsewhere', async () => {
    const { page, requests, complaints } = await browser.open();
    await page.goto(`${url}/`);
    await page.getByLabel('Token').fill('wrong');
    await page.keyboard.press('Enter');
    await page.getByText('The reconciler does not know this token.').waitFor();
    await page.getByLabel('Token').fill(TOKEN);
    await page.keyboard.press('Enter');
    await page.getByText('11 of 17 are healthy, 4 need attention').waitFor();
    expect(await page.evaluate('document.cookie + JSON.stringify(localStorage) + JSON.stringify(sessionStorage)')).toBe(
      '{}{}',
    );
    expect(requests.filter((each) => !each.startsWith(url))).toEqual([]);
    expect(requests.filter((each) => each.includes(TOKEN))).toEqual([]);
    // The browser itself reports each 401.
    expect(complaints.filter((each) => !each.includes('401'))).toEqual([]);
    await page.reload();
    await page.getByLabel('Token').waitFor();
  });

  test.each(VIEWS)(
    'shows $name in both schemes and two widths, without findings of axe',
    async ({ name, address, shows }) => {
      const { page } = await openAt(address);
      await page.getByText(shows).filter({ visible: true }).first().waitFor();
      for (const { width } of SIZES) {
        await page.setViewportSize({ width, height: 840 });
        expect(await page.evaluate('document.documentElement.scrollWidth <= window.innerWidth'), name).toBe(true);
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.emulateMedia({ colorScheme });
          expect(await axeFindings(page), `${width} ${colorScheme}`).toEqual([]);
        }
      }
      await shoot(page, name);
    },
  );

  test('shows names, reasons, values and commit ids of others as text', async () => {
    const id = `tools/MCPServer/${EVIL}`;
    const entries = [
      entryOf('source', 'Source', { name: EVIL, why: EVIL }),
      entryOf('server', 'MCPServer', { name: EVIL, namespace: 'tools', state: 'failed', why: EVIL, source: EVIL }),
    ];
    fleet.put({ ...stateOf(entries), instance: EVIL });
    fleet.resources.set(id, JSON.stringify({ ...wikiDetail(), commit: EVIL, commitUrl: 'javascript:alert(1)' }));
    fleet.resources.set(`${id} readings`, JSON.stringify({ ...DESK_READINGS, resource: id }));
    const { page, complaints } = await openAt();
    for (const address of [
      '#/fleet',
      '#/map',
      addressOf(id),
      addressOf(`Source/${EVIL}`),
      '#/runs',
      `#/runs/${EVIL}`,
      '#/waiting',
    ]) {
      await page.goto(`${url}/${address}`);
      await page.getByText('<img').filter({ visible: true }).first().waitFor();
      expect(await page.locator('img').count(), address).toBe(0);
      expect(await page.locator('a[href^="javascript"]').count(), address).toBe(0);
    }
    expect(complaints.filter((each) => !each.includes('401'))).toEqual([]);
  });

  test('shows at each source its commit and its resources, and links to the things that wait and to the last run', async () => {
    const { page } = await openAt();
    const source = page.locator('.card', { hasText: 'Source' }).first();
    expect(await source.innerText()).toMatch(/^fleet\nSource · 9c1d0c5ad1\n13 resources, 4 need attention\b/);
    await page.getByRole('link', { name: '3 things wait for you' }).click();
    await page.getByRole('heading', { name: '3 things wait for you' }).waitFor();
    await page.getByRole('link', { name: /^last run/ }).click();
    await expect.poll(() => new URL(page.url()).hash).toBe(`#/runs/${RUN}`);
  });

  test('filters by state, namespace, kind, source and text', async () => {
    const { page } = await openAt();
    const cards = page.locator('.card .name');
    await page.getByRole('button', { name: '1 Failed' }).click();
    expect(await cards.allInnerTexts()).toEqual(['pager']);
    await page.getByRole('button', { name: '1 Failed' }).click();
    await page.getByLabel('Namespace').selectOption('docs');
    await page.getByLabel('Kind').selectOption('VirtualMCPServer');
    expect(await cards.allInnerTexts()).toEqual(['desk']);
    await page.getByRole('button', { name: 'Clear' }).click();
    await page.getByLabel('Source', { exact: true }).selectOption('platform');
    expect(await cards.allInnerTexts()).toEqual(['platform', 'company', 'catalogue']);
    await expect.poll(() => new URL(page.url()).hash).toBe('#/fleet?source=platform');
    await page.getByRole('button', { name: 'Clear' }).click();
    await page.getByLabel('Filter by text').fill('members pager');
    expect(await cards.allInnerTexts()).toEqual(['on-call']);
    await page.getByLabel('Filter by text').fill('no such thing');
    await page.getByText('Nothing matches these filters.').waitFor();
  });

  test('is used by keyboard: a filter by /, then to a resource and back', async () => {
    const { page } = await openAt();
    await page.locator('h1').waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('wiki');
    await page.locator('.attention .row').focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Manifest in Git' }).waitFor();
    expect(new URL(page.url()).hash).toBe(addressOf(WIKI));
    await page.goBack();
    await page.getByRole('heading', { name: 'need attention' }).waitFor();
    await page.goto(`${url}/#/map`);
    await page.locator('.node').first().focus();
    await page.locator('.canvas.focused').waitFor();
  });

  test('shows the diff of Git and cluster, pods and problems of a resource, and no value of a Secret', async () => {
    const { page } = await openAt(addressOf(WIKI));
    await page.getByRole('heading', { name: 'Manifest in Git' }).waitFor();
    const text = await page.locator('main').innerText();
    expect(text).toContain('kubectl-edit has set /spec/replicas');
    expect(text).toMatch(/\/spec\/replicas \(kubectl-edit\)\s+2\s+3/);
    expect(text).toContain('hidden, and different');
    expect(text).toContain('Git declares it, and the cluster does not have it.');
    expect(text).toContain('ImagePullBackOff: no such image');
    expect(text).toMatch(/Changed by the last run 2\s/);
    expect(text).toContain('failed: networkpolicies is forbidden');
    expect(await page.getByRole('link', { name: '9c1d0c5ad1' }).getAttribute('href')).toBe(
      'https://git.example.com/platform/fleet/commit/9c1d0c5ad1',
    );
  });

  test('shows the newest run in full with its commands, and another run when it is opened', async () => {
    const { page } = await openAt('#/runs');
    await page.getByText('skep approve 3f1c0b5e9a7d2468').waitFor();
    const text = await page.locator('main').innerText();
    expect(text).toContain(`/spec/image: "wiki:1.0.0" → ${JSON.stringify(EVIL)}`);
    expect(text).toContain('/data/config.json: changed (long)');
    expect(text).toContain('docs/MCPServer/wiki\n2 configured, 1 created');
    expect(text).toContain('ops/MCPServer/mail: it is invalid');
    expect(text).toContain('skep rollback --clear --source fleet');
    expect(text).not.toContain('no answer');
    await page.getByRole('button', { name: '1 Failed' }).click();
    expect(await page.locator('.run .state').allInnerTexts()).toEqual(['Failed']);
    await page.getByRole('button', { name: '1 Failed' }).click();
    await page.locator('.run > details > summary').nth(1).focus();
    await page.keyboard.press('Enter');
    await page.getByText('git-unreachable: no answer').waitFor();
    await page.goto(`${url}/#/runs/77aa3d10`);
    await page.getByText('Run 77aa3d10-7f1e-4b86-9d0e-000000000003.').waitFor();
  });

  test('says that nothing is known if the last run could not look', async () => {
    const failures = [{ code: 'cluster-unreachable', message: 'https://10.0.0.1: no answer' }];
    const entries = smallFleet().entries.map((entry) => ({ ...entry, state: 'unknown' as const, why: 'no answer' }));
    const now = stateOf(entries);
    fleet.put({ ...now, run: { id: 'r', at: new Date().toISOString(), commits: {}, failures } });
    const { page } = await openAt();
    await page.getByText('0 of 17 are healthy, 17 need attention').waitFor();
    await page.getByRole('alert').getByText('cluster-unreachable: https://10.0.0.1: no answer').waitFor();
    expect(await page.getByText('Healthy', { exact: true }).count()).toBe(0);
  });

  test('follows the runs: a state that changes is shown without a reload, and a break is shown', async () => {
    const { page } = await openAt();
    await page.getByText('11 of 17 are healthy').waitFor();
    await expect.poll(fleet.following).toBe(1);
    fleet.tell('began');
    await page.getByText('A run is under way').waitFor();
    fleet.put(stateOf([entryOf('source', 'Source', { name: 'fleet' })]));
    fleet.tell('fleet');
    fleet.tell('ended');
    await page.getByText('All 1 are healthy').waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
  });

  test('a hidden page holds no stream, and shows what has happened when it is seen again', async () => {
    const { page } = await openAt();
    await expect.poll(fleet.following).toBe(1);
    await setHidden(page, true);
    await expect.poll(fleet.following).toBe(0);
    fleet.put(stateOf([entryOf('source', 'Source', { name: 'fleet' })]));
    fleet.tell('fleet');
    await setHidden(page, false);
    await page.getByText('All 1 are healthy').waitFor();
    await expect.poll(fleet.following).toBe(1);
  });

  test('says that nothing is known before the first run has ended', async () => {
    fleet.put({ version: 1, instance: 'test', counts: {}, entries: [] });
    const { page } = await openAt();
    await page.getByText('Nothing is known before the first run has ended.').waitFor();
  });

  test('keeps the filters in the address: after a look at a resource, and in a link that someone else opens', async () => {
    const { page } = await openAt();
    await page.getByRole('button', { name: '1 Failed' }).click();
    await page.getByLabel('Namespace').selectOption('ops');
    await expect.poll(() => new URL(page.url()).hash).toBe('#/fleet?namespace=ops&state=failed');
    await page.locator('.card').click();
    await page.getByText('More cannot be shown').waitFor();
    expect(await page.title()).toBe('(4) ops/MCPServer/pager · prod');
    await page.goBack();
    expect(await page.locator('.card .name').allInnerTexts()).toEqual(['pager']);
    const { page: other } = await openAt('#/map?text=wiki&state=nonsense,drifted');
    await other.getByRole('button', { name: '1 Drifted', pressed: true }).waitFor();
    expect(await other.getByLabel('Filter by text').inputValue()).toBe('wiki');
  });

  test('offers commands of kubectl, in which a name cannot become a command of its own', async () => {
    const { page } = await openAt(addressOf(WIKI));
    const logs = 'kubectl -n docs logs deployment/wiki --all-containers --tail 100';
    await page.getByRole('button', { name: `Copy ${logs}` }).waitFor();
    await expect.poll(fleet.following).toBe(1);
    const name = "x'; rm -rf ~; '";
    const id = `docs/MCPServer/${name}`;
    fleet.put(stateOf([entryOf('server', 'MCPServer', { name, namespace: 'docs' })]));
    fleet.resources.set(id, JSON.stringify({ ...wikiDetail(), objects: [] }));
    fleet.tell('fleet');
    await page.goto(`${url}/${addressOf(id)}`);
    const quoted = `'x'\\''; rm -rf ~; '\\'''`;
    await page
      .getByText(`kubectl -n docs describe mcpserver.toolhive.stacklok.dev ${quoted}`, { exact: true })
      .waitFor();
  });
});

/** As if the tab were behind another one. */
async function setHidden(page: Page, hidden: boolean): Promise<void> {
  await page.evaluate(`
    Object.defineProperty(document, 'hidden', { configurable: true, value: ${hidden} });
    document.dispatchEvent(new Event('visibilitychange'));
  `);
}

/** Notes tasks that keep the page from answering for 50 ms or more, and for how long this machine makes so many bare elements. */
const COUNTERS = `
  globalThis.longTasks = [];
  new PerformanceObserver((list) => globalThis.longTasks.push(...list.getEntries().map(({ duration }) => duration)))
    .observe({ type: 'longtask', buffered: true });
  globalThis.bareMs = (count) => {
    const began = performance.now();
    const parent = document.createElement('div');
    for (let index = 0; index < count; index += 1) {
      const made = document.createElement('span');
      made.setAttribute('class', 'name text');
      made.append(String(index));
      parent.append(made);
    }
    document.body.append(parent);
    parent.getBoundingClientRect();
    parent.remove();
    return performance.now() - began;
  };
`;

/** A task of the console may take so many times as long as making 2,000 bare elements. */
const TIMES_BARE = 15;

describe.skipIf(executable === undefined)('a fleet of 1,000 servers', () => {
  test('is filtered without long tasks: few of its servers are drawn at a time', async () => {
    const { page } = await openAt();
    await page.evaluate(COUNTERS);
    await show(page, 1000);
    const input = page.getByLabel('Filter by text');
    const elements = await page.locator('main *').count();
    await page.evaluate('globalThis.longTasks.splice(0)');
    for (let times = 0; times < 3; times += 1) {
      await input.fill('');
      await page.getByRole('heading', { name: 'team-07' }).waitFor();
      for (const key of 'server-9') await input.press(key);
      await page.locator('.card .name').getByText('server-9', { exact: true }).waitFor();
    }
    const longTasks: readonly number[] = await page.evaluate('globalThis.longTasks.splice(0)');
    const bare: number = await page.evaluate('Math.min(...[1, 2, 3, 4, 5].map(() => globalThis.bareMs(2000)))');
    const rounded = longTasks.map(Math.round).join(', ') || 'none';
    process.stderr.write(`${elements} elements, 2,000 bare ones take ${Math.round(bare)} ms; long tasks: ${rounded}\n`);
    expect(elements).toBeLessThan(2000);
    expect(Math.max(0, ...longTasks)).toBeLessThan(Math.max(200, TIMES_BARE * bare));
    await input.fill('');
    await page.getByRole('heading', { name: 'team-07' }).waitFor();
    await page.setViewportSize({ width: 390, height: 840 });
    expect(await page.evaluate('document.documentElement.scrollWidth <= window.innerWidth')).toBe(true);
    await shoot(page, 'large');
  });

  test('has a map that folds servers, and shows those in trouble', async () => {
    const { page } = await openAt('#/map');
    await show(page, 1000);
    await page.locator('.node').first().waitFor();
    const nodes = await page.locator('.node').count();
    expect(nodes).toBeLessThan(100);
    expect(await page.locator('.node.failed:not(.folded)').count()).toBe(11);
    await shoot(page, 'large-map');
    await page.locator('.node.folded').first().click();
    await expect.poll(() => page.locator('.node').count()).toBeGreaterThan(nodes);
    await page.getByRole('button', { name: 'Fold again' }).click();
    await expect.poll(() => page.locator('.node').count()).toBe(nodes);
  });

  async function show(page: Page, servers: number): Promise<void> {
    const state = largeFleet(servers);
    await expect.poll(fleet.following).toBeGreaterThan(0);
    fleet.put(state);
    fleet.tell('fleet');
    await page.getByText(`of ${state.entries.length} are healthy`).waitFor();
  }
});
