// Starts the system's Chromium without a window, with a temporary profile.

import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BrowserContext, chromium, type Page } from 'playwright-core';
import { PATIENCE_MS } from './patience.ts';

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** Returns the path of the browser. undefined if no browser is installed. */
export function findBrowser(): string | undefined {
  return [process.env.CHROMIUM, ...PLACES].find((path) => path !== undefined && existsSync(path));
}

/** Message if no browser is installed. */
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
  /** Opens a new tab whose requests and errors are recorded. */
  open(): Promise<Tab>;
  close(): Promise<void>;
}

export interface Tab {
  readonly page: Page;
  /** URLs of all requests of the page. */
  readonly requests: readonly string[];
  /** Exceptions, and errors of the browser such as violated policies and failed loads. */
  readonly complaints: string[];
}

export async function startBrowser(executablePath: string): Promise<Browser> {
  const profile = await mkdtemp(join(tmpdir(), 'skep-browser-'));
  const options = { executablePath, headless: true, args: FLAGS, timeout: PATIENCE_MS };
  const context = await chromium.launchPersistentContext(profile, options);
  // Playwright's default timeout of 30 seconds is too short on a busy machine.
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
