// Streams of events: how they begin, how many there are at a time, and how they end.

import { expect, test } from 'vitest';
import { readConfig } from '#hosts/config/read-config.ts';
import { openFleetFeed } from '#hosts/reconciler/console/fleet.ts';
import { Failure } from '#std/failure.ts';
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

test('a stream that is opened during a run says so first', () => {
  const text = 'name: test\nsources: [{name: fleet, repository: https://git.example.com/fleet.git}]';
  const feed = openFleetFeed(readConfig({ text, file: 'skep.yaml', environment: {} }), () => undefined);
  const fleet = feed.shown({ cluster: { podReads: {} } } as never);
  const eventsNow = (): readonly string[] => {
    const events: string[] = [];
    fleet.follow((event) => events.push(event))();
    return events;
  };
  expect(eventsNow()).toEqual([]);
  feed.began('run-1');
  expect(eventsNow()).toEqual(['began']);
  feed.failed(new Failure('cluster-unreachable', 'no answer'));
  expect(eventsNow()).toEqual([]);
});
