// HTML and JavaScript in every text of a catalogue: on the page they are what they look like, and nothing runs, leads
// elsewhere or is fetched.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '#std/json.ts';
import { type Browser, findBrowser, NO_BROWSER, startBrowser } from '../../harness/browser.ts';
import { openService, type Service } from '../service/service.ts';
import { CLOCK, entryOf } from './fixtures.ts';

const executable = findBrowser();
if (executable === undefined) process.stderr.write(NO_BROWSER);

const ATTACKS = [
  '<img src=x onerror="document.title=1">',
  '"><script>document.title=1</script>',
  "javascript:document.title='1'",
  'https://evil.example/"onmouseover="document.title=1',
  '\u202Etxet lanoitceridib',
  '__proto__',
  '${env:HOME} {tenant} {{7*7}}',
] as const;

const FIXED = ['$schema', 'name', 'version', 'type', 'registryType', 'isRequired', 'isSecret'];

/** The document with the text in the place of every other one, keys of open maps included. */
function poisoned(value: Json | undefined, text: string, key = ''): Json {
  if (typeof value === 'string') return FIXED.includes(key) && value !== 'CLOCK_ZONE' ? value : text;
  if (Array.isArray(value)) return value.map((item) => poisoned(item, text, key));
  if (typeof value !== 'object' || value === null) return value ?? null;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, poisoned(member, text, name)]));
}

describe.skipIf(executable === undefined)('hostile texts', () => {
  let service: Service;
  let browser: Browser;
  let base: string;

  beforeAll(async () => {
    service = await openService();
    base = await service.app.listen({ host: '127.0.0.1', port: 0 });
    const entries = ATTACKS.map((attack, index) => {
      const document = {
        ...(poisoned(CLOCK, attack) as JsonObject),
        name: `io.evil/server-${index}`,
        version: `1.0.${index}+${attack}`,
      };
      return entryOf(document, { statusMessage: attack, status: 'deprecated' });
    });
    await service.fill(entries, '2026-01-01T00:00:00.000Z');
    browser = await startBrowser(executable ?? '');
  });

  afterAll(async () => {
    await browser?.close();
    await service?.close();
  });

  test('stay text on the list and on the page of a server', async () => {
    const { page, requests, complaints } = await browser.open();
    await page.goto(base);
    await page.getByRole('status').getByText(`${ATTACKS.length} servers`).waitFor();
    for (const [index, attack] of ATTACKS.entries()) {
      const shown = page.locator('.card .description').nth(index);
      expect(await shown.textContent()).toBe(attack);
    }
    for (const [index, attack] of ATTACKS.entries()) {
      await page.goto(`${base}/#/tools/io.evil%2Fserver-${index}`);
      await page.locator('.details .name', { hasText: `io.evil/server-${index} ` }).waitFor();
      expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe(attack);
      expect(await page.title()).toBe(`${attack} · MCP servers`);
      const markup: number = await page.evaluate(
        `document.querySelectorAll('main :is(script, img, iframe, style, [onerror], [onmouseover], [style])').length`,
      );
      expect(markup).toBe(0);
      const links: string[] = await page.evaluate(
        `[...document.querySelectorAll('main a:not(.install)')].map(({ href }) => new URL(href).protocol)`,
      );
      expect(new Set(links)).toEqual(new Set(['http:', ...(attack.startsWith('https:') ? ['https:'] : [])]));
      const snippets = (await page.locator('pre').allTextContents()).join();
      expect(snippets).not.toContain('${env:HOME}');
    }
    expect(requests.filter((url) => !url.startsWith(`${base}/`))).toEqual([]);
    expect(complaints).toEqual([]);
    await page.close();
  });

  test('in the address are looked for, not run', async () => {
    const { page, complaints } = await browser.open();
    for (const attack of ['<img src=x onerror=alert(1)>', '%zz', '../../health', "'; drop table catalogue_entry; --"]) {
      await page.goto(`${base}/#/${encodeURIComponent(attack)}/${encodeURIComponent(attack)}`);
      await page.getByRole('heading', { level: 1, name: attack }).waitFor();
      await page.goto(`${base}/#/tools?search=${encodeURIComponent(attack)}&tag=${encodeURIComponent(attack)}`);
      await page.getByText('Nothing matches').waitFor();
    }
    // Of what the registry refuses the browser says that it was refused, and nothing else.
    expect(complaints.filter((complaint) => !complaint.startsWith('Failed to load resource'))).toEqual([]);
    await page.close();
  });

  test('the policy lets the page itself make no markup of a text', async () => {
    const { page } = await browser.open();
    await page.goto(base);
    await page.getByRole('status').getByText(`${ATTACKS.length} servers`).waitFor();
    await expect(page.evaluate(`document.body.innerHTML = '<b>x</b>'`)).rejects.toThrow('TrustedHTML');
    await page.close();
  });
});
