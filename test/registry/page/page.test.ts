// The catalogue page in a real browser, over the real service and a real PostgreSQL: what a reader sees and does.

import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Browser, findBrowser, NO_BROWSER, startBrowser, type Tab } from '../../harness/browser.ts';
import { openService, type Service } from '../service/service.ts';
import { CLOCK, entryOf, manyEntries } from './fixtures.ts';

const JANUARY = '2026-01-01T00:00:00.000Z';
const executable = findBrowser();
if (executable === undefined) process.stderr.write(NO_BROWSER);

describe.skipIf(executable === undefined)('the catalogue page', () => {
  let service: Service;
  let browser: Browser;
  let base: string;
  let tab: Tab;
  let page: Page;

  beforeAll(async () => {
    service = await openService();
    base = await service.app.listen({ host: '127.0.0.1', port: 0 });
    const gone = entryOf({ ...CLOCK, name: 'io.acme/gone', title: 'Gone' });
    await service.fill([gone], '2025-12-01T00:00:00.000Z');
    await service.fill([entryOf(CLOCK), entryOf({ ...CLOCK, version: '1.9.0' }), ...manyEntries()], JANUARY);
    browser = await startBrowser(executable ?? '');
  });

  afterAll(async () => {
    await browser?.close();
    await service?.close();
  });

  beforeEach(async () => {
    tab = await browser.open();
    page = tab.page;
  });

  afterEach(async () => {
    expect(tab.requests.filter((url) => !url.startsWith(`${base}/`))).toEqual([]);
    await page.close();
  });

  function summary() {
    return page.getByRole('region', { name: 'Servers' }).getByRole('status');
  }

  /** Waits until the text is the whole summary. */
  async function summarised(text: string): Promise<void> {
    await summary()
      .filter({ hasText: new RegExp(`^${text}$`) })
      .waitFor();
  }

  function listed(): Promise<string[]> {
    return page.getByRole('main').getByRole('heading', { level: 2 }).allTextContents();
  }

  test('lists the latest versions, and more of them as one scrolls', async () => {
    await page.goto(base);
    await summarised('71 servers');
    expect((await listed()).slice(0, 3)).toEqual(['Clock', 'Files 0', 'Files 7']);
    expect(await page.title()).toBe('tools · MCP servers');
    const seen = new Set<string>();
    await expect
      .poll(async () => {
        for (const name of await listed()) seen.add(name);
        await page.keyboard.press('End');
        return seen.size;
      })
      .toBe(71);
    await expect.poll(() => page.getByText('More servers follow.').count()).toBe(0);
    expect(tab.complaints).toEqual([]);
  });

  test('orders by name, last change, stars and pulls, and keeps the order in the address', async () => {
    await page.goto(base);
    await summarised('71 servers');
    for (const [label, sort, first] of [
      ['Stars', 'stars', 'Files 14'],
      ['Pulls', 'pulls', 'Mail 1'],
      ['Last change', 'changed', 'Wiki 2'],
      ['Name', undefined, 'Clock'],
    ] as const) {
      await page.getByLabel('Sort by').selectOption(label);
      await expect.poll(async () => (await listed())[0]).toBe(first);
      expect(page.url()).toBe(sort === undefined ? `${base}/#/tools` : `${base}/#/tools?sort=${sort}`);
    }
    await page.goto(`${base}/#/tools?search=team&sort=pulls`);
    await expect.poll(async () => (await listed())[0]).toBe('Mail 1');
    expect(await page.getByLabel('Sort by').inputValue()).toBe('pulls');
  });

  test('searches names, tags, tools and descriptions by words, and counts live what is left', async () => {
    await page.goto(base);
    await summarised('71 servers');
    const transport = page.getByRole('group', { name: 'Transport' });
    await transport.getByRole('checkbox', { name: 'sse 24 servers' }).waitFor();
    for (const [search, count] of [
      ['working_days', '1 server'],
      ['zones tells clock', '1 server'],
      ['wiki rights', '10 servers'],
      ['wiki zones', 'No servers'],
    ] as const) {
      await page.getByRole('searchbox').fill(search);
      await summarised(count);
    }
    await page.getByRole('searchbox').fill('WIKI rights');
    await transport.getByRole('checkbox', { name: 'sse 3 servers' }).check();
    await summarised('3 servers');
    // What the other transport would add is still counted, and the tags of what is left.
    await transport.getByRole('checkbox', { name: 'stdio 7 servers' }).waitFor();
    await page.getByRole('group', { name: 'Tags' }).getByRole('checkbox', { name: 'wiki 3 servers' }).waitFor();
    expect(await page.evaluate('document.activeElement.value')).toBe('sse');
    expect(tab.complaints).toEqual([]);
  });

  test('shows on cards what publishers say: figures, true dates, permissions, a login', async () => {
    await page.goto(`${base}/#/tools?search=mail%201`);
    const card = page.locator('.card').filter({ hasText: 'server-01' });
    await card.waitFor();
    expect(await card.getByRole('list', { name: 'Figures' }).getByRole('listitem').allInnerTexts()).toEqual([
      '★ 12\n12 stars',
      '↓ 1.2M\n1,234,567 pulls',
      'Jan 1, 2026',
    ]);
    expect(await card.getByRole('list', { name: 'At a glance' }).getByRole('listitem').allTextContents()).toEqual([
      'Community',
      'stdio',
      '2 tools',
      'OAuth',
      'privileged',
      'any host',
      'writes files',
    ]);
    expect(await card.locator('.icon').textContent()).toBe('M');
    await page.goto(`${base}/#/tools?search=wiki%202`);
    await page.locator('.card', { hasText: 'Oct 26, 2026' }).first().waitFor();
    await page.goto(`${base}/#/tools/org.sample.mail%2Fserver-01`);
    await page.getByRole('heading', { name: 'Permissions' }).waitFor();
    const permissions = page.locator('section').filter({ has: page.getByRole('heading', { name: 'Permissions' }) });
    expect(await permissions.locator('dl > div').allTextContents()).toEqual([
      'Asks for a login athttps://id.sample.example, scope mail',
      'Reachesany host',
      'Reads files in/etc/mail',
      'Writes files in/var/mail',
      'Privilegedyes',
    ]);
  });

  test('searches as one types, asks once per pause, and keeps the search in the address', async () => {
    await page.goto(base);
    await summarised('71 servers');
    const before = tab.requests.length;
    await page.getByRole('searchbox', { name: 'Search servers' }).pressSequentially('mail');
    await summarised('10 servers');
    expect(tab.requests.slice(before)).toEqual([
      `${base}/tools/v0.1/servers?search=mail&version=latest&limit=30`,
      `${base}/tools/v0.1/x/dev.skep/facets?search=mail&version=latest`,
    ]);
    expect(page.url()).toBe(`${base}/#/tools?search=mail`);
    await page.reload();
    await summarised('10 servers');
    expect(await page.getByRole('searchbox').inputValue()).toBe('mail');
  });

  test('gives up the older of two searches, however late its answer comes', async () => {
    await page.goto(base);
    await summarised('71 servers');
    const held = Promise.withResolvers<void>();
    const reached = Promise.withResolvers<void>();
    await page.route('**/servers?search=mail*', async (route) => {
      reached.resolve();
      await held.promise;
      await route.continue().catch(() => undefined);
    });
    const failed = page.waitForEvent('requestfailed', (request) => request.url().includes('search=mail'));
    await page.getByRole('searchbox').fill('mail');
    await reached.promise;
    await page.getByRole('searchbox').fill('clock');
    await summarised('1 server');
    held.resolve();
    expect((await failed).failure()?.errorText).toBe('net::ERR_ABORTED');
    expect(await listed()).toEqual(['Clock']);
  });

  test('moves to the search with a slash, and shows what narrows the list, to be taken away', async () => {
    await page.goto(base);
    await summarised('71 servers');
    await page.getByRole('link', { name: 'Clock' }).first().focus();
    await page.keyboard.press('/');
    await page.keyboard.type('a/b');
    expect(await page.getByRole('searchbox').inputValue()).toBe('a/b');
    await page.getByRole('searchbox').fill('mail');
    await page.getByRole('group', { name: 'Tags' }).getByRole('checkbox', { name: /^mail/ }).check();
    const chips = page.getByRole('list', { name: 'Active filters' });
    await chips.getByRole('button', { name: 'Remove tag: mail' }).click();
    await expect.poll(() => chips.getByRole('button').allTextContents()).toEqual(['search: mail ×']);
    await chips.getByRole('button', { name: 'Remove search: mail' }).click();
    await summarised('71 servers');
    expect(await page.getByRole('searchbox').inputValue()).toBe('');
    expect(tab.complaints).toEqual([]);
  });

  test('narrows by tag, tier, transport and status, and takes it all back', async () => {
    await page.goto(base);
    const filters = page.getByRole('region', { name: 'Filters' });
    await filters.getByRole('group', { name: 'Tags' }).getByRole('checkbox', { name: 'wiki 10 servers' }).check();
    await summarised('10 servers');
    await filters.getByRole('group', { name: 'Transport' }).getByRole('checkbox', { name: /^sse/ }).check();
    await summarised('3 servers');
    await filters
      .getByRole('group', { name: 'Tier' })
      .getByRole('checkbox', { name: /^Official/ })
      .check();
    await page.getByText('Nothing matches').waitFor();
    expect(new URL(page.url()).hash).toBe('#/tools?tag=wiki&tier=Official&transport=sse');
    await page.getByRole('button', { name: 'Clear search and filters' }).click();
    await summarised('71 servers');
    expect(await focused(page)).toBe('search');
    expect(await filters.getByRole('checkbox', { checked: true }).count()).toBe(0);
    await filters.getByRole('checkbox', { name: /^deprecated/ }).check();
    await summarised('1 server');
    await filters.getByRole('checkbox', { name: /^deprecated/ }).uncheck();
    await filters.getByRole('checkbox', { name: 'deleted' }).check();
    await page.getByRole('link', { name: 'Gone' }).click();
    await page.getByText('This version was deleted.').waitFor();
    expect(tab.complaints).toEqual([]);
  });

  test('shows a server with all it needs, and goes back to where the reader was', async () => {
    await page.goto(`${base}/#/tools?search=clock`);
    await page.getByRole('link', { name: 'Clock' }).click();
    await page.getByRole('heading', { name: 'Connect a client' }).waitFor();
    expect(await page.getByRole('list', { name: 'Figures' }).count()).toBe(0);
    expect(page.url()).toBe(`${base}/#/tools/io.acme%2Fclock`);
    expect(await page.title()).toBe('Clock · MCP servers');
    expect(await focused(page)).toBe('Clock');
    expect(await page.getByRole('heading').allTextContents()).toEqual([
      'Clock',
      'Connect a client',
      'Overview',
      'Tools (3)',
      'Packages and remotes',
      'Remote streamable-http',
      'Headers',
      'Variables of the address',
      'Package ocistdio',
      'Environment variables',
      'Package npmstdio',
      'Versions',
    ]);
    expect(await page.locator('.inputs dt').allTextContents()).toEqual(
      expect.arrayContaining(['CLOCK_API_KEYrequiredsecret', 'Authorizationgiven', 'tokenrequiredsecret']),
    );
    await page.getByRole('link', { name: '1.9.0' }).click();
    await page.locator('.details .name', { hasText: '1.9.0' }).waitFor();
    expect(page.url()).toBe(`${base}/#/tools/io.acme%2Fclock/1.9.0`);
    await page.getByRole('link', { name: 'All servers in tools' }).click();
    await summarised('1 server');
    expect(page.url()).toBe(`${base}/#/tools?search=clock`);
    expect(await focused(page)).toBe('Clock');
    expect(tab.complaints).toEqual([]);
  });

  test('copies the configuration of the client and way that are chosen', async () => {
    await browser.context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: base });
    await page.goto(`${base}/#/tools/io.acme%2Fclock`);
    await page.getByRole('radio', { name: 'Cursor' }).check();
    await page.getByLabel('Run or reach it as').selectOption('npm: @acme/clock');
    await page.getByRole('button', { name: 'Copy .cursor/mcp.json' }).click();
    await page.getByText('Copied', { exact: true }).first().waitFor();
    expect(JSON.parse(await page.evaluate('navigator.clipboard.readText()'))).toEqual({
      mcpServers: { clock: { command: 'npx', args: ['-y', '@acme/clock@1.10.0'] } },
    });
  });

  test('is used with the keyboard alone', async () => {
    await page.goto(base);
    await summarised('71 servers');
    await page.keyboard.press('Tab');
    expect(await focused(page)).toBe('Skip to content');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    expect(await focused(page)).toBe('search');
    await page.keyboard.type('clock');
    await page.keyboard.press('Enter');
    await summarised('1 server');
    for (let presses = 0; (await focused(page)) !== 'Clock' && presses < 60; presses += 1) {
      expect(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle')).not.toBe('none');
      await page.keyboard.press('Tab');
    }
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Connect a client' }).waitFor();
    for (let presses = 0; (await focused(page)) !== 'VS Code' && presses < 20; presses += 1)
      await page.keyboard.press('Tab');
    await page.keyboard.press('ArrowRight');
    expect(await page.getByRole('region', { name: '.mcp.json', exact: true }).textContent()).toContain('mcpServers');
  });

  test('has landmarks, one heading of the first level and a name for every control', async () => {
    for (const address of ['#/tools', '#/tools/io.acme%2Fclock']) {
      await page.goto(`${base}/${address}`);
      await page.getByRole('main').getByRole('heading', { level: 2 }).first().waitFor();
      for (const role of ['banner', 'main'] as const) expect(await page.getByRole(role).count()).toBe(1);
      expect(await page.getByRole('heading', { level: 1 }).count()).toBe(1);
      const nameless: string = await page.evaluate(`[...document.querySelectorAll('button, input, select, a')]
        .filter((control) => (control.labels?.length ?? 0) === 0 && control.textContent.trim() === '' && control.ariaLabel === null)
        .map((control) => control.outerHTML).join()`);
      expect(nameless).toBe('');
    }
  });

  test('fits a phone without scrolling sideways', async () => {
    await page.setViewportSize({ width: 360, height: 740 });
    for (const address of ['#/tools', '#/tools/io.acme%2Fclock']) {
      await page.goto(`${base}/${address}`);
      await page.getByRole('main').getByRole('heading', { level: 2 }).first().waitFor();
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360);
    }
  });

  test('offers the registries of the service, and says when one is empty', async () => {
    await page.goto(base);
    await page.getByLabel('Registry').selectOption('with/slash');
    await page.getByText('This registry is empty').waitFor();
    expect(page.url()).toBe(`${base}/#/with%2Fslash`);
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Servers in with/slash');
    await page.goto(`${base}/#/nobody`);
    await page.getByText('There is no such registry').waitFor();
    await page.goto(`${base}/#/tools/io.acme%2Fnobody`);
    await page.getByText('There is no such server').waitFor();
  });

  test.each([
    [500, {}, 'The registry failed', 'status 500'],
    [503, { 'retry-after': '5' }, 'The registry is not available right now', 'in 5 seconds'],
    [429, { 'retry-after': '7' }, 'Too many requests', 'in 7 seconds'],
    [400, {}, 'The registry does not accept the request', 'so it says'],
  ])('tells status %i in words', async (status, headers, title, advice) => {
    await page.route('**/v0.1/servers?*', (route) =>
      route.fulfill({ status, headers, contentType: 'application/json', body: '{"error":"so it says"}' }),
    );
    await page.goto(base);
    const alert = page.getByRole('alert');
    await alert.getByText(title).waitFor();
    expect(await alert.textContent()).toContain(advice);
  });

  test('tells that the database is gone, and goes on when it is back', async () => {
    await page.goto(base);
    await summarised('71 servers');
    await service.loseDatabase();
    await page.getByRole('searchbox').fill('wiki');
    await page.getByRole('alert').getByText('The registry is not available right now').waitFor();
    await service.restoreDatabase();
    await page.getByRole('button', { name: 'Try again' }).click();
    await summarised('10 servers');
  });

  test('tells that there is no network, and goes on when there is', async () => {
    await page.goto(base);
    await summarised('71 servers');
    await page.context().setOffline(true);
    await page.getByRole('searchbox').fill('wiki');
    await page.getByRole('alert').getByText('The registry cannot be reached').waitFor();
    await page.context().setOffline(false);
    await page.getByRole('button', { name: 'Try again' }).click();
    await summarised('10 servers');
  });
});

/** The text or the id of what has the focus. */
function focused(page: Page): Promise<string> {
  return page.evaluate(
    `(({ activeElement: at }) => at.id !== '' && at.id !== 'skip' ? at.id : (at.textContent || at.value))(document)`,
  );
}
