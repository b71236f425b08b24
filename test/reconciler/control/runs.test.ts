// The last runs over HTTP: as JSON for whoever has the token, and in a real browser for people.

import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { Runs } from '#reconciler/control/ports.ts';
import { jsonOfHistory, jsonOfRecord } from '#reconciler/report/history.ts';
import { findRun } from '#reconciler/run/history/find.ts';
import type { RunRecord } from '#reconciler/run/history/ports.ts';
import { failedRecord } from '#reconciler/run/history/record.ts';
import { Failure } from '#std/failure.ts';
import { type Browser, findBrowser, NO_BROWSER, startBrowser } from '../../harness/browser.ts';
import { controlApp } from './control-app.ts';

const executable = findBrowser();
if (executable === undefined) process.stderr.write(NO_BROWSER);

const TOKEN = 'let-me-in';
const AT = '2026-01-01T00:00:00.000Z';
const EMPTY = failedRecord({ id: '', startedAt: AT, finishedAt: AT }, new Failure('x', 'y'));
const EVIL = '<img src=x onerror="alert(1)">';

const WAITING: RunRecord = {
  ...EMPTY,
  id: '0b6e2f6c-7f1e-4b86-9d0e-000000000002',
  finishedAt: '2026-01-01T00:00:02.500Z',
  state: 'waiting',
  commits: { fleet: '9c1d0c5ad19c1d0c5ad19c1d0c5ad19c1d0c5ad1' },
  failures: [],
  summary: { ...EMPTY.summary, configured: 1, held: 1 },
  outcomes: [
    {
      action: 'configured',
      resource: 'tools/MCPServer/clock',
      diff: [
        { path: '/spec/image', before: 'clock:1.0.0', after: EVIL },
        { path: '/data/config.json', long: true },
      ],
    },
  ],
  held: [
    { resource: 'tools/MCPServer/news', reason: 'its deletion waits for approval' },
    { resource: 'tools/MCPServer/mail', reason: 'it is invalid' },
  ],
  approvals: [
    {
      source: 'fleet',
      hash: '3f1c0b5e9a7d2468',
      reasons: ['1 deletion, more than apply.maxDeletes allows (0)'],
      deletions: ['tools/MCPServer/news'],
    },
  ],
  pinned: [{ source: 'fleet', good: '41be9e2f0741be9e2f07', bad: '77be9e2f0741be9e2f07' }],
};
const FAILED: RunRecord = {
  ...EMPTY,
  id: '5a3f3d10-7f1e-4b86-9d0e-000000000001',
  failures: [{ code: 'git-unreachable', message: 'no answer' }],
};

let records: readonly RunRecord[] | Failure;
let browser: Browser | undefined;
let url: string;
let close: () => Promise<unknown>;

const runs: Runs = {
  list: async () => jsonOfHistory(recordsNow()),
  find: async (start) => jsonOfRecord(findRun(recordsNow(), start)),
};

let asked = 0;

function recordsNow(): readonly RunRecord[] {
  asked += 1;
  if (records instanceof Failure) throw records;
  return records;
}

beforeAll(async () => {
  records = [WAITING, FAILED];
  const app = controlApp({ runs, tokens: { values: async () => [TOKEN] } });
  close = () => app.close();
  url = await app.listen({ host: '127.0.0.1', port: 0 });
  if (executable !== undefined) browser = await startBrowser(executable);
});

afterEach(() => {
  records = [WAITING, FAILED];
});

afterAll(async () => {
  await browser?.close();
  await close();
});

async function get(path: string, headers: Record<string, string> = { authorization: `Bearer ${TOKEN}` }) {
  const response = await fetch(url + path, { headers });
  return { status: response.status, headers: response.headers, body: await response.text() };
}

test('runs are shown to whoever has the token, in the form of skep history', async () => {
  expect((await get('/runs')).body).toBe(jsonOfHistory([WAITING, FAILED]));
  expect((await get('/runs/0b6e2f6c')).body).toBe(jsonOfRecord(WAITING));
  asked = 0;
  for (const path of ['/runs', '/runs/0b6e2f6c']) {
    for (const headers of [{}, { authorization: 'Bearer wrong' }] as Record<string, string>[]) {
      const { status, body } = await get(path, headers);
      expect([status, JSON.parse(body).code]).toEqual([401, 'control-unauthorized']);
    }
  }
  expect(asked).toBe(0);
});

test('what is not there, or cannot be read, says so', async () => {
  const missing = await get('/runs/ffffffff');
  expect([missing.status, JSON.parse(missing.body).code]).toEqual([404, 'control-run-not-found']);
  expect((await get('/runs/page/tsconfig.json')).status).toBe(404);
  expect((await get('/runs/page/..%2Fassets.ts')).status).toBe(404);
  records = new Failure('database-unreachable', 'db_app@secret-host: no answer');
  const unreadable = await get('/runs');
  expect([unreadable.status, JSON.parse(unreadable.body).code]).toEqual([503, 'control-history-unreadable']);
  expect(unreadable.body).not.toContain('secret-host');
});

test('a browser gets a page without data and without a token, under a strict policy', async () => {
  const { status, headers, body } = await get('/runs', { accept: 'text/html,*/*;q=0.8' });
  expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
  expect(headers.get('content-security-policy')).toContain("default-src 'none'");
  expect(headers.get('content-security-policy')).not.toContain('unsafe');
  expect(body).not.toContain('clock');
});

test.skipIf(executable === undefined)(
  'the page asks for a token, shows the newest run in full with the command to approve, and works by keyboard',
  async () => {
    if (browser === undefined) throw new Error('no browser was started');
    const { page, requests, complaints } = await browser.open();
    await page.goto(`${url}/runs`);
    await page.getByLabel('Token').fill('wrong');
    await page.keyboard.press('Enter');
    await page.getByText('The reconciler does not know this token.').waitFor();
    await page.getByLabel('Token').fill(TOKEN);
    await page.keyboard.press('Enter');
    await page.getByText('skep approve 3f1c0b5e9a7d2468').waitFor();
    const text = await page.locator('main').innerText();
    expect(text).toContain(`/spec/image: "clock:1.0.0" → ${JSON.stringify(EVIL)}`);
    expect(text).toContain('/data/config.json: changed (long)');
    expect(text).toContain('tools/MCPServer/mail: it is invalid');
    expect(text).toContain('skep rollback --clear --source fleet');
    expect(text).not.toContain('no answer');

    await page.locator('summary').nth(1).focus();
    await page.keyboard.press('Enter');
    await page.getByText('git-unreachable: no answer').waitFor();
    if (process.env.SKEP_SCREENSHOTS !== undefined) {
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        await page.screenshot({ path: `${process.env.SKEP_SCREENSHOTS}/runs-${colorScheme}.png`, fullPage: true });
      }
      await page.setViewportSize({ width: 375, height: 700 });
      await page.screenshot({ path: `${process.env.SKEP_SCREENSHOTS}/runs-phone.png`, fullPage: true });
    }
    expect(await page.evaluate('document.documentElement.scrollWidth <= window.innerWidth')).toBe(true);
    expect(await page.locator('img').count()).toBe(0);
    expect(requests.filter((each) => !each.startsWith(url))).toEqual([]);
    // The browser itself reports each 401.
    expect(complaints.filter((each) => !each.includes('401'))).toEqual([]);
    await page.reload();
    await page.getByLabel('Token').waitFor();
  },
);
