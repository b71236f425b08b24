// The console in a real browser: login, the fleet, one resource, hostile text, keyboard, a thousand servers.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { axeFindings } from '../../harness/axe.ts';
import { type Browser, findBrowser, NO_BROWSER, startBrowser, type Tab } from '../../harness/browser.ts';
import { entryOf, fakeFleet, largeFleet, RUN, stateOf } from './console-app.ts';
import { EVIL, recordedRuns, smallFleet, WIKI, wikiDetail } from './console-fleet.ts';
import { controlApp } from './control-app.ts';

const executable = findBrowser();
if (executable === undefined) process.stderr.write(NO_BROWSER);

const TOKEN = 'let-me-in';
const fleet = fakeFleet(smallFleet());
let browser: Browser | undefined;
let url: string;
let close: () => Promise<unknown>;

beforeAll(async () => {
  fleet.resources.set(WIKI, JSON.stringify(wikiDetail()));
  const app = controlApp({ fleet, runs: recordedRuns(), tokens: { values: async () => [TOKEN] } });
  close = () => app.close();
  url = await app.listen({ host: '127.0.0.1', port: 0 });
  if (executable !== undefined) browser = await startBrowser(executable);
});

afterAll(async () => {
  await browser?.close();
  await close();
});

/** A tab with the console at an address, after its login. */
async function openAt(address = ''): Promise<Tab> {
  if (browser === undefined) throw new Error('no browser was started');
  const tab = await browser.open();
  await tab.page.goto(`${url}/${address}`);
  await tab.page.getByLabel('Token').fill(TOKEN);
  await tab.page.keyboard.press('Enter');
  await tab.page.locator('main.page h1').waitFor();
  return tab;
}

const FOLDER = process.env.SKEP_SCREENSHOTS;

async function shoot({ page }: Tab, name: string): Promise<void> {
  if (FOLDER === undefined) return;
  for (const [size, width] of [
    ['wide', 1280],
    ['phone', 390],
  ] as const) {
    await page.setViewportSize({ width, height: 840 });
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      await page.screenshot({ path: `${FOLDER}/${name}-${size}-${colorScheme}.png`, fullPage: size === 'phone' });
    }
  }
  await page.setViewportSize({ width: 1280, height: 840 });
  await page.emulateMedia({ colorScheme: 'light' });
}

describe.skipIf(executable === undefined)('screens', () => {
  test('all', async () => {
    const tab = await openAt();
    await shoot(tab, 'fleet');
    await tab.page.goto(`${url}/#/map`);
    await tab.page.locator('.map').waitFor();
    await shoot(tab, 'map');
    await tab.page.goto(`${url}/#/resource/${encodeURIComponent(WIKI)}`);
    await tab.page.getByText('Manifest in Git').waitFor();
    await tab.page.setViewportSize({ width: 1280, height: 1500 });
    await shoot(tab, 'resource');
    await tab.page.goto(`${url}/#/runs`);
    await tab.page.getByText('approve 3f1c0b5e9a7d2468').waitFor();
    await shoot(tab, 'runs');
    fleet.put(largeFleet(1000));
    fleet.tell('fleet');
    await tab.page.goto(`${url}/#/fleet`);
    await tab.page.getByRole('heading', { name: 'team-07' }).waitFor();
    await shoot(tab, 'large');
    await tab.page.goto(`${url}/#/map`);
    await shoot(tab, 'largemap');
    expect(tab.complaints.filter((each) => !each.includes('401'))).toEqual([]);
  });
});
