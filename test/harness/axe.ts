// Runs axe-core on the current state of a page.

import axe from 'axe-core';
import type { Page } from 'playwright-core';

interface Finding {
  readonly id: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
}

export async function axeFindings(page: Page): Promise<readonly string[]> {
  await page.evaluate(axe.source);
  const violations: readonly Finding[] = await page.evaluate('axe.run(document).then(({ violations }) => violations)');
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
  );
}
