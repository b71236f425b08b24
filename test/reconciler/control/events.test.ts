// Streams of events: how many there are at a time, and how they end.

import { expect, test } from 'vitest';
import { fakeFleet, largeFleet } from './console-app.ts';
import { controlApp } from './control-app.ts';

const headers = { authorization: 'Bearer t' };

test('more than 64 streams at a time are refused; the others end with the listener, which does not wait for them', async () => {
  const fleet = fakeFleet(largeFleet(1));
  const app = controlApp({ fleet, tokens: { values: async () => ['t'] } });
  const url = `${await app.listen({ host: '127.0.0.1', port: 0 })}/fleet/events`;
  const streams = await Promise.all(Array.from({ length: 64 }, () => fetch(url, { headers })));
  expect(fleet.following()).toBe(64);
  const refused = await fetch(url, { headers });
  expect(refused.status).toBe(503);
  expect(((await refused.json()) as { code: string }).code).toBe('control-streams-exhausted');
  await streams[0]?.body?.cancel();
  await expect.poll(fleet.following).toBe(63);
  expect((await fetch(url, { headers })).status).toBe(200);
  await app.close();
  await expect.poll(fleet.following).toBe(0);
});

test('HEAD is answered at once and holds no stream', async () => {
  const fleet = fakeFleet(largeFleet(1));
  const app = controlApp({ fleet, tokens: { values: async () => ['t'] } });
  const { statusCode, headers: sent } = await app.inject({ method: 'HEAD', url: '/fleet/events', headers });
  expect([statusCode, sent['content-type'], fleet.following()]).toEqual([200, 'text/event-stream', 0]);
  await app.close();
});
