// Mode oauth in a real browser with a real OpenID provider: the page with a pasted token, and a client of another origin
// that brings its own, as editors do.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Browser, findBrowser, NO_BROWSER, startBrowser } from '../../harness/browser.ts';
import { type Issuer, startIssuer } from '../../harness/issuer.ts';
import { type Endpoint, serve } from '../service/serve.ts';
import { openService, type Service } from '../service/service.ts';
import { CLOCK, entryOf, manyEntries } from './fixtures.ts';

const AUDIENCE = 'https://registry.example';
const ENTRIES = [entryOf(CLOCK), ...manyEntries()];
const executable = findBrowser();
if (executable === undefined) process.stderr.write(NO_BROWSER);

describe.skipIf(executable === undefined)('with tokens', () => {
  let issuer: Issuer;
  let service: Service;
  let browser: Browser;
  let elsewhere: Endpoint;
  let base: string;

  beforeAll(async () => {
    issuer = await startIssuer();
    service = await openService(`auth:
  oauth:
    resourceUrl: ${AUDIENCE}
    providers:
      - {name: main, issuerUrl: "${issuer.url}", audience: "${AUDIENCE}", allowPrivateIP: true}`);
    base = await service.app.listen({ host: '127.0.0.1', port: 0 });
    await service.fill(ENTRIES, '2026-01-01T00:00:00.000Z');
    elsewhere = await serve((_request, response) =>
      response.setHeader('content-type', 'text/html').end('<!doctype html><title>An editor</title>'),
    );
    browser = await startBrowser(executable ?? '');
  });

  afterAll(async () => {
    await browser?.close();
    await elsewhere?.close();
    await service?.close();
    await issuer?.close();
  });

  test('the page asks for a token before it asks for data, and shows the catalogue with it', async () => {
    const { page, requests, complaints } = await browser.open();
    await page.goto(`${base}/#/tools/io.acme%2Fclock`);
    await page.getByRole('heading', { name: 'This registry asks for a token' }).waitFor();
    await page.getByRole('link', { name: issuer.url }).waitFor();
    expect(requests.filter((url) => /v0/.test(url))).toEqual([]);

    const field = page.getByLabel('Access token');
    await field.fill('two words');
    await page.getByRole('button', { name: 'Show the catalogue' }).click();
    await page.getByText('This is not a token').waitFor();

    await field.fill(`Bearer ${await issuer.token('jwt', AUDIENCE)}\n`);
    await field.press('Enter');
    // Where the address led before it was asked for.
    await page.getByRole('heading', { name: 'Clock', level: 1 }).waitFor();
    expect(complaints).toEqual([]);
    const kept: string = await page.evaluate('JSON.stringify([localStorage, sessionStorage, document.cookie])');
    expect(kept).toBe('[{},{},""]');

    await page.getByRole('button', { name: 'Forget token' }).click();
    await page.getByLabel('Access token').waitFor();
    await page.close();
  });

  test('a token that is refused, or expires while one reads, is told and asked for anew', async () => {
    const { page } = await browser.open();
    await page.goto(base);
    await page.getByLabel('Access token').fill(await issuer.token('jwt', 'https://another.example'));
    await page.keyboard.press('Enter');
    await page.getByRole('alert').getByText('The token is not accepted').waitFor();

    const claims = { iss: issuer.url, aud: AUDIENCE, sub: 'somebody' };
    const soon = Math.floor(Date.now() / 1000) + 600;
    await page.getByLabel('Access token').fill(await issuer.sign({ ...claims, exp: soon }));
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'Clock' }).waitFor();
    await page.route('**/servers?search=*', (route) =>
      route.fulfill({ status: 401, json: { error: 'token validation failed' } }),
    );
    await page.getByRole('searchbox').fill('c');
    await page.getByRole('alert').getByText('The token is not accepted').waitFor();
    expect(await page.getByRole('link', { name: 'Clock' }).count()).toBe(0);
    await page.close();
  });

  test('a token without the scope is told which one it lacks', async () => {
    const { page } = await browser.open();
    await page.route('**/extension/v0/registries', (route) =>
      route.fulfill({ status: 403, json: { error: 'insufficient scope' } }),
    );
    await page.goto(base);
    await page.getByLabel('Access token').fill(await issuer.token('jwt', AUDIENCE));
    await page.keyboard.press('Enter');
    await page.getByRole('alert').getByText('mcp-registry:read').waitFor();
    await page.close();
  });

  test('an editor of another origin lists all servers with a bearer token, and may read why it is refused', async () => {
    const { page, requests } = await browser.open();
    await page.goto(elsewhere.url);
    // As VS Code does: the latest versions page by page, with what makes the browser ask first whether it may.
    const list = (token: string) =>
      page.evaluate(`(async () => {
        const names = [];
        let cursor = '';
        do {
          const response = await fetch(${JSON.stringify(`${base}/tools/v0.1/servers?limit=50&version=latest`)} + cursor, {
            headers: { authorization: 'Bearer ${token}', 'content-type': 'application/json' },
          });
          if (!response.ok) return { status: response.status, challenge: response.headers.get('www-authenticate') };
          const { servers, metadata } = await response.json();
          names.push(...servers.map(({ server }) => server.name));
          cursor = metadata.nextCursor === undefined ? '' : '&cursor=' + encodeURIComponent(metadata.nextCursor);
        } while (cursor !== '');
        return names;
      })()`);
    const good = await issuer.token('jwt', AUDIENCE);
    expect(await list(good)).toEqual(ENTRIES.map(({ name }) => name).toSorted());
    expect(requests.filter((url) => url.includes('cursor=')).length).toBeGreaterThan(0);
    const one = `${base}/tools/v0.1/servers/${encodeURIComponent(String(CLOCK.name))}/versions/latest`;
    const version = `fetch(${JSON.stringify(one)}, { headers: { authorization: 'Bearer ${good}' } })
      .then(async (response) => (await response.json()).server)`;
    expect(await page.evaluate(version)).toEqual(CLOCK);
    expect(await list('x')).toEqual({ status: 401, challenge: expect.stringContaining('resource_metadata=') });
    const metadata = await page.evaluate(`fetch(${JSON.stringify(`${base}/.well-known/oauth-protected-resource`)})
      .then((response) => response.json())`);
    expect(metadata).toMatchObject({ resource: AUDIENCE, authorization_servers: [issuer.url] });
    await page.close();
  });

  test('another origin can neither frame the page nor take its scripts for its own', async () => {
    const { page, complaints } = await browser.open();
    await page.goto(elsewhere.url);
    await page.evaluate(
      `document.body.append(Object.assign(document.createElement('iframe'), { src: ${JSON.stringify(base)} }))`,
    );
    await expect.poll(() => complaints.join()).toMatch(/frame-ancestors|X-Frame-Options/i);
    await page.close();
  });
});
