// The console of `skep dev` sends the same headers as that of `skep run`: no response is shown in a frame, or taken for another type.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { createConsoleFront } from '#hosts/dev/front/console.ts';
import { INSTALLED } from '#std/words/command-of.ts';
import { fakeFleet, largeFleet } from '../../reconciler/control/console-app.ts';
import { fakeActions } from '../../reconciler/control/fake-actions.ts';

test('every response of the console forbids frames and guesses of its type', async () => {
  const runs = { list: async () => '{}', find: async () => '{}' };
  const shown = { fleet: fakeFleet(largeFleet(1)), runs, actions: fakeActions(), token: 'let-me-in' };
  const front = await createConsoleFront(shown, { commandOf: INSTALLED });
  const server = createServer(front.answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  for (const path of [
    '/',
    '/fleet',
    '/fleet/resource?id=none',
    '/fleet/events',
    '/fleet/waiting',
    '/fleet/session',
    '/runs',
    '/console/main.ts',
  ]) {
    const { headers, body } = await fetch(url + path);
    await body?.cancel();
    expect(headers.get('x-frame-options'), path).toBe('DENY');
    expect(headers.get('x-content-type-options'), path).toBe('nosniff');
    expect(headers.get('referrer-policy'), path).toBe('no-referrer');
    expect(headers.get('content-security-policy'), path).toMatch(/^default-src 'none'.*frame-ancestors 'none'/);
  }
  await front.close();
  server.close();
});

test('actions of the console need the token of the start; to look, nothing is needed', async () => {
  const actions = fakeActions();
  const runs = { list: async () => '{}', find: async () => '{}' };
  const shown = { fleet: fakeFleet(largeFleet(1)), runs, actions, token: 'let-me-in' };
  const front = await createConsoleFront(shown, { commandOf: INSTALLED });
  const server = createServer(front.answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const act = async (authorization?: string): Promise<number> => {
    const headers = { 'content-type': 'application/json', ...(authorization && { authorization }) };
    const { status } = await fetch(`${url}/fleet/actions/sync`, { method: 'POST', headers, body: '{}' });
    return status;
  };
  expect([await act(), await act('Bearer wrong'), actions.done.length]).toEqual([403, 401, 0]);
  expect([await act('Bearer let-me-in'), actions.done.length]).toEqual([200, 1]);
  const session = await (await fetch(`${url}/fleet/session`)).json();
  expect(session).toMatchObject({ role: 'viewer', acts: false, means: 'open' });
  await front.close();
  server.close();
});
