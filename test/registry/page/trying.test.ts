// "Try it" on the page of a running server, in a real browser: forms by the schema, progress, a call that its reader cancels, and
// answers with images and resources. The server behind it keeps its requests. In one file, because all tests share that server.

import { createServer, type Server } from 'node:http';
import { pino } from 'pino';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { settleConfig } from '#contracts/registry/service.ts';
import { createFront, type Front } from '#hosts/dev/front/front.ts';
import { type Service as RunningService, startService } from '#hosts/registry/serve.ts';
import { startMember, type TestMember, tool } from '../../gateway/virtual-server/member.ts';
import { axeFindings } from '../../harness/axe.ts';
import { type Browser, findBrowser, NO_BROWSER, startBrowser, type Tab } from '../../harness/browser.ts';
import { openService, type Service } from '../service/service.ts';

const executable = findBrowser();
if (executable === undefined) process.stderr.write(NO_BROWSER);

const TOKEN = 'the-token-of-skep-dev';
/** A red dot. */
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP4z8DwHwAFAAH/iZk9HQAAAABJRU5ErkJggg==';

const FORM = {
  type: 'object',
  required: ['title', 'words'],
  properties: {
    note: { type: 'string', description: 'May be left out.' },
    title: { type: 'string' },
    words: { type: 'array', items: { type: 'string' } },
    count: { type: 'integer', minimum: 1, maximum: 9 },
    loud: { type: 'boolean' },
    place: {
      type: 'object',
      title: 'Place',
      required: ['city'],
      properties: { city: { type: 'string' }, zip: { type: 'integer' } },
    },
  },
};

/** Names that objects of JavaScript have already, ids that would be the same, and groups that can be left out. */
const ODD_FORM = {
  type: 'object',
  required: 'title',
  properties: {
    ...JSON.parse('{"__proto__": {"type": "string", "title": "proto"}}'),
    constructor: { type: 'string' },
    'two words': { type: 'string', description: 'About the two words.' },
    a: { type: 'object', properties: { b: { type: 'string', title: 'inner' } } },
    'a-b': { type: 'string', title: 'outer' },
    nothing: true,
    place: {
      type: 'object',
      required: ['city', 'more'],
      properties: {
        city: { type: 'string' },
        zip: { type: 'integer' },
        near: { type: 'boolean', default: true },
        more: { type: 'object', properties: {} },
      },
    },
  },
};

const RESULTS = {
  draw: () => ({
    content: [
      { type: 'text', text: 'The image below is a dot.' },
      { type: 'image', mimeType: 'image/png', data: PNG },
      { type: 'image', mimeType: 'image/svg+xml', data: 'PHN2Zy8+' },
      { type: 'audio', mimeType: 'audio/wav', data: 'AA==' },
    ],
  }),
  find: () => ({
    content: [
      { type: 'resource_link', uri: 'note:///one', name: 'one', title: '<b>Note one</b>' },
      { type: 'resource', resource: { uri: 'note:///two', text: 'The text of note two.' } },
    ],
  }),
};

describe.skipIf(executable === undefined)('"Try it"', () => {
  let member: TestMember;
  let front: Front;
  let service: Service;
  let running: RunningService;
  let listener: Server;
  let browser: Browser;
  let tab: Tab;
  let page: Page;

  beforeAll(async () => {
    member = await startMember({
      tools: [
        tool('draw'),
        tool('fill', { inputSchema: FORM }),
        tool('odd', { inputSchema: ODD_FORM }),
        tool('find'),
        tool('hang'),
      ],
      results: RESULTS,
    });
    service = await openService();
    listener = createServer((request, response) => {
      if (!front.serve(request, response)) running.handle(request, response);
    });
    await new Promise<void>((done) => listener.listen(0, '127.0.0.1', done));
    const address = listener.address();
    const origin = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
    const place = { namespace: 'ops', name: 'tried', transport: 'streamable-http', auth: 'token' } as const;
    const servers = [{ ...place, ready: true, port: member.port }];
    front = createFront({ origin: () => origin, token: TOKEN, servers: async () => servers });
    const config = settleConfig({ registries: [], auth: { mode: 'anonymous' } });
    running = await startService(config, service.store, pino({ level: 'silent' }), { within: origin });
    browser = await startBrowser(executable ?? '');
  });

  afterAll(async () => {
    await browser?.close();
    front?.close();
    listener?.close();
    listener?.closeAllConnections();
    await running?.stop();
    await service?.close();
    await member?.close();
  });

  beforeEach(async () => {
    tab = await browser.open();
    page = tab.page;
    await page.goto(`${running.url}/#token=${TOKEN}`);
    await page.getByRole('link', { name: 'ops/tried' }).click();
    await page.getByLabel('Tool', { exact: true }).waitFor();
  });

  afterEach(async () => {
    expect(tab.requests.filter((url) => !/^data:|^http:\/\/127\.0\.0\.1:/.test(url))).toEqual([]);
    expect(tab.complaints).toEqual([]);
    await page.close();
  });

  const called = () => member.calls('tools/call').at(-1)?.message.params;
  const answer = () => page.getByRole('region', { name: 'Answer', exact: true });

  async function choose(name: string): Promise<void> {
    await page.getByLabel('Tool', { exact: true }).selectOption(name);
  }

  async function call(): Promise<void> {
    await page.getByRole('button', { name: 'Call' }).click();
  }

  test('comes first, and the configuration of clients is in a tab that arrow keys reach', async () => {
    const tabs = page.getByRole('tab');
    expect(await tabs.allTextContents()).toEqual(['Try it', 'Connect a client']);
    expect(await page.getByRole('radio', { name: 'VS Code' }).isVisible()).toBe(false);
    await tabs.first().focus();
    await page.keyboard.press('ArrowRight');
    await page.getByRole('radio', { name: 'VS Code' }).waitFor();
    expect(await page.getByLabel('Tool', { exact: true }).isVisible()).toBe(false);
    await page.keyboard.press('ArrowRight');
    await page.getByLabel('Tool', { exact: true }).waitFor();
  });

  test('fields of an object are a group, and those that are required come first', async () => {
    await choose('fill');
    const labels = await page.locator('form label, form legend').allTextContents();
    expect(labels).toEqual([
      ...['title', 'words', 'note (optional)', 'count (optional)', 'loud (optional)'],
      ...['Place (optional)', 'city', 'zip (optional)'],
    ]);
    await page.getByLabel('title').fill('A title');
    await page.getByLabel('words').fill('one\ntwo words\n\n');
    await call();
    await answer().waitFor();
    expect(called()).toMatchObject({ arguments: { title: 'A title', words: ['one', 'two words'] } });
    expect(Object.keys(called().arguments)).toEqual(['title', 'words']);
    await page.getByLabel('zip').fill('1234');
    await call();
    const message = page
      .getByLabel('city')
      .evaluate((input) => ('validationMessage' in input ? input.validationMessage : ''));
    expect(await message).toBe('This is needed with the other fields of its group.');
    await page.getByLabel('city').fill('Delft');
    await page.getByLabel('loud').check();
    await call();
    await expect.poll(() => called().arguments.place).toEqual({ city: 'Delft', zip: 1234 });
    expect(called().arguments.loud).toBe(true);
  });

  test('names that JavaScript has already become members, and each label is for its own field', async () => {
    await choose('odd');
    await page.getByLabel('proto').fill('one');
    await page.getByLabel('constructor').fill('two');
    await page.getByLabel('inner').fill('three');
    await page.getByLabel('outer').fill('four');
    await call();
    await answer().waitFor();
    expect(JSON.stringify(called().arguments)).toBe(
      '{"__proto__":"one","constructor":"two","a":{"b":"three"},"a-b":"four"}',
    );
    const about = await page.getByLabel('two words').evaluate((field) => field.getAttribute('aria-describedby') ?? '');
    expect(await page.locator(`[id="${about}"]`).textContent()).toBe('About the two words.');
    expect(about).not.toContain(' ');
  });

  test('a group with a default can be left out, also after a complaint about it', async () => {
    await choose('odd');
    await call();
    await answer().waitFor();
    expect(called().arguments).toEqual({});
    await page.getByLabel('zip').fill('1234');
    await call();
    await page.getByLabel('city').and(page.locator(':invalid')).waitFor();
    await page.getByLabel('city').fill('Delft');
    await call();
    await page.getByLabel('more').and(page.locator(':invalid')).waitFor();
    await page.getByLabel('zip').fill('');
    await page.getByLabel('city').fill('');
    const before = member.calls('tools/call').length;
    await call();
    await expect.poll(() => member.calls('tools/call').length).toBe(before + 1);
    expect(called().arguments).toEqual({});
  });

  test('an answer shows its images, and names what the page does not show', async () => {
    await choose('draw');
    await call();
    const image = answer().getByRole('img', { name: 'Image at position 2 of the answer' });
    await image.waitFor();
    expect(await image.evaluate((shown) => 'naturalWidth' in shown && shown.naturalWidth)).toBe(1);
    expect(await answer().locator('pre').allTextContents()).toEqual([
      'The image below is a dot.',
      '[an image of type image/svg+xml, which this page does not show]',
      '[audio, audio/wav]',
    ]);
  });

  test('a link to a resource is read through the same session when its reader asks for it', async () => {
    await choose('find');
    await call();
    await answer().getByText('The text of note two.').waitFor();
    await answer().getByText('<b>Note one</b>').waitFor();
    await page.getByRole('button', { name: 'Read note:///one' }).click();
    await expect.poll(() => member.calls('resources/read').at(-1)?.message.params).toEqual({ uri: 'note:///one' });
    const [read] = member.calls('resources/read').slice(-1);
    expect(read?.headers['mcp-session-id']).toBe(member.calls('tools/call').at(-1)?.headers['mcp-session-id']);
  });

  test('a call shows its progress, and the server is told that its reader cancelled it', async () => {
    await choose('hang');
    const hanging = member.hanging();
    await call();
    const { message, event, closed } = await hanging;
    const { progressToken } = message.params._meta;
    event({ method: 'notifications/progress', params: { progressToken, progress: 2, total: 5, message: 'stirring' } });
    await page.getByText('2 of 5 stirring').waitFor();
    expect(await page.getByRole('progressbar').getAttribute('value')).toBe('2');
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByText('The call is cancelled.').waitFor();
    await closed;
    await expect.poll(() => member.calls('notifications/cancelled').at(-1)?.message.params.requestId).toBe(message.id);
    expect(await page.getByRole('button', { name: 'Cancel' }).isVisible()).toBe(false);
    await choose('draw');
    await call();
    await answer().waitFor();
  });

  test('a call is cancelled if its reader chooses another tool', async () => {
    await choose('hang');
    const hanging = member.hanging();
    await call();
    const { message, closed } = await hanging;
    await choose('draw');
    await closed;
    await expect.poll(() => member.calls('notifications/cancelled').at(-1)?.message.params.requestId).toBe(message.id);
  });

  test.each([
    { colorScheme: 'light', width: 1280, height: 900 },
    { colorScheme: 'dark', width: 390, height: 844 },
  ] as const)('axe finds nothing in it, $colorScheme at a width of $width', async ({ colorScheme, ...size }) => {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize(size);
    await choose('fill');
    expect(await axeFindings(page)).toEqual([]);
    await choose('draw');
    await call();
    await answer().waitFor();
    expect(await axeFindings(page)).toEqual([]);
  });
});
