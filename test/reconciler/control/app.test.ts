// The reconciler's own listener over real HTTP: who is let in, what it says of itself, and what it says to everything else.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, afterEach, expect, test } from 'vitest';
import { readSecretFile } from '#hosts/config/secret-file.ts';
import { answer } from '#reconciler/control/answer.ts';
import type { ControlOptions } from '#reconciler/control/app.ts';
import { addRoute } from '#reconciler/control/route.ts';
import { controlApp, healthy } from './control-app.ts';

const dir = mkdtempSync(join(tmpdir(), 'skep-control-'));
const tokenFile = join(dir, 'token');
let close: (() => Promise<unknown>) | undefined;

afterEach(async () => {
  await close?.();
  close = undefined;
});

afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** Listens on the loopback address, with one route that needs a token. Gives the URL. */
async function start(options: Partial<ControlOptions> = {}): Promise<string> {
  const app = controlApp(options);
  addRoute(app, { method: 'GET', url: '/closed', handler: (_request, reply) => answer(reply, { seen: true }) });
  close = () => app.close();
  return app.listen({ host: '127.0.0.1', port: 0 });
}

const withFile = { tokens: { values: () => readSecretFile(tokenFile) } };

async function ask(url: string, init: RequestInit = {}): Promise<{ status: number; body: unknown; headers: Headers }> {
  const response = await fetch(url, init);
  return { status: response.status, body: await response.json(), headers: response.headers };
}

test.each([
  { path: '/health', vitals: healthy, status: 200, body: { version: 1, status: 'healthy' } },
  { path: '/readiness', vitals: healthy, status: 200, body: { version: 1, status: 'ready' } },
  {
    path: '/health',
    vitals: { ...healthy, stuck: () => 'nothing has ended for 301 s' },
    status: 503,
    body: { version: 1, status: 'stuck', reasons: ['nothing has ended for 301 s'] },
  },
  {
    path: '/readiness',
    vitals: { ...healthy, unready: () => ['no run has ended yet'] },
    status: 503,
    body: { version: 1, status: 'not ready', reasons: ['no run has ended yet'] },
  },
])('$path answers $status without a token', async ({ path, vitals, status, body }) => {
  const url = await start({ vitals });
  expect(await ask(`${url}${path}`)).toMatchObject({ status, body });
});

test('/snapshot has what the last run published, for whoever has the token', async () => {
  writeFileSync(tokenFile, 'first\n');
  let text: string | undefined;
  const url = await start({ ...withFile, snapshot: () => text });
  const headers = { authorization: 'Bearer first' };
  expect((await ask(`${url}/snapshot`)).status).toBe(401);
  expect(await ask(`${url}/snapshot`, { headers })).toMatchObject({
    status: 503,
    body: { code: 'control-no-snapshot' },
  });
  text = '{"format": "skep-snapshot"}';
  expect(await ask(`${url}/snapshot`, { headers })).toMatchObject({ status: 200, body: { format: 'skep-snapshot' } });
});

test.each([
  { reason: 'no token', headers: {}, status: 401 },
  { reason: 'a wrong one', headers: { authorization: 'Bearer wrong' }, status: 401 },
  { reason: 'a part of it', headers: { authorization: 'Bearer firs' }, status: 401 },
  { reason: 'both in one', headers: { authorization: 'Bearer first second' }, status: 401 },
  { reason: 'another scheme', headers: { authorization: 'Basic first' }, status: 401 },
  { reason: 'an empty token', headers: { authorization: 'Bearer ' }, status: 401 },
  { reason: 'the token', headers: { authorization: 'Bearer first' }, status: 200 },
  { reason: 'the scheme in small letters', headers: { authorization: 'bearer first' }, status: 200 },
  { reason: 'the other token', headers: { authorization: 'Bearer second' }, status: 200 },
])('with $reason: $status', async ({ headers, status }) => {
  writeFileSync(tokenFile, 'first\n\nsecond\n');
  const url = await start(withFile);
  const seen = await ask(`${url}/closed`, { headers });
  expect(seen.status).toBe(status);
  expect(seen.headers.get('www-authenticate')).toBe(status === 401 ? 'Bearer' : null);
});

test('another token in the file is the one that counts, without a restart', async () => {
  writeFileSync(tokenFile, 'old');
  const url = await start(withFile);
  const headers = { authorization: 'Bearer new' };
  expect((await ask(`${url}/closed`, { headers })).status).toBe(401);
  writeFileSync(tokenFile, 'new\n');
  expect((await ask(`${url}/closed`, { headers })).status).toBe(200);
});

test('an empty file lets nobody in, and neither does none', async () => {
  writeFileSync(tokenFile, '\n');
  const url = await start(withFile);
  const headers = { authorization: 'Bearer ' };
  const body = { code: 'control-token-unreadable' };
  expect(await ask(`${url}/closed`, { headers })).toMatchObject({ status: 503, body });
  rmSync(tokenFile);
  expect(await ask(`${url}/closed`, { headers })).toMatchObject({ status: 503, body });
});

test('without a token file what needs a token is shown to nobody', async () => {
  const url = await start();
  const headers = { authorization: 'Bearer undefined' };
  expect(await ask(`${url}/closed`, { headers })).toMatchObject({ status: 403, body: { code: 'control-closed' } });
});

test.each([
  { path: '/nothing', method: 'GET', status: 404, code: 'control-route-not-found' },
  { path: '/health', method: 'DELETE', status: 405, code: 'control-method-not-allowed' },
  { path: '/closed', method: 'POST', status: 405, code: 'control-method-not-allowed' },
  { path: '/%', method: 'GET', status: 400, code: 'control-request-invalid' },
])('$method $path is answered $status, with headers for browsers', async ({ path, method, status, code }) => {
  const url = await start(withFile);
  const seen = await ask(`${url}${path}`, { method });
  expect(seen).toMatchObject({ status, body: { version: 1, code } });
  expect(seen.headers.get('content-security-policy')).toContain("default-src 'none'");
});

test('a route that throws tells its cause to nobody but the log', async () => {
  const lines: string[] = [];
  const logger = pino({ level: 'info' }, { write: (line: string) => lines.push(line) });
  const app = controlApp({ logger });
  addRoute(app, {
    method: 'GET',
    url: '/broken',
    public: true,
    handler: () => {
      throw new Error('the cause');
    },
  });
  close = () => app.close();
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
  const seen = await ask(`${url}/broken`, { headers: { traceparent } });
  expect(seen).toMatchObject({ status: 500, body: { code: 'control-failed', error: 'internal error' } });
  const logged = lines.map((line) => JSON.parse(line)).find(({ err }) => err?.message === 'the cause');
  expect(logged).toMatchObject({ reqId: 'r1', traceId: '4bf92f3577b34da6a3ce929d0e0e4736', code: 'control-failed' });
});

test('metrics need no token, and are of the form that Prometheus reads', async () => {
  const url = await start(withFile);
  const response = await fetch(`${url}/metrics`);
  expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
  const text = await response.text();
  expect(text).toContain('skep_build_info{version="1.2.3"} 1\n');
  expect(text).toContain('skep_source_fetches_total{source="fleet",outcome="fetched"} 0\n');
  expect(text).toContain('process_resident_memory_bytes 1\n');
});
