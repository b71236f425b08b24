// The actions of the console in a real browser, with nothing behind them: dialogs that show exactly what would be done, by
// keyboard, without findings of axe; readers who may only look; hostile text.

import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { NOTHING_WAITS } from '#reconciler/run/fleet-state/waiting.ts';
import { axeFindings } from '../../harness/axe.ts';
import { type Browser, findBrowser, startBrowser, type Tab } from '../../harness/browser.ts';
import { fakeFleet } from './console-app.ts';
import { EVIL, recordedRuns, smallFleet } from './console-fleet.ts';
import { controlApp } from './control-app.ts';
import { type FakeActions, fakeActions } from './fake-actions.ts';

const executable = findBrowser();
const OPERATOR = 'let-me-act';
const VIEWER = 'let-me-look';
const fleet = fakeFleet(smallFleet());
let browser: Browser;
let actions: FakeActions;
let url: string;
let close: () => Promise<unknown>;

beforeAll(async () => {
  if (executable !== undefined) browser = await startBrowser(executable);
});

beforeEach(async () => {
  actions = fakeActions();
  const operatorTokens = { values: async () => [OPERATOR] };
  const tokens = { values: async () => [VIEWER] };
  const app = controlApp({ fleet, actions, runs: recordedRuns(), operatorTokens, tokens });
  close = () => app.close();
  url = await app.listen({ host: '127.0.0.1', port: 0 });
});

afterEach(async () => {
  for (const page of browser?.context.pages() ?? []) await page.close();
  await close();
});

afterAll(() => browser?.close());

async function openAt(address: string, token = OPERATOR): Promise<Tab> {
  const tab = await browser.open();
  await tab.page.goto(`${url}/${address}`);
  await tab.page.getByLabel('Token').fill(token);
  await tab.page.keyboard.press('Enter');
  await tab.page.getByRole('navigation', { name: 'Views' }).waitFor();
  return tab;
}

async function shoot(page: Page, name: string): Promise<void> {
  if (process.env.SKEP_SCREENSHOTS === undefined) return;
  for (const [size, width] of [['wide', 1280] as const, ['phone', 390] as const]) {
    await page.setViewportSize({ width, height: 840 });
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      await page.screenshot({ path: `${process.env.SKEP_SCREENSHOTS}/${name}-${size}-${colorScheme}.png` });
    }
  }
}

async function expectNoFindings(page: Page): Promise<void> {
  for (const width of [1280, 390]) {
    await page.setViewportSize({ width, height: 840 });
    expect(await page.evaluate('document.documentElement.scrollWidth <= window.innerWidth')).toBe(true);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await axeFindings(page), `${width} ${colorScheme}`).toEqual([]);
    }
  }
  await page.setViewportSize({ width: 1280, height: 840 });
}

describe.skipIf(executable === undefined)('the actions of the console', () => {
  test('an approval is confirmed by keyboard, after its exact list, and nothing is done before', async () => {
    const { page, complaints } = await openAt('#/waiting');
    await page.getByRole('button', { name: 'Approve' }).focus();
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Approve these deletions' });
    await dialog.getByRole('region', { name: 'Objects to be deleted' }).waitFor();
    expect(await dialog.getByRole('listitem').allInnerTexts()).toEqual([
      'ops/MCPServer/news',
      'ops/StatefulSet/news',
      `Namespace/${EVIL}`,
      `Namespace/${EVIL} also deletes 2 Secrets of ${EVIL}`,
      `Namespace/${EVIL} also deletes all objects of Widget.example.com`,
    ]);
    await expectNoFindings(page);
    await shoot(page, 'approve');
    // Without the tick the browser itself keeps the form.
    await dialog.getByRole('button', { name: 'Delete' }).focus();
    await page.keyboard.press('Enter');
    expect(actions.done).toEqual([]);
    // The browser's own message about the missing tick may take the first key.
    await expect.poll(() => page.keyboard.press('Escape').then(() => dialog.count())).toBe(0);
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Approve');
    // A list that was read again at this moment may take the focus away.
    const approve = page.getByRole('button', { name: 'Approve' });
    await expect
      .poll(async () => {
        if ((await dialog.count()) === 0) await approve.press('Enter');
        return dialog.count();
      })
      .toBe(1);
    await dialog.getByRole('checkbox').focus();
    await page.keyboard.press('Space');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Delete');
    await page.keyboard.press('Enter');
    await page.getByRole('status').getByText('Approved. A run makes the deletions now.').waitFor();
    expect(actions.done).toEqual([['approve', { hash: '3f1c0b5e9a7d2468' }, 'operator token 1']]);
    expect(actions.runs()).toBe(1);
    await page.getByText('operator token 1: approve 3f1c0b5e9a7d2468, done').waitFor();
    expect(await page.locator('img').count()).toBe(0);
    expect(complaints.filter((each) => !each.includes('401'))).toEqual([]);
  });

  test('an approval whose list changes while someone reads it is refused, and the dialog says so', async () => {
    const { page } = await openAt('#/waiting');
    await page.getByRole('button', { name: 'Approve' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('checkbox').check();
    actions.put({
      ...NOTHING_WAITS,
      approvals: [{ source: 'fleet', hash: '3f1c0b5e9a7d2468', reasons: [], deletions: [{ id: 'ops/MCPServer/all' }] }],
    });
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await dialog
      .getByRole('alert')
      .getByText('The reconciler did not confirm the action: the action would now do something else')
      .waitFor();
    expect(actions.done).toEqual([]);
  });

  test('a rollback shows its commits and changes in the page of runs', async () => {
    const { page } = await openAt('#/runs');
    await page.getByRole('button', { name: 'Roll back to this run' }).first().click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('update docs/MCPServer/wiki').waitFor();
    expect(await dialog.getByRole('listitem').allInnerTexts()).toEqual([
      `${EVIL}: from 9c1d0c5ad1 back to 41be9e2f07`,
      'update docs/MCPServer/wiki',
      `delete docs/MCPServer/${EVIL}, after an approval`,
    ]);
    await expectNoFindings(page);
    await shoot(page, 'rollback');
    await dialog.getByRole('checkbox').check();
    await dialog.getByRole('button', { name: 'Roll back' }).click();
    await page.getByText('Rolled back. A run makes the changes now.').waitFor();
    expect(actions.done.map(([name, , by]) => [name, by])).toEqual([['rollback', 'operator token 1']]);
  });

  test('an instance is suspended with a reason, resumed, and a registry is read', async () => {
    const { page } = await openAt('#/waiting');
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Resume' }).click();
    await page.getByText('Resumed. A run makes the pending changes now.').waitFor();
    actions.put(NOTHING_WAITS);
    await page.getByRole('button', { name: 'Read registry platform/catalogue' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Read it' }).click();
    await page.getByRole('heading', { name: 'Nothing waits for you' }).waitFor();
    await page.getByRole('button', { name: 'Suspend' }).click();
    await page.getByLabel('Reason').fill('moving');
    await page.getByRole('dialog').getByRole('button', { name: 'Suspend' }).click();
    await page.getByText('Suspended. Runs write nothing.').waitFor();
    expect(actions.done.map(([name, input]) => [name, input])).toEqual([
      ['resume', {}],
      ['trigger', { namespace: 'platform', name: 'catalogue' }],
      ['suspend', { reason: 'moving' }],
    ]);
  });

  test('a run is requested from the page of the fleet', async () => {
    const { page } = await openAt('#/fleet');
    await page.getByRole('button', { name: 'Sync now' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Sync', exact: true }).click();
    await page.getByRole('status').getByText('A run begins now.').waitFor();
    expect(actions.done.map(([name]) => name)).toEqual(['sync']);
  });

  test('a closed window is shown with its end, and an approval that has expired', async () => {
    actions.put({
      ...NOTHING_WAITS,
      paused: { by: 'window', window: `deny "0 0 * * 5" for 60 h ${EVIL}`, until: '2030-01-01T00:00:00Z' },
      approvals: [{ source: '', hash: 'ab', reasons: ['r'], expiredAt: '2026-01-01T00:00:00Z', deletions: [] }],
    });
    const { page } = await openAt('#/waiting');
    await page
      .getByText(/^Nothing is written until .*20(29|30).*: the window is deny "0 0 \* \* 5" for 60 h <img/)
      .waitFor();
    await page.getByText('An approval expired at').waitFor();
    await page.getByText('run skep approve ab').waitFor();
    expect(await page.getByRole('button', { name: 'Approve' }).count()).toBe(0);
    await expectNoFindings(page);
  });

  test('a reader who may only look sees why, and the buttons open nothing', async () => {
    const { page } = await openAt('#/waiting', VIEWER);
    await page.getByText('This token may look only.').first().waitFor();
    await page.getByRole('button', { name: 'Approve' }).click({ force: true });
    await page.getByRole('button', { name: 'Resume' }).click({ force: true });
    expect(await page.getByRole('dialog').count()).toBe(0);
    await expectNoFindings(page);
    const posted: number = await page.evaluate(`fetch('/fleet/actions/resume', {
      method: 'POST', body: '{}',
      headers: { 'content-type': 'application/json', authorization: 'Bearer ${VIEWER}' },
    }).then(({ status }) => status)`);
    expect([posted, actions.done]).toEqual([403, []]);
    expect(actions.entries).toMatchObject([
      { action: 'resume', by: 'viewer token 1', result: 'refused', code: 'control-not-operator' },
    ]);
  });
});
