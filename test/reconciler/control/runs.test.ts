// The last runs over HTTP, as JSON for those with the token; a browser gets the console.

import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { Runs } from '#reconciler/control/ports.ts';
import { jsonOfHistory, jsonOfRecord } from '#reconciler/report/history.ts';
import { findRun } from '#reconciler/run/history/find.ts';
import type { RunRecord } from '#reconciler/run/history/ports.ts';
import { Failure } from '#std/failure.ts';
import { FAILED, WAITING } from './console-fleet.ts';
import { controlApp } from './control-app.ts';

const TOKEN = 'let-me-in';

let records: readonly RunRecord[] | Failure;
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
});

afterEach(() => {
  records = [WAITING, FAILED];
});

afterAll(async () => {
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
  expect((await get('/console/tsconfig.json')).status).toBe(404);
  expect((await get('/console/..%2Fassets.ts')).status).toBe(404);
  records = new Failure('database-unreachable', 'db_app@secret-host: no answer');
  const unreadable = await get('/runs');
  expect([unreadable.status, JSON.parse(unreadable.body).code]).toEqual([503, 'control-history-unreadable']);
  expect(unreadable.body).not.toContain('secret-host');
});

test.each(['/', '/runs'])(
  'at %s a browser gets a page without data and without a token, under a strict policy',
  async (path) => {
    const { status, headers, body } = await get(path, { accept: 'text/html,*/*;q=0.8' });
    expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(headers.get('content-security-policy')).not.toContain('unsafe');
    expect(body).not.toContain('clock');
  },
);
