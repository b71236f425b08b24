// Pictures of pages for people, if SKEP_SCREENSHOTS names a folder.

import type { Page } from 'playwright-core';

const FOLDER = process.env.SKEP_SCREENSHOTS;

/** In both schemes, and at the widths of a desk and a phone. */
export async function shootPage(page: Page, name: string): Promise<void> {
  if (FOLDER === undefined) return;
  for (const [size, width] of [
    ['wide', 1280],
    ['phone', 390],
  ] as const) {
    await page.setViewportSize({ width, height: 840 });
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      await page.screenshot({ path: `${FOLDER}/${name}-${size}-${colorScheme}.png`, fullPage: name.includes('entry') });
    }
  }
}
