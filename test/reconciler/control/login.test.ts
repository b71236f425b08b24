// Tests logins to the console at a real OpenID Connect provider, the actions of viewers and operators, and attacks:
// requests of other sites, fixed sessions, tokens in URLs. In one file, because the tests share the reconciler, the
// provider and the browser.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { freePort } from '#kubernetes/devcluster/node/free-port.ts';
import type { RecentAction, WaitingState } from '#reconciler/run/fleet-state/waiting-format.ts';
import { axeFindings } from '../../harness/axe.ts';
import { type Browser, findBrowser, startBrowser, type Tab } from '../../harness/browser.ts';
import { eventually } from '../../harness/cluster.ts';
import { temporaryFolder } from '../../harness/git-server.ts';
import { type LoginProvider, startLoginProvider, UPSTREAM_CLIENT } from '../../harness/login-provider.ts';
import { startWorld, type World } from '../../harness/world.ts';
import { members, publish } from '../run/fleet.ts';
import { type Keeper, startKeeper } from './keeper.ts';

const executable = findBrowser();
const folder = temporaryFolder();
const token = { authorization: 'Bearer machine' };
let world: World;
let provider: LoginProvider;
let keeper: Keeper;
let url: string;
let browser: Browser;

beforeAll(async () => {
  const [tokenFile, clientSecretFile] = [join(folder.path, 'token'), join(folder.path, 'secret')];
  writeFileSync(tokenFile, 'machine\n');
  writeFileSync(clientSecretFile, `${UPSTREAM_CLIENT.secret}\n`);
  world = await startWorld({ workloadsReadyAfterMs: 0 });
  provider = await startLoginProvider();
  publish(world.fleet, { one: '1.0.0', two: '1.0.0' });
  const port = await freePort();
  url = `http://127.0.0.1:${port}`;
  const login = {
    url,
    issuer: provider.url,
    clientId: UPSTREAM_CLIENT.id,
    clientSecretFile,
    roles: [
      { role: 'viewer', claim: 'email', values: ['vera@example.com', 'tim@example.com'] },
      { role: 'operator', claim: 'groups', values: ['platform'] },
      { role: 'operator', claim: 'groups', values: ['team'], namespaces: ['other-*'] },
    ],
  };
  const http = { address: `127.0.0.1:${port}`, tokenFile, login };
  keeper = await startKeeper(world, { http, apply: { maxDeletes: 0 } });
  if (executable !== undefined) browser = await startBrowser(executable);
});

afterEach(async () => {
  for (const page of browser?.context.pages() ?? []) await page.close();
  await browser?.context.clearCookies();
  provider.fault = undefined;
});

afterAll(async () => {
  await browser?.close();
  await keeper.stop();
  await provider.close();
  await world.close();
  folder.remove();
});

async function logIn(account: string, groups: readonly string[], address = ''): Promise<Tab> {
  provider.account = account;
  provider.groups = groups;
  const tab = await browser.open();
  await tab.page.goto(`${url}/${address}`);
  await tab.page.getByRole('link', { name: 'Log in at 127.0.0.1' }).click();
  await tab.page.getByRole('navigation', { name: 'Views' }).waitFor();
  return tab;
}

async function publishAndRun(servers: Readonly<Record<string, string>>): Promise<string> {
  const commit = publish(world.fleet, servers);
  await eventually(
    async () => {
      await fetch(`${url}/sync`, { method: 'POST', headers: token });
      return (await (await fetch(`${url}/fleet`, { headers: token })).json()) as {
        readonly run?: { readonly commits: Readonly<Record<string, string>> };
      };
    },
    ({ run }) => run?.commits.fleet === commit,
  );
  return commit;
}

async function waiting(): Promise<WaitingState & { readonly actions: readonly RecentAction[] }> {
  return (await (await fetch(`${url}/fleet/waiting`, { headers: token })).json()) as never;
}

async function lives(id: string): Promise<boolean> {
  return (await members(world.client, 'test')).has(id);
}

/** Sends a request from the page itself, as a script in it could. */
function send(page: Page, path: string, headers: object = {}, body: object = {}): Promise<number> {
  const init = {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  };
  return page.evaluate(`fetch(${JSON.stringify(path)}, ${JSON.stringify(init)}).then(({ status }) => status)`);
}

async function csrfOf(page: Page): Promise<string> {
  return page.evaluate(`fetch('/fleet/session').then((each) => each.json()).then(({ csrf }) => csrf)`);
}

describe.skipIf(executable === undefined)('the login of the console', () => {
  test('a viewer reads and cannot act, neither by the page nor by a request of their own', async () => {
    await publishAndRun({ one: '1.0.0', two: '1.0.0' });
    await publishAndRun({ one: '1.0.0' });
    const { page, requests, complaints } = await logIn('vera', [], '#/waiting');
    await page.getByText('You are logged in as vera@example.com with the role viewer.').first().waitFor();
    await page.getByText('tools/MCPServer/two').first().waitFor();
    await page.getByRole('button', { name: 'Approve' }).click({ force: true });
    expect(await page.getByRole('dialog').count()).toBe(0);
    const [list] = (await waiting()).approvals;
    const proof = { 'x-skep-csrf': await csrfOf(page) };
    expect(await send(page, '/fleet/actions/approve', proof, { hash: list?.hash, preview: true })).toBe(403);
    expect(await send(page, '/fleet/actions/sync', proof)).toBe(403);
    expect(await send(page, '/sync', proof)).toBe(403);
    expect(await lives('tools/MCPServer/two')).toBe(true);
    const [last] = (await waiting()).actions;
    expect(last).toMatchObject({ by: 'vera@example.com', action: 'sync', result: 'refused' });
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await axeFindings(page)).toEqual([]);
    }
    // No token is in a URL, nor where scripts can read it.
    expect(requests.filter((each) => /token=|machine/.test(each))).toEqual([]);
    expect(await page.evaluate('document.cookie + JSON.stringify({ ...localStorage, ...sessionStorage })')).toBe('{}');
    const cookies = (await browser.context.cookies(url)).filter(({ name }) => name.startsWith('skep-'));
    expect(cookies.map(({ httpOnly, sameSite, path }) => ({ httpOnly, sameSite, path }))).toEqual([
      { httpOnly: true, sameSite: 'Strict', path: '/' },
    ]);
    expect(complaints.filter((each) => !/40[13]/.test(each))).toEqual([]);
  });

  test('an operator approves a deletion, and sees it happen without a reload', async () => {
    await publishAndRun({ one: '1.0.0', two: '1.0.0' });
    await publishAndRun({ one: '1.0.0' });
    const { page } = await logIn('olga', ['platform'], '#/waiting');
    await page.evaluate('globalThis.notReloaded = true');
    await page.getByRole('button', { name: 'Approve' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('tools/MCPServer/two').waitFor();
    await dialog.getByRole('checkbox').check();
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('heading', { name: 'Nothing waits for you' }).waitFor();
    await page.getByText('olga@example.com: approve').first().waitFor();
    expect(await lives('tools/MCPServer/two')).toBe(false);
    expect(await page.evaluate('globalThis.notReloaded')).toBe(true);
    expect(keeper.output()).toMatch(/olga@example\.com: approve \S+ \(\d+ deletions of source fleet\) done/);
  });

  test('an operator rolls back to a run, after a preview, and ends the rollback', async () => {
    const good = await publishAndRun({ one: '1.1.0' });
    const bad = await publishAndRun({ one: '2.0.0' });
    const { runs } = (await (await fetch(`${url}/runs`, { headers: token })).json()) as {
      readonly runs: readonly { readonly id: string; readonly commits: Readonly<Record<string, string>> }[];
    };
    const run = runs.find(({ commits }) => commits.fleet === good)?.id ?? '';
    const { page } = await logIn('olga', ['platform'], `#/runs/${run}`);
    await page.getByText(`Run ${run}.`).waitFor();
    await page.getByRole('button', { name: 'Roll back to this run' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText(`fleet: from ${bad.slice(0, 10)} back to ${good.slice(0, 10)}`).waitFor();
    await dialog.getByText('update tools/MCPServer/one').waitFor();
    await dialog.getByRole('checkbox').check();
    await dialog.getByRole('button', { name: 'Roll back' }).click();
    await eventually(waiting, ({ rolledBack }) => rolledBack.length === 1);
    await page.goto(`${url}/#/waiting`);
    await page.getByText(`fleet stays at ${good.slice(0, 10)} instead of ${bad.slice(0, 10)}`).waitFor();
    await page.getByRole('button', { name: 'Follow fleet again' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Follow the branch' }).click();
    await page.getByRole('heading', { name: 'Nothing waits for you' }).waitFor();
  });

  test('an operator of other namespaces may neither approve this list nor act on the instance', async () => {
    await publishAndRun({ one: '1.0.0', two: '1.0.0' });
    await publishAndRun({ one: '1.0.0' });
    const { page } = await logIn('tim', ['team'], '#/waiting');
    await page.getByText('You may act in these namespaces: other-*.').waitFor();
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.getByText('the action concerns objects of tools, and you may act in other-*').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Suspend' }).click({ force: true });
    expect(await page.getByRole('dialog').count()).toBe(0);
    const proof = { 'x-skep-csrf': await csrfOf(page) };
    expect(await send(page, '/fleet/actions/suspend', proof)).toBe(403);
    const state = await waiting();
    expect(state.paused).toBeUndefined();
    expect(state.actions.find(({ by }) => by === 'tim@example.com')).toMatchObject({
      result: 'refused',
      code: 'control-namespace-forbidden',
    });
  });

  test('a person without a role is not let in, and a provider that is away is named', async () => {
    provider.account = 'nemo';
    provider.groups = ['visitors'];
    const { page } = await browser.open();
    await page.goto(`${url}/`);
    await page.getByRole('link', { name: 'Log in at' }).click();
    await page.getByRole('alert').getByText('no rule of http.login.roles gives you a role here').waitFor();
    expect((await browser.context.cookies(url)).filter(({ name }) => name.startsWith('skep-'))).toEqual([]);
    provider.fault = (path, _request, response) => {
      if (path === '/token') response.writeHead(503).end();
      return path === '/token';
    };
    await page.getByRole('link', { name: 'Log in at' }).click();
    await page.getByRole('alert').getByText('The provider does not answer.').waitFor();
    if (process.env.SKEP_SCREENSHOTS !== undefined)
      await page.screenshot({ path: `${process.env.SKEP_SCREENSHOTS}/log-in-wide-light.png` });
    expect(keeper.output()).toContain('nemo@example.com: login refused (audit true, action login, by nemo@example.com');
    expect(keeper.output()).toMatch(/reason control-login-no-role/);
    expect(keeper.output()).toMatch(/warn a login failed \(code control-login-failed/);
    expect(await axeFindings(page)).toEqual([]);
  });

  test('a logout ends the session, also for a copy of its cookie and for its stream of events', async () => {
    const { page } = await logIn('vera', []);
    const [cookie] = (await browser.context.cookies(url)).filter(({ name }) => name.startsWith('skep-console'));
    const headers = { cookie: `${cookie?.name}=${cookie?.value}` };
    expect((await fetch(`${url}/fleet`, { headers })).status).toBe(200);
    const stream = (await fetch(`${url}/fleet/events`, { headers })).text();
    await page.getByRole('button', { name: 'Log out' }).click();
    await page.getByRole('heading', { name: 'Log in to the console' }).waitFor();
    expect((await fetch(`${url}/fleet`, { headers })).status).toBe(401);
    // The stream of the copy ends with the next event, or the next sign of life.
    await fetch(`${url}/sync`, { method: 'POST', headers: token });
    expect(await stream).not.toContain('event: ended');
  });

  test('a session that someone else has put into the browser is not the session after the login', async () => {
    await logIn('vera', []);
    const [stolen] = (await browser.context.cookies(url)).filter(({ name }) => name.startsWith('skep-console'));
    const planted = { name: stolen?.name ?? '', value: 'A'.repeat(43), url };
    for (const cookie of [planted, { ...planted, value: stolen?.value ?? '' }]) {
      await browser.context.clearCookies();
      await browser.context.addCookies([cookie]);
      provider.account = 'olga';
      provider.groups = ['platform'];
      const { page } = await browser.open();
      await page.goto(`${url}/login`);
      await page.getByRole('navigation', { name: 'Views' }).waitFor();
      const [now] = (await browser.context.cookies(url)).filter(({ name }) => name === planted.name);
      expect(now?.value).not.toBe(cookie.value);
      const session = await fetch(`${url}/fleet/session`, { headers: { cookie: `${cookie.name}=${cookie.value}` } });
      expect(session.status).toBe(401);
    }
  });

  test('a page of another site can neither send the cookie, nor act, nor show the console in a frame', async () => {
    const { page } = await logIn('olga', ['platform'], '#/waiting');
    const before = (await waiting()).actions.length;
    // The provider is another origin: under its own name one of the same site, with which browsers send the cookie.
    for (const site of [provider.url.replace('127.0.0.1', 'localhost'), provider.url]) {
      const { page: foreign } = await browser.open();
      await foreign.goto(`${site}/.well-known/openid-configuration`);
      for (const mode of ['no-cors', 'cors']) {
        const headers = mode === 'cors' ? { 'content-type': 'application/json' } : {};
        const init = { method: 'POST', mode, credentials: 'include', body: '{}', headers };
        await foreign.evaluate(`fetch('${url}/fleet/actions/suspend', ${JSON.stringify(init)}).catch(() => undefined)`);
      }
      await foreign.evaluate(`new Promise((resolve) => {
        const frame = document.createElement('iframe');
        frame.onload = resolve;
        frame.src = '${url}/';
        document.documentElement.append(frame);
      })`);
      // A frame that the browser refuses shows a page of the browser.
      await expect
        .poll(() => foreign.frames().map((each) => each.url()))
        .toEqual([foreign.url(), expect.stringMatching(/^chrome-error:/)]);
    }
    await page.reload();
    await page.getByRole('heading', { name: 'Nothing waits for you' }).or(page.getByText('wait')).first().waitFor();
    const state = await waiting();
    expect(state.paused).toBeUndefined();
    for (const each of state.actions.slice(0, state.actions.length - before))
      expect(each).toMatchObject({ action: 'suspend', result: 'refused', code: 'control-cross-site' });
  });
});

describe.skipIf(executable === undefined)('requests with the cookie of a login', () => {
  async function cookieOf(account: string, groups: readonly string[]): Promise<{ cookie: string; csrf: string }> {
    await browser.context.clearCookies();
    const { page } = await logIn(account, groups);
    const [cookie] = (await browser.context.cookies(url)).filter(({ name }) => name.startsWith('skep-console'));
    return { cookie: `${cookie?.name}=${cookie?.value}`, csrf: await csrfOf(page) };
  }

  test('need the origin of the console and the value of the session', async () => {
    const { cookie, csrf } = await cookieOf('olga', ['platform']);
    const { csrf: other } = await cookieOf('olga', ['platform']);
    const right = { cookie, origin: url, 'sec-fetch-site': 'same-origin', 'x-skep-csrf': csrf };
    const { origin: _origin, ...withoutOrigin } = right;
    const { 'x-skep-csrf': _csrf, ...withoutProof } = right;
    const wrong: readonly Readonly<Record<string, string>>[] = [
      withoutOrigin,
      withoutProof,
      { ...right, origin: 'http://evil.example.com' },
      { ...right, origin: 'null' },
      { ...right, 'sec-fetch-site': 'cross-site' },
      { ...right, 'sec-fetch-site': 'same-site' },
      { ...right, 'x-skep-csrf': other },
      { ...right, 'x-skep-csrf': '' },
      { ...right, cookie: `${cookie}; ${cookie}` },
    ];
    const post = (path: string, headers: Readonly<Record<string, string>>) =>
      fetch(url + path, { method: 'POST', body: '{}', headers: { 'content-type': 'application/json', ...headers } });
    for (const headers of wrong)
      for (const path of ['/fleet/actions/sync', '/sync', '/logout'])
        expect([401, 403], `${path} ${JSON.stringify(headers)}`).toContain((await post(path, headers)).status);
    expect(await (await post('/fleet/actions/sync', withoutProof)).json()).toMatchObject({
      code: 'control-cross-site',
    });
    expect((await post('/fleet/actions/sync', right)).status).toBe(200);
  });

  test('are answered with headers that forbid frames and guesses', async () => {
    for (const path of ['/', '/login', '/login/callback', '/fleet/session', '/fleet/waiting']) {
      const { headers } = await fetch(url + path, { redirect: 'manual', headers: { accept: 'text/html', ...token } });
      expect(headers.get('x-frame-options'), path).toBe('DENY');
      expect(headers.get('content-security-policy'), path).toContain("frame-ancestors 'none'");
      expect(headers.get('x-content-type-options'), path).toBe('nosniff');
      expect(headers.get('referrer-policy'), path).toBe('no-referrer');
    }
  });
});

test('a callback without its visit, with another state, or repeated, opens no session', async () => {
  const { headers } = await fetch(`${url}/login`, { redirect: 'manual' });
  const [cookie = ''] = (headers.getSetCookie()[0] ?? '').split(';');
  const state = new URL(headers.get('location') ?? '').searchParams.get('state') ?? '';
  const query = new URL(headers.get('location') ?? '').searchParams;
  expect(query.get('code_challenge_method')).toBe('S256');
  expect([query.get('response_type'), query.get('nonce')?.length]).toEqual(['code', 43]);
  expect(headers.get('location')).not.toContain(cookie.split('.').at(-1));
  const back = async (path: string, own: Readonly<Record<string, string>>) => {
    const answer = await fetch(`${url}/login/callback?${path}`, { redirect: 'manual', headers: own });
    return [
      answer.headers.get('location'),
      answer.headers.getSetCookie().some((each) => each.includes('skep-console')),
    ];
  };
  const refused = [`${url}/#/sign-in/unknown`, false];
  expect(await back(`code=x&state=${state}`, {})).toEqual(refused);
  expect(await back(`code=x&state=${'A'.repeat(43)}`, { cookie })).toEqual(refused);
  expect(await back(`code=x&state=${state}&state=${state}`, { cookie })).toEqual(refused);
  expect(await back(`code=x&state=${state}`, { cookie })).toEqual([`${url}/#/sign-in/refused`, false]);
});

test.each(['token', 'access_token', 'id_token'])('%s in a URL is refused, also a right one', async (name) => {
  for (const path of ['/fleet', '/', '/runs', '/metrics', '/login/callback']) {
    const response = await fetch(`${url}${path}?${name}=machine`, { headers: token });
    expect([response.status, await response.json()], path).toMatchObject([400, { code: 'control-token-in-url' }]);
  }
});

test('the token of a machine reads and requests runs as before, and cannot act', async () => {
  expect((await fetch(`${url}/fleet`, { headers: token })).status).toBe(200);
  expect((await fetch(`${url}/sync`, { method: 'POST', headers: token })).status).toBe(202);
  const headers = { ...token, 'content-type': 'application/json' };
  expect((await fetch(`${url}/fleet/actions/sync`, { method: 'POST', headers, body: '{}' })).status).toBe(403);
  expect((await fetch(`${url}/fleet`)).status).toBe(401);
});
