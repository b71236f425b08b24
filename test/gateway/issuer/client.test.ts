// Tests the official TypeScript client with a proxy that has an authorization server, from the first 401 to a call.
// Uses a real browser if one is installed.

import { UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Browser, findBrowser, NO_BROWSER, startBrowser } from '../../harness/browser.ts';
import { stopAll } from '../proxy/rig.ts';
import { clientProvider, type KeptLogin, newKeptLogin } from './kept-login.ts';
import { CLIENT_REDIRECT, newPerson } from './person.ts';
import { authorizeUrl, callMcp, type LoginWorld, newClient, newPkce, openLoginWorld, post } from './world.ts';

let world: LoginWorld;
beforeAll(async () => {
  world = await openLoginWorld();
});
afterAll(async () => {
  await stopAll();
  await world.provider.close();
});

async function connect(kept: KeptLogin, followUrl: (url: URL) => Promise<URL>): Promise<Client> {
  const transport = new StreamableHTTPClientTransport(new URL(world.resource), { authProvider: clientProvider(kept) });
  const client = new Client({ name: 'official', version: '1' });
  try {
    await client.connect(transport);
    return client;
  } catch (error) {
    if (!(error instanceof UnauthorizedError)) throw error;
  }
  const [url] = kept.opened.slice(-1);
  if (url === undefined) throw new Error('the client opened no browser');
  const back = await followUrl(url);
  await transport.finishAuth(back.searchParams.get('code') ?? `no code: ${back}`);
  const again = new StreamableHTTPClientTransport(new URL(world.resource), { authProvider: clientProvider(kept) });
  const connected = new Client({ name: 'official', version: '1' });
  await connected.connect(again);
  return connected;
}

describe('the official TypeScript client', () => {
  it('logs in after a 401, calls a tool, refreshes, and logs in again after a revocation', async () => {
    const kept = newKeptLogin();
    const person = newPerson();
    const client = await connect(kept, async (url) => (await person.visit(url.href)).url);
    expect(kept.opened[0]?.searchParams.get('resource')).toBe(world.resource);
    expect(kept.opened[0]?.searchParams.get('scope')).toBe('openid weather');
    const called = await client.callTool({ name: 'echo', arguments: { text: 'hello' } });
    expect(JSON.stringify(called.content)).toContain('hello');
    await client.close();
    const first = kept.tokens;
    kept.tokens = { ...first, access_token: 'expired', token_type: 'Bearer' };
    const refreshed = await connect(kept, () => Promise.reject(new Error('a browser is needed')));
    await refreshed.callTool({ name: 'echo', arguments: {} });
    await refreshed.close();
    expect(kept.tokens.refresh_token).not.toBe(first?.refresh_token);
    await fetch(`${world.issuer}/oauth/revoke`, {
      method: 'POST',
      body: new URLSearchParams({ client_id: kept.client?.client_id ?? '', token: kept.tokens.refresh_token ?? '' }),
    });
    const again = await connect(kept, async (url) => (await person.visit(url.href)).url);
    await again.callTool({ name: 'echo', arguments: {} });
    await again.close();
    expect(kept.opened.length).toBe(2);
  });
});

const executable = findBrowser();
if (executable === undefined) process.stderr.write(NO_BROWSER);

describe.skipIf(executable === undefined)('in a real browser', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startBrowser(executable ?? '');
  });
  afterAll(() => browser.close());

  async function throughPages(
    url: URL,
    act: (tab: Awaited<ReturnType<Browser['open']>>) => Promise<void>,
  ): Promise<URL> {
    const tab = await browser.open();
    const back = tab.page.waitForRequest((request) => request.url().startsWith(CLIENT_REDIRECT));
    await tab.page.route(`${CLIENT_REDIRECT}**`, (route) => route.fulfill({ status: 200, body: 'back in the app' }));
    await tab.page.goto(url.href);
    await act(tab);
    const request = await back;
    expect(tab.complaints).toEqual([]);
    await tab.page.close();
    return new URL(request.url());
  }

  it('a person consents by keyboard, and all steps from discovery to revocation succeed', async () => {
    const kept = newKeptLogin();
    const before = world.proxy.log.text().length;
    const bare = await callMcp(world, undefined);
    expect([bare.status, bare.headers.get('www-authenticate')]).toEqual([
      401,
      expect.stringMatching(/scope="openid weather", resource_metadata="http/),
    ]);
    const client = await connect(kept, (url) => {
      expect(kept.client?.client_id).toMatch(/./);
      expect(url.searchParams.get('code_challenge_method')).toBe('S256');
      expect(url.searchParams.get('resource')).toBe(world.resource);
      return throughPages(url, async ({ page }) => {
        expect(await page.title()).toContain('Official client');
        await page.keyboard.press('Tab');
        expect(await page.evaluate('document.activeElement.textContent')).toBe('Allow');
        await page.keyboard.press('Enter');
      });
    });
    const called = await client.callTool({ name: 'echo', arguments: { text: 'from a browser' } });
    expect(JSON.stringify(called.content)).toContain('from a browser');
    await client.close();
    const { refresh_token: first, access_token: access = '' } = kept.tokens ?? {};
    kept.tokens = { token_type: 'Bearer', access_token: 'expired', refresh_token: first };
    const refreshed = await connect(kept, () => Promise.reject(new Error('a browser is needed')));
    await refreshed.callTool({ name: 'echo', arguments: {} });
    await refreshed.close();
    expect(kept.tokens.refresh_token).not.toBe(first);
    const revocation = { client_id: kept.client?.client_id ?? '', token: kept.tokens.refresh_token ?? '' };
    expect((await post(`${world.issuer}/oauth/revoke`, revocation)).status).toBe(200);
    expect((await callMcp(world, kept.tokens.access_token)).status).toBe(401);
    expect(world.proxy.log.text().slice(before)).not.toContain(access);
    const { page } = await browser.open();
    await page.goto(`${world.issuer}/oauth/apps`);
    expect(await page.textContent('main')).toContain('Official client');
    await page.close();
  });

  it('a page of another site cannot show the consent page in a frame', async () => {
    const kept = newKeptLogin();
    await connect(kept, async () => new URL('http://127.0.0.1/none')).catch(() => undefined);
    const frame = `<iframe src="${kept.opened[0]?.href.replaceAll('&', '&amp;')}"></iframe>`;
    world.provider.fault = (path, _request, response) => {
      if (path === '/frame') response.writeHead(200, { 'content-type': 'text/html' }).end(frame);
      return path === '/frame';
    };
    const { page, complaints } = await browser.open();
    await page.goto(`${world.provider.url}/frame`);
    world.provider.fault = undefined;
    await expect.poll(() => complaints.join(' ')).toContain('frame');
    expect(await page.frames()[1]?.content()).not.toContain('Official client');
    await page.close();
  });

  it.each(['light', 'dark'] as const)(
    'pages in %s have titles, and all controls are reachable by keyboard',
    async (colorScheme) => {
      const { page, complaints } = await browser.open();
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width: 360, height: 740 });
      const site = 'https://app.example/callback';
      const remote = await newClient(world, { redirect_uris: [site] });
      const [unknown, refused] = ['nobody', remote].map((client) =>
        authorizeUrl(world, client, newPkce(), { redirect_uri: site, scope: 'none' }),
      );
      for (const url of [unknown ?? '', refused ?? '', `${world.issuer}/oauth/apps`]) {
        await page.goto(url);
        expect(await page.evaluate('document.documentElement.lang')).toBe('en');
        expect(await page.title()).toBe(await page.textContent('h1'));
        expect(await page.locator('h1').count()).toBe(1);
        expect(await page.evaluate('document.documentElement.scrollWidth <= window.innerWidth')).toBe(true);
        const controls = page.locator('a[href], button');
        for (let at = 0; at < (await controls.count()); at += 1) {
          await page.keyboard.press('Tab');
          expect(await controls.nth(at).evaluate((element) => element === element.ownerDocument.activeElement)).toBe(
            true,
          );
          expect((await controls.nth(at).textContent())?.trim()).not.toBe('');
        }
      }
      expect(complaints.filter((complaint) => !complaint.startsWith('Failed to load resource'))).toEqual([]);
      await page.close();
    },
  );

  it.each([
    ['light', 360],
    ['dark', 360],
    ['light', 1200],
  ] as const)('the consent page in %s at %i pixels fits', async (colorScheme, width) => {
    const kept = newKeptLogin();
    await connect(kept, async () => new URL('http://127.0.0.1/none')).catch(() => undefined);
    const { page } = await browser.open();
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 740 });
    await page.goto(kept.opened[0]?.href ?? '');
    expect(await page.evaluate('document.documentElement.scrollWidth <= window.innerWidth')).toBe(true);
    if (process.env.SCREENSHOTS !== undefined)
      await page.screenshot({ path: `${process.env.SCREENSHOTS}/consent-${colorScheme}-${width}.png` });
    await page.close();
  });
});
