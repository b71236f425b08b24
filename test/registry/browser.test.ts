// A client inside a real browser, as VS Code is one: a page of another origin that lists servers with a bearer token, and
// finds out without one where tokens come from. Skipped, and said so, where there is no Chromium.

import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Entry } from '../../src/catalogue/ports.ts';
import { type Issuer, startIssuer } from '../harness/issuer.ts';
import { AUDIENCE } from './gate.ts';
import { type Endpoint, serve } from './serve.ts';
import { openService, type Service } from './service.ts';

const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((path) =>
  existsSync(path),
);
if (CHROMIUM === undefined) process.stderr.write('skipped: there is no Chromium to run a client in\n');

let issuer: Issuer;
let service: Service;
let base: string;
let profile: string;
let origin: Endpoint;
let page = '';

beforeAll(async () => {
  issuer = await startIssuer();
  const placeholder = await serve((_request, response) => response.end());
  await placeholder.close();
  base = placeholder.url;
  service = await openService(
    `auth: {oauth: {resourceUrl: "${base}", enforceScopes: true, providers: [{name: main, issuerUrl: "${issuer.url}", audience: "${AUDIENCE}", allowPrivateIP: true}]}}`,
  );
  await service.app.listen({ host: '127.0.0.1', port: Number(new URL(base).port) });
  await service.fill(
    ['alpha', 'beta'].map((short): Entry => {
      const name = `io.acme/${short}`;
      const document = { name, description: '<b>bold</b>', version: '1.0.0' };
      return { ...document, document, tags: [], status: 'active', transports: [], images: [] };
    }),
    '2026-01-01T00:00:00.000Z',
  );
  origin = await serve((_request, response) =>
    response.setHeader('content-type', 'text/html; charset=utf-8').end(page),
  );
  profile = await mkdtemp(join(tmpdir(), 'skep-browser-'));
});

afterAll(async () => {
  await origin.close();
  await service.close();
  await issuer.close();
  await rm(profile, { recursive: true, force: true });
});

/** What the page has put together when its requests are answered. The page is at another origin than the service. */
async function run(script: string): Promise<unknown> {
  page = `<!doctype html><title>client</title><pre id="result">nothing</pre><script type="module">
    const show = (value) => { document.getElementById('result').textContent = JSON.stringify(value); };
    try { show(await (async () => {${script}})()); } catch (error) { show(String(error)); }
  </script>`;
  const dom = await dump(`${origin.url}/`);
  const [, text = ''] = /<pre id="result">(.*?)<\/pre>/s.exec(dom) ?? [];
  return JSON.parse(text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&'));
}

function dump(url: string): Promise<string> {
  const flags = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run'];
  const args = [...flags, `--user-data-dir=${profile}`, '--virtual-time-budget=20000', '--dump-dom', url];
  return new Promise((resolve, reject) => {
    const child = spawn(CHROMIUM ?? '', args, { stdio: ['ignore', 'pipe', 'ignore'] });
    let text = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    child.once('error', reject);
    child.once('close', (code) => (code === 0 ? resolve(text) : reject(new Error(`Chromium ended with ${code}`))));
  });
}

test.skipIf(CHROMIUM === undefined)(
  'lists servers with a token, page by page, and asks again with the tag',
  async () => {
    const exp = Math.floor(Date.now() / 1000) + 600;
    const token = await issuer.sign({ iss: issuer.url, aud: AUDIENCE, exp, scope: 'mcp-registry:read' });
    const seen = await run(`
    const headers = { Authorization: 'Bearer ${token}', 'Content-Type': 'application/json' };
    const names = [];
    let cursor = '';
    let tag;
    do {
      const response = await fetch('${base}/tools/v0.1/servers?limit=1&version=latest&cursor=' + cursor, { headers });
      tag = response.headers.get('etag');
      const page = await response.json();
      names.push(...page.servers.map(({ server }) => server.name + ': ' + server.description));
      cursor = page.metadata.nextCursor;
    } while (cursor !== undefined);
    const first = await fetch('${base}/tools/v0.1/servers?limit=1', { headers });
    const again = await fetch('${base}/tools/v0.1/servers?limit=1', {
      headers: { ...headers, 'If-None-Match': first.headers.get('etag') },
      cache: 'no-store',
    });
    return { names, tag: typeof tag, again: again.status };
  `);
    expect(seen).toEqual({
      names: ['io.acme/alpha: <b>bold</b>', 'io.acme/beta: <b>bold</b>'],
      tag: 'string',
      again: 304,
    });
  },
);

test.skipIf(CHROMIUM === undefined)('finds out where tokens come from, and reads why it is refused', async () => {
  const seen = await run(`
    const refused = await fetch('${base}/tools/v0.1/servers');
    const challenge = refused.headers.get('www-authenticate');
    const metadata = await fetch(/resource_metadata="([^"]+)"/.exec(challenge)[1]);
    const limit = await fetch('${base}/tools/v0.1/servers?limit=0', { headers: { Authorization: 'Bearer invented' } });
    const sync = await fetch('${base}/extension/v0/registries/tools/sync', {
      method: 'POST',
      headers: { Authorization: 'Bearer invented', 'Content-Type': 'application/json' },
      body: '{}',
    });
    return {
      refused: [refused.status, await refused.json()],
      servers: (await metadata.json()).authorization_servers,
      others: [limit.status, sync.status],
    };
  `);
  expect(seen).toEqual({
    refused: [401, { error: 'missing or malformed authorization header' }],
    servers: [issuer.url],
    others: [401, 401],
  });
});
