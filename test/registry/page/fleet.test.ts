// The page where servers run in a cluster: what it shows of them, how it says to connect, and what it leaves to the machine of
// `skep dev`. A real PostgreSQL that a reconciler has written to, and a real browser.

import { pino } from 'pino';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { readRegistryConfig } from '#contracts/registry/config-read.ts';
import type { RunningServer } from '#contracts/running-servers.ts';
import { type Service as Started, startService } from '#hosts/registry/serve.ts';
import { type Browser, findBrowser, NO_BROWSER, startBrowser, type Tab } from '../../harness/browser.ts';
import { type Issuer, startIssuer } from '../../harness/issuer.ts';
import { AUDIENCE } from '../service/gate.ts';
import { openService, type Service } from '../service/service.ts';
import { CLOCK, entryOf } from './fixtures.ts';
import { shootPage } from './shoot.ts';

const executable = findBrowser();
if (executable === undefined) process.stderr.write(NO_BROWSER);

const RUNNER = { instance: 'prod', homeNamespace: 'skep' };
const IMAGE = 'images.acme.example/clock:1.10.0';
const URL_OF_CLOCK = 'http://mcp-clock-proxy.fleet.svc.cluster.local:8080/mcp';

const SERVERS: readonly RunningServer[] = [
  {
    ...{ namespace: 'fleet', name: 'clock', url: URL_OF_CLOCK, transport: 'streamable-http', ready: true },
    ...{ auth: 'none', image: IMAGE, args: ['--password=of-the-inside'] },
    provenance: [
      {
        predicateType: 'https://slsa.dev/provenance/v1',
        repository: 'https://github.com/acme/clock',
        identity: 'https://github.com/acme/clock/.github/workflows/release.yml@refs/tags/v1.10.0',
      },
      { predicateType: '<b>other</b>', repository: 'javascript:alert(1)', identity: 'http://builder.acme.example/1' },
    ],
  },
  {
    ...{ namespace: 'fleet', name: 'mail', transport: 'streamable-http', ready: true, auth: 'none' },
    url: 'https://mail.acme.example/mcp',
    drift: 'definitions that differ from the reviewed ones are held back: tool <b>send</b> (differs).',
  },
  {
    ...{ namespace: 'fleet', name: 'office', transport: 'streamable-http', ready: false, auth: 'oidc' },
    url: 'https://office.acme.example/mcp',
    ...{ image: 'images.acme.example/of-the-inside:1', provenance: [{ predicateType: 'of-the-inside' }] },
  },
];

function configuration(issuer: string, more = '') {
  const provider = `{name: main, issuerUrl: "${issuer}", audience: "${AUDIENCE}", allowPrivateIP: true}`;
  const text = `registryName: catalogue
namespace: fleet
registries: [{name: tools, file: {path: tools.json}}]
auth: {oauth: {resourceUrl: "https://r.example", providers: [${provider}]}}
${more}`;
  const read = readRegistryConfig(text, 'config.yaml');
  if ('problems' in read) throw new Error('the configuration has problems');
  return { ...read.config, listen: { host: '127.0.0.1', port: 0 } };
}

describe('what is asked of the service', () => {
  let service: Service;
  let issuer: Issuer;

  beforeAll(async () => {
    [service, issuer] = await Promise.all([openService(), startIssuer()]);
    await service.store.recordRunning(RUNNER, SERVERS);
  });

  afterAll(() => Promise.all([service.close(), issuer.close()]));

  async function ask(more: string, headers: Readonly<Record<string, string>>): Promise<number> {
    const started = await startService(configuration(issuer.url, more), service.store, pino({ level: 'silent' }));
    try {
      return (await fetch(`${started.url}/mcp`, { headers })).status;
    } finally {
      await started.stop();
    }
  }

  test('readers with a token see what runs, unless that is switched off; nobody else does', async () => {
    const headers = { authorization: `Bearer ${await issuer.token('jwt', AUDIENCE)}` };
    expect(await ask('', headers)).toBe(200);
    expect(await ask('', {})).toBe(401);
    expect(await ask('running: disabled', headers)).toBe(404);
    expect((await service.get('/mcp')).status).toBe(404);
    expect((await service.get('/')).text).toContain('data-running="hidden"');
  });

  test('an anonymous registry that says so shows it, as its OpenAPI document describes', async () => {
    const open = await openService('auth: {mode: anonymous}', 'running: enabled');
    try {
      await open.store.recordRunning(RUNNER, SERVERS);
      const { status, headers, json } = await open.get('/mcp');
      expect({ status, cached: headers['cache-control'] }).toEqual({ status: 200, cached: 'no-store' });
      expect(json.servers.map(({ name }: RunningServer) => name)).toEqual(['clock', 'mail', 'office']);
      expect((await open.get('/openapi.json')).json.paths['/mcp'].get.responses).toHaveProperty('200');
      expect((await open.send({ method: 'POST', url: '/mcp' })).status).toBe(405);
    } finally {
      await open.close();
    }
  });
});

describe.skipIf(executable === undefined)('the page of a registry whose fleet runs in a cluster', () => {
  let service: Service;
  let issuer: Issuer;
  let started: Started;
  let browser: Browser;
  let tab: Tab;
  let page: Page;

  beforeAll(async () => {
    [service, issuer] = await Promise.all([openService(), startIssuer()]);
    await service.fill([entryOf(CLOCK)], '2026-01-01T00:00:00.000Z');
    await service.store.recordRunning(RUNNER, SERVERS);
    started = await startService(configuration(issuer.url), service.store, pino({ level: 'silent' }));
    browser = await startBrowser(executable ?? '');
  });

  afterAll(async () => {
    await browser?.close();
    await started?.stop();
    await Promise.all([service?.close(), issuer?.close()]);
  });

  beforeEach(async () => {
    tab = await browser.open();
    page = tab.page;
  });

  afterEach(async () => {
    expect(tab.requests.filter((url) => !url.startsWith(`${started.url}/`))).toEqual([]);
    expect(tab.complaints).toEqual([]);
    await page.close();
  });

  async function open(fragment: string): Promise<void> {
    await page.goto(`${started.url}/${fragment}`);
    await page.getByLabel('Token').fill(await issuer.token('jwt', AUDIENCE));
    await page.keyboard.press('Enter');
  }

  test('lists what runs with its URL and readiness, and marks the entries that it stands for', async () => {
    await open('');
    const band = page.getByRole('region', { name: 'Running here' });
    await band.getByRole('link', { name: 'fleet/clock' }).waitFor();
    expect(await band.getByRole('listitem').allTextContents()).toEqual([
      `readyfleet/clock${URL_OF_CLOCK}`,
      'readyfleet/mailtools differ from their lockhttps://mail.acme.example/mcp',
      'not readyfleet/officehttps://office.acme.example/mcp',
    ]);
    expect(await page.getByRole('link', { name: 'Runs of the reconciler' }).count()).toBe(0);
    await page.locator('.card').filter({ hasText: 'runs here' }).filter({ hasText: 'Clock' }).waitFor();
  });

  test('of a large fleet the first servers are listed, and the others on request', async () => {
    const many = Array.from({ length: 20 }, (_, at) => `server-${String(at).padStart(2, '0')}`);
    const large = many.map((name): RunningServer => ({ ...SERVERS[0], name }) as RunningServer);
    await service.store.recordRunning(RUNNER, large);
    try {
      await open('');
      const band = page.getByRole('region', { name: 'Running here' });
      await band.getByText('8 more').waitFor();
      expect(await band.getByRole('link', { name: 'fleet/server-11' }).isVisible()).toBe(true);
      expect(await band.getByText('fleet/server-19').isVisible()).toBe(false);
      await band.getByText('8 more').click();
      expect(await band.getByRole('link', { name: 'fleet/server-19' }).isVisible()).toBe(true);
    } finally {
      await service.store.recordRunning(RUNNER, SERVERS);
    }
  });

  test('an entry that runs shows its URL and readiness, and offers it first, without a token', async () => {
    await open(`#/tools/${encodeURIComponent('io.acme/clock')}`);
    const here = page.locator('.here');
    await here.getByRole('heading', { name: 'It runs here' }).waitFor();
    expect(await here.getByRole('heading', { level: 3 }).allTextContents()).toEqual(['fleet/clock']);
    expect(await here.locator('dl').textContent()).toContain(`StatereadyURL${URL_OF_CLOCK}`);
    // The server that runs comes before everything that the catalogue says about it.
    const headings = await page.locator('article').getByRole('heading', { level: 2 }).allTextContents();
    expect(headings.slice(0, 2)).toEqual(['It runs here', 'Connect a client']);
    await shootPage(page, 'catalogue-running-entry');
    const ways = page.getByLabel('Run or reach it as').locator('option');
    expect(await ways.first().textContent()).toBe('Running here: fleet/clock');
    await page.getByRole('radio', { name: 'Claude Code' }).check();
    expect(JSON.parse((await page.locator('.snippet pre').textContent()) ?? '')).toEqual({
      mcpServers: { clock: { type: 'http', url: URL_OF_CLOCK } },
    });
  });

  test('the page of a server says what it needs and where its address is known, and calls nothing', async () => {
    await open('#~fleet/clock');
    await page.getByText('This address is known inside the cluster only.').waitFor();
    const facts = await page.locator('dl.facts').textContent();
    expect(facts).toContain('no token');
    expect(facts).not.toContain('of-the-inside');
    expect(await page.getByRole('button', { name: 'List its tools' }).count()).toBe(0);
    await page.goto(`${started.url}/#~fleet/office`);
    await page.getByText('a login at its issuer').waitFor();
    expect(await page.getByText('This address is known inside the cluster only.').count()).toBe(0);
  });

  test('the page of a server names attestations of its image, and links what has an address with TLS', async () => {
    await open('#~fleet/clock');
    const shown = page.locator('.facts .provenance');
    await shown.first().waitFor();
    expect(await shown.allTextContents()).toEqual([
      'https://slsa.dev/provenance/v1Repository: https://github.com/acme/clockWorkflow: https://github.com/acme/clock/.github/workflows/release.yml@refs/tags/v1.10.0',
      '<b>other</b>Repository: javascript:alert(1)Workflow: http://builder.acme.example/1',
    ]);
    const links = await shown.locator('a').evaluateAll((all) => all.map((each) => each.getAttribute('href')));
    expect(links).toEqual([
      'https://github.com/acme/clock',
      'https://github.com/acme/clock/blob/v1.10.0/.github/workflows/release.yml',
    ]);
    await page.goto(`${started.url}/#~fleet/office`);
    await page.getByText('a login at its issuer').waitFor();
    expect(await page.locator('dl.facts').textContent()).not.toContain('of-the-inside');
    expect(await shown.count()).toBe(0);
  });

  test('the page of a server names definitions that differ from its lock, and the command that compares them', async () => {
    await open('#~fleet/mail');
    const drift = page.locator('.facts .drift');
    await drift.waitFor();
    const text = await drift.textContent();
    expect(text).toContain('held back: tool <b>send</b> (differs).');
    expect(text).toContain('skep lock fleet/mail --diff');
    await page.goto(`${started.url}/#~fleet/office`);
    await page.getByText('a login at its issuer').waitFor();
    expect(await drift.count()).toBe(0);
  });

  test('where no reconciler has left what runs, the page says nothing of it', async () => {
    await service.store.recordRunning(RUNNER, []);
    await open(`#/tools/${encodeURIComponent('io.acme/clock')}`);
    await page.getByLabel('Run or reach it as').waitFor();
    expect(await page.locator('.here').count()).toBe(0);
    await page.goto(`${started.url}/#`);
    await page.locator('.card').filter({ hasText: 'Clock' }).waitFor();
    expect(await page.getByRole('region', { name: 'Running here' }).count()).toBe(0);
  });
});
