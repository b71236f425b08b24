// A client inside a real browser, as VS Code is one: a page of another origin that lists servers with a bearer token, and
// finds out without one where tokens come from. Skipped, and said so, where there is no Chromium.

import { afterAll, beforeAll, expect, test } from 'vitest';
import type { CatalogueEntry } from '#registry/catalogue/entry.ts';
import { type Browser, findBrowser, NO_BROWSER, startBrowser } from '../../harness/browser.ts';
import { type Issuer, startIssuer } from '../../harness/issuer.ts';
import { AUDIENCE } from './gate.ts';
import { type Endpoint, serve } from './serve.ts';
import { openService, type Service } from './service.ts';

const executable = findBrowser();
if (executable === undefined) process.stderr.write(NO_BROWSER);

let browser: Browser | undefined;
let issuer: Issuer;
let service: Service;
let base: string;
let origin: Endpoint;

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
    ['alpha', 'beta'].map((short): CatalogueEntry => {
      const name = `io.acme/${short}`;
      const document = { name, description: '<b>bold</b>', version: '1.0.0' };
      return { ...document, document, tags: [], status: 'active', transports: [], images: [] };
    }),
    '2026-01-01T00:00:00.000Z',
  );
  origin = await serve((_request, response) => response.setHeader('content-type', 'text/html').end('<!doctype html>'));
  if (executable !== undefined) browser = await startBrowser(executable);
});

afterAll(async () => {
  await browser?.close();
  await origin.close();
  await service.close();
  await issuer.close();
});

/** What the script gives, run in a page of another origin than the service. */
async function run(script: string): Promise<unknown> {
  if (browser === undefined) throw new Error('no browser was started');
  const { page } = await browser.open();
  await page.goto(`${origin.url}/`);
  return page.evaluate(`(async () => {${script}})()`);
}

test.skipIf(executable === undefined)(
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

test.skipIf(executable === undefined)('finds out where tokens come from, and reads why it is refused', async () => {
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
