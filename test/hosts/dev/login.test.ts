// `skep dev`: a login in a real browser at the sample fleet's provider, through the authorization server inside a proxy, begun by
// `skep call`; and the documents that lead clients there.

import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RunningServers } from '#contracts/running-servers.ts';
import { type Browser, findBrowser, NO_BROWSER, startBrowser } from '../../harness/browser.ts';
import { eventually } from '../../harness/cluster.ts';
import { temporaryFolder } from '../../harness/git-server.ts';
import { type Running, startSkep } from '../../harness/skep.ts';

const executable = findBrowser();
if (executable === undefined) process.stderr.write(NO_BROWSER);
const folder = temporaryFolder();
/** What `skep call` opens is written to a file, which the browser of the test opens. */
const program = join(folder.path, 'browser');
const opened = join(folder.path, 'opened');
let dev: Running;
let origin: string;
let journal: string;
let browser: Browser;

describe.skipIf(executable === undefined)('in the sample fleet', () => {
  beforeAll(async () => {
    writeFileSync(program, `#!/bin/sh\nprintf %s "$1" > ${opened}.part && mv ${opened}.part ${opened}\n`);
    chmodSync(program, 0o755);
    dev = startSkep(['dev', '--port', '0', '--data', join(folder.path, 'dev')], { cwd: folder.path });
    browser = await startBrowser(executable ?? '');
    const text = await dev.printed('Ctrl-C stops everything');
    origin = /http:\/\/127\.0\.0\.1:\d+(?=\/mcp\/)/.exec(text)?.[0] ?? '';
    journal = `${origin}/mcp/ops/journal`;
    await eventually(
      async () => (await (await fetch(`${origin}/mcp`)).json()) as RunningServers,
      ({ servers }) => servers.some(({ url, ready }) => url === journal && ready),
    );
  });
  afterAll(async () => {
    await browser?.close();
    dev?.kill('SIGTERM');
    await dev?.finished;
    folder.remove();
  });

  it.each(['oauth-authorization-server', 'openid-configuration'])(
    'the document %s of an issuer with a path is at the root of the listener, its path inserted (RFC 8414 section 3.1)',
    async (name) => {
      const resource = await documentOf(`${origin}/.well-known/oauth-protected-resource/mcp/ops/journal`);
      expect(resource).toMatchObject({ resource: journal, authorization_servers: [journal] });
      for (const url of [`${origin}/.well-known/${name}/mcp/ops/journal`, `${journal}/.well-known/${name}`]) {
        expect(await documentOf(url)).toMatchObject({ issuer: journal, token_endpoint: `${journal}/oauth/token` });
      }
      expect(await documentOf(`${journal}/.well-known/jwks.json`)).toMatchObject({ keys: [{ use: 'sig' }] });
    },
  );

  it('a person whom skep call sends to the browser allows it, logs in with the provider, and the tool is called', async () => {
    const calling = call('ann', 'add_note', 'title=Shift', 'text=Quiet night');
    const complaints = await logInAs('ann', calling);
    expect(await calling.finished).toMatchObject({ code: 0, stderr: expect.stringContaining('Logged in.') });
    expect(complaints).toEqual([]);
    const again = await call('ann', 'list_notes').finished;
    expect(again).toMatchObject({ code: 0, stdout: expect.stringContaining('Shift'), stderr: '' });
    const { page } = await browser.open();
    await page.goto(`${journal}/oauth/apps`);
    expect(await page.textContent('main')).toContain('skep call');
  });

  it('a reader of the page logs in there, comes back to the server, and calls its tool', async () => {
    await browser.context.clearCookies();
    const { page, complaints } = await browser.open();
    await page.goto(`${origin}/catalogue#~ops/journal`);
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByRole('heading', { name: 'Let “The page of skep” connect?' }).waitFor();
    await page.getByRole('button', { name: 'Allow', exact: true }).click();
    await page.getByLabel('Name').fill('ann');
    await page.getByRole('button', { name: 'Log in and allow' }).click();
    await page.getByLabel('Tool', { exact: true }).selectOption('list_notes');
    // Nothing of the login is left in the address, where it would be in links and in the history.
    expect(page.url()).toBe(`${origin}/catalogue#~ops/journal`);
    await page.getByRole('button', { name: 'Call' }).click();
    await page.getByRole('region', { name: 'Answer', exact: true }).filter({ hasText: 'Shift' }).waitFor();
    expect(complaints.filter((complaint) => !complaint.startsWith('Failed to load resource'))).toEqual([]);
    await page.close();
  });

  it('a login that its person does not allow, and an answer that no one asked for, give the page no token', async () => {
    const { page } = await browser.open();
    await page.goto(`${origin}/catalogue#~ops/journal`);
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByRole('button', { name: 'Do not allow' }).click();
    await page.getByText('The login was refused').waitFor();
    await page.goto(`${origin}/catalogue?code=stolen&state=invented#~ops/journal`);
    await page.getByRole('button', { name: 'Log in' }).waitFor();
    expect(page.url()).toBe(`${origin}/catalogue#~ops/journal`);
    await page.close();
  });

  it.each(['{', 'null', '{"state":"given"}'])('the page begins if the tab keeps %s of a login', async (kept) => {
    const { page, complaints } = await browser.open();
    await page.goto(`${origin}/catalogue#~ops/journal`);
    await page.evaluate(`sessionStorage.setItem('skep-login', ${JSON.stringify(kept)})`);
    await page.goto(`${origin}/catalogue?code=any&state=given#~ops/journal`);
    await page.getByRole('button', { name: 'Log in' }).waitFor();
    expect(complaints).toEqual([]);
    await page.close();
  });

  it.each([
    ['oauth-protected-resource', (document: object) => ({ ...document, resource: `${origin}/mcp/ops/other` })],
    [
      'oauth-authorization-server',
      (document: object) => ({ ...document, code_challenge_methods_supported: ['plain'] }),
    ],
    ['oauth-authorization-server', (document: object) => ({ ...document, token_endpoint: 'https://other.example/' })],
    ['oauth-authorization-server', (document: object) => ({ ...document, authorization_endpoint: 'javascript:1' })],
  ])('the page offers no login by a document %s that it may not use', async (name, change) => {
    const { page } = await browser.open();
    await page.route(`**/.well-known/${name}/**`, async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, json: change(await response.json()) });
    });
    await page.goto(`${origin}/catalogue#~ops/journal`);
    await page.getByText('This page cannot log in at the issuer of the server.').waitFor();
    await page.close();
  });

  it('a person whom the policies know by the name at the provider may do what they permit', async () => {
    const reading = call('guest', 'list_notes');
    await logInAs('guest', reading);
    expect(await reading.finished).toMatchObject({ code: 0, stdout: expect.stringContaining('Shift') });
    const refused = await call('guest', 'add_note', 'title=Mine', 'text=No').finished;
    expect(refused).toMatchObject({
      code: 64,
      stderr: expect.stringMatching(/It has list_notes, read_note, search_notes\.$/m),
    });
  });
});

/** In a browser that knows no one; what it complained of. */
async function logInAs(name: string, calling: Running): Promise<readonly string[]> {
  await browser.context.clearCookies();
  const { page, complaints } = await browser.open();
  await page.goto(await untilOpened(calling));
  expect(await page.textContent('h1')).toBe('Let “skep call” connect?');
  expect(await page.textContent('main')).toContain(journal);
  await page.getByRole('button', { name: 'Allow', exact: true }).click();
  await page.getByLabel('Name').fill(name);
  // That of `skep call`; before it the browser is sent on by that of the authorization server.
  const answer = page.waitForResponse(
    (response) => response.url().includes('/callback?') && !isRedirect(response.status()),
  );
  await page.getByRole('button', { name: 'Log in and allow' }).click();
  const { status, url } = await answer.then((response) => ({ status: response.status(), url: response.url() }));
  expect(`${status} ${url} ${await page.textContent('body')}`).toMatch(/^200 /);
  // No one has an icon.
  return complaints.filter((complaint) => !complaint.startsWith('Failed to load resource'));
}

function call(who: string, ...args: readonly string[]): Running {
  const env = { XDG_STATE_HOME: join(folder.path, who), BROWSER: program };
  return startSkep(['call', journal, ...args], { cwd: folder.path, env });
}

/** A call that ends before it opens the browser says why: no one waits for a browser then. */
async function untilOpened(calling: Running): Promise<string> {
  const url = eventually(
    async () => (existsSync(opened) ? readFileSync(opened, 'utf8') : ''),
    (text) => text !== '',
  );
  const early = calling.finished.then(({ stdout, stderr }) => {
    throw new Error(`skep call opened no browser: ${stdout}${stderr}`);
  });
  early.catch(() => undefined);
  url.catch(() => undefined);
  const address = await Promise.race([url, early]);
  rmSync(opened);
  return address;
}

function isRedirect(status: number): boolean {
  return status >= 300 && status < 400;
}

async function documentOf(url: string): Promise<unknown> {
  const answer = await fetch(url);
  expect(`${url} ${answer.status}`).toBe(`${url} 200`);
  return answer.json();
}
