// The page as axe-core judges it: list, filters in use, one server, notices; in both colour schemes, on a desk and on a phone.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { axeFindings } from '../../harness/axe.ts';
import { type Browser, findBrowser, NO_BROWSER, startBrowser } from '../../harness/browser.ts';
import { openService, type Service } from '../service/service.ts';
import { CLOCK, entryOf, manyEntries } from './fixtures.ts';
import { shootPage } from './shoot.ts';

const executable = findBrowser();
if (executable === undefined) process.stderr.write(NO_BROWSER);

const LOOKS = [
  { colorScheme: 'light', width: 1280, height: 900 },
  { colorScheme: 'dark', width: 390, height: 844 },
] as const;

const VIEWS: readonly { readonly address: string; readonly shows: string }[] = [
  { address: '#/tools', shows: '71 servers' },
  { address: '#/tools?search=team&tag=wiki&sort=stars', shows: '10 servers' },
  { address: '#/tools?search=nothing-has-this', shows: 'Nothing matches' },
  { address: '#/tools/io.acme%2Fclock', shows: 'Connect a client' },
  { address: '#/tools/org.sample.mail%2Fserver-01', shows: 'Permissions' },
  { address: '#/tools/io.acme%2Fnobody', shows: 'There is no such server' },
];

describe.skipIf(executable === undefined)('axe', () => {
  let service: Service;
  let browser: Browser;
  let base: string;

  beforeAll(async () => {
    service = await openService();
    base = await service.app.listen({ host: '127.0.0.1', port: 0 });
    await service.fill([entryOf(CLOCK), ...manyEntries()], '2026-01-01T00:00:00.000Z');
    browser = await startBrowser(executable ?? '');
  });

  afterAll(async () => {
    await browser?.close();
    await service?.close();
  });

  test.each(VIEWS)('finds nothing at $address', async ({ address, shows }) => {
    const { page } = await browser.open();
    for (const { colorScheme, ...size } of LOOKS) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize(size);
      await page.goto(`${base}/${address}`);
      await page.reload();
      await page.locator('main').getByText(shows, { exact: true }).filter({ visible: true }).first().waitFor();
      expect(await axeFindings(page), colorScheme).toEqual([]);
    }
    await shootPage(page, `catalogue-${VIEWS.findIndex((each) => each.address === address)}`);
    await page.close();
  });

  test('finds what is wrong', async () => {
    const { page } = await browser.open();
    await page.goto(base);
    await page.getByText('71 servers').waitFor();
    await page.evaluate(`document.querySelector('label[for=search]').remove();
      document.querySelector('#search').removeAttribute('placeholder')`);
    expect((await axeFindings(page)).join()).toContain('label: <input');
    await page.close();
  });
});
