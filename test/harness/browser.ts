// A real browser without a window: Chromium as the system has it, with a profile of its own that is thrown away.

import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BrowserContext, chromium, type Page } from 'playwright-core';
import { PATIENCE_MS } from './patience.ts';

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** Undefined where there is none. */
export function findBrowser(): string | undefined {
  return [process.env.CHROMIUM, ...PLACES].find((path) => path !== undefined && existsSync(path));
}

/** What to print where there is none. */
export const NO_BROWSER =
  'skipped: there is no Chromium to look at the catalogue page with. Get one with `apt-get install chromium`, or name one: CHROMIUM=/path/to/chromium\n';

const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

export interface Browser {
  readonly context: BrowserContext;
  /** A new tab with an eye on it. */
  open(): Promise<Tab>;
  close(): Promise<void>;
}

export interface Tab {
  readonly page: Page;
  /** Everything that was asked for, by any means. */
  readonly requests: readonly string[];
  /** Exceptions, and what the browser itself complains of: broken policies, failed loads. */
  readonly complaints: string[];
}

export async function startBrowser(executablePath: string): Promise<Browser> {
  const profile = await mkdtemp(join(tmpdir(), 'skep-browser-'));
  const options = { executablePath, headless: true, args: FLAGS, timeout: PATIENCE_MS };
  const context = await chromium.launchPersistentContext(profile, options);
  // Those of Playwright are half a minute: a busy machine takes longer.
  context.setDefaultTimeout(PATIENCE_MS);
  return {
    context,
    async open() {
      const page = await context.newPage();
      const requests: string[] = [];
      const complaints: string[] = [];
      page.on('request', (request) => requests.push(request.url()));
      page.on('pageerror', (error) => complaints.push(String(error)));
      page.on('console', (message) => {
        if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
      });
      return { page, requests, complaints };
    },
    async close() {
      await context.close();
      await rm(profile, { recursive: true, force: true });
    },
  };
}
