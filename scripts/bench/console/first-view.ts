// The console of a large fleet in Chromium: the main thread's work until the fleet is shown, and the longest task while its
// reader filters it.

import { findBrowser, startBrowser } from '../../../test/harness/browser.ts';

export interface View {
  /** Milliseconds of work of the main thread from the first byte until the fleet was shown, the login included. */
  readonly firstViewMs: number;
  /** The longest task of the main thread while the fleet was filtered key by key; 0 if none took 50 ms. */
  readonly longestTaskMs: number;
}

const COUNTER = `
  globalThis.longTasks = [];
  new PerformanceObserver((list) => globalThis.longTasks.push(...list.getEntries().map(({ duration }) => duration)))
    .observe({ type: 'longtask', buffered: true });
`;

/** Undefined if there is no Chromium. */
export async function measureView(url: string, token: string, entries: number): Promise<View | undefined> {
  const executable = findBrowser();
  if (executable === undefined) return undefined;
  const browser = await startBrowser(executable);
  try {
    const { page } = await browser.open();
    const session = await page.context().newCDPSession(page);
    await session.send('Performance.enable', { timeDomain: 'threadTicks' });
    await page.goto(`${url}/`);
    await page.getByLabel('Token').fill(token);
    const taskMs = async (): Promise<number> => {
      const { metrics } = await session.send('Performance.getMetrics');
      return 1000 * (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Number.NaN);
    };
    await page.keyboard.press('Enter');
    await page.getByText(new RegExp(`of ${entries} are healthy|All ${entries} are healthy`)).waitFor();
    const firstViewMs = await taskMs();
    await page.evaluate(COUNTER);
    const input = page.getByLabel('Filter by text');
    for (let times = 0; times < 3; times += 1) {
      await input.fill('');
      for (const key of 'server-91') await input.press(key);
      await page.locator('.card .name').getByText('server-91', { exact: true }).waitFor();
    }
    const longTasks: readonly number[] = await page.evaluate('globalThis.longTasks');
    return { firstViewMs, longestTaskMs: Math.max(0, ...longTasks) };
  } finally {
    await browser.close();
  }
}
