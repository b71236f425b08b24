// A catalogue as large as the official registry's, 21,000 servers, in a real browser: what is in the document, and what a key
// costs, depends on what is looked at and not on how much there is. Prints the long tasks that it counted.

import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Browser, findBrowser, NO_BROWSER, startBrowser } from '../../harness/browser.ts';
import { openService, type Service } from '../service/service.ts';
import { entryOf } from './fixtures.ts';

const SERVERS = 21_000;
/** A page of a list is 30; of those that are near, a few. */
const CARDS_MAX = 300;
const ELEMENTS_OF_CARD = 60;
const executable = findBrowser();
if (executable === undefined) process.stderr.write(NO_BROWSER);

const SUBJECTS = ['mail', 'wiki', 'clock', 'files', 'tickets', 'metrics', 'calendar'] as const;

function entries() {
  return Array.from({ length: SERVERS }, (_, index) => {
    const subject = SUBJECTS[index % SUBJECTS.length] ?? 'mail';
    const tools = Array.from({ length: 12 }, (_each, tool) => `${subject}_tool_${tool}`);
    const metadata = { stars: (index * 7919) % 10_007, pulls: (index * 104_729) % 1_000_003 };
    return entryOf({
      name: `org.sample.${subject}/server-${String(index).padStart(5, '0')}`,
      description: `Reads and writes ${subject}, with the rights of whoever asks. `.repeat(4),
      version: '1.0.0',
      packages: [{ registryType: 'npm', identifier: `sample-${index}`, transport: { type: 'stdio' } }],
      _meta: {
        'io.modelcontextprotocol.registry/publisher-provided': {
          'org.sample': { main: { tier: 'Community', tags: [subject, `group-${index % 400}`], tools, metadata } },
        },
      },
    });
  });
}

/** Counts from the start of the page: elements made, and tasks that kept it from answering for 50 ms or more. */
const COUNTERS = `
  globalThis.made = 0;
  const { createElement } = Document.prototype;
  Document.prototype.createElement = function (...given) { globalThis.made += 1; return createElement.apply(this, given); };
  globalThis.longTasks = [];
  new PerformanceObserver((list) => globalThis.longTasks.push(...list.getEntries().map(({ duration }) => duration)))
    .observe({ type: 'longtask', buffered: true });
`;

interface Counted {
  readonly cards: number;
  readonly elements: number;
  readonly made: number;
  readonly longTasks: readonly number[];
}

function counted(page: Page): Promise<Counted> {
  return page.evaluate(`({
    cards: document.querySelectorAll('.card').length,
    elements: document.querySelectorAll('*').length,
    made: globalThis.made,
    longTasks: globalThis.longTasks.splice(0),
  })`);
}

function report(what: string, { longTasks }: Counted): void {
  const longest = Math.round(Math.max(0, ...longTasks));
  process.stderr.write(`${what}: ${longTasks.length} long tasks, the longest ${longest} ms\n`);
}

describe.skipIf(executable === undefined)(`a catalogue of ${SERVERS} servers`, () => {
  let service: Service;
  let browser: Browser;
  let page: Page;
  let base: string;

  beforeAll(async () => {
    service = await openService();
    base = await service.app.listen({ host: '127.0.0.1', port: 0 });
    await service.fill(entries(), '2026-01-01T00:00:00.000Z');
    browser = await startBrowser(executable ?? '');
    ({ page } = await browser.open());
    await page.addInitScript(COUNTERS);
    await page.goto(base);
    await showFirst();
  });

  /** The first list may take longer than the page waits, on a busy machine. */
  async function showFirst(): Promise<void> {
    const [all, again] = [total('21,000 servers'), page.getByRole('button', { name: 'Try again' })];
    for (;;) {
      await all.or(again).first().waitFor();
      if (await all.isVisible()) return;
      process.stderr.write(`the page says: ${await page.getByRole('alert').allInnerTexts()}\n`);
      await again.first().click();
    }
  }

  function total(text: string) {
    return page.getByRole('region', { name: 'Servers' }).getByText(text, { exact: true });
  }

  afterAll(async () => {
    await browser?.close();
    await service?.close();
  });

  test('is scrolled through with few of them in the document, down and up again', async () => {
    report('shown first', await counted(page));
    const positions = new Set<number>();
    const places = async (): Promise<number[]> =>
      await page.evaluate(`[...document.querySelectorAll('.card')].map((card) => Number(card.ariaPosInSet))`);
    const look = async (key: string) => {
      const { cards, elements } = await counted(page);
      expect(cards).toBeLessThanOrEqual(CARDS_MAX);
      expect(elements).toBeLessThanOrEqual(CARDS_MAX * ELEMENTS_OF_CARD);
      for (const position of await places()) positions.add(position);
      await page.keyboard.press(key);
    };
    await expect.poll(async () => look('End').then(() => positions.size)).toBeGreaterThan(1500);
    report('scrolled to the end of 1500', await counted(page));
    const last = Math.max(...positions);
    // None is left out, and what has been left is there again.
    expect(positions.size).toBeGreaterThan(last - CARDS_MAX);
    await expect.poll(async () => look('Home').then(places)).toContain(1);
    expect((await counted(page)).cards).toBeLessThanOrEqual(CARDS_MAX);
  });

  test('is searched key by key with no more work than what is found first needs', async () => {
    const before = await counted(page);
    await page.keyboard.press('/');
    for (const key of 'calendar tool_11 group-39') await page.keyboard.press(key === ' ' ? 'Space' : key);
    await total('83 servers').waitFor();
    const after = await counted(page);
    report('searched', after);
    // Each pause in typing asks for a page of the list and its counts; there are at most as many as keys.
    expect((after.made - before.made) / 'calendar tool_11 group-39'.length).toBeLessThan(30 * ELEMENTS_OF_CARD);
    expect(after.cards).toBeLessThanOrEqual(CARDS_MAX);
  });

  test('is ordered and narrowed as fast', async () => {
    const before = await counted(page);
    await page.getByRole('searchbox').fill('');
    await total('21,000 servers').waitFor();
    await page.getByLabel('Sort by').selectOption('Stars');
    await expect.poll(() => page.locator('.card .figures').first().innerText()).toContain('10,006 stars');
    await page.getByRole('checkbox', { name: 'wiki 3,000 servers' }).check();
    await total('3,000 servers').waitFor();
    const after = await counted(page);
    report('ordered and narrowed', after);
    expect(after.made - before.made).toBeLessThan(4 * 30 * ELEMENTS_OF_CARD + 4000);
  });
});
