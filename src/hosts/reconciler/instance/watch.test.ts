// Tests the events for the vitals of a run: every read of a source ends with an event, even if it fails.

import { expect, test } from 'vitest';
import type { Checkout } from '#reconciler/run/ports.ts';
import type { FleetSource } from '#reconciler/run/read/gather.ts';
import type { Content } from '#registry/catalogue/ports.ts';
import { Failure } from '#std/failure.ts';
import { UNTRACED } from '#std/telemetry/trace.ts';
import { withReadsWatched, withSourceWatched } from './watch.ts';

const AWAY = new Failure('source-unreachable', 'nobody is there');

function counted() {
  let signs = 0;
  return {
    signs: () => signs,
    progressed() {
      signs += 1;
    },
  };
}

/** Returns a function that succeeds and fails alternately. */
function byTurns<T>(answer: T): () => Promise<T> {
  let asked = 0;
  return async () => {
    asked += 1;
    if (asked % 2 === 0) throw AWAY;
    return answer;
  };
}

test('reports a successful and a failed read of a registry source', async () => {
  const watch = counted();
  const source = withReadsWatched({ read: byTurns<Content | 'unchanged'>('unchanged') }, watch);
  const request = {
    origin: { type: 'configMap', name: 'few', key: 'a' },
    signal: new AbortController().signal,
  } as never;
  expect(await source.read(request)).toBe('unchanged');
  expect(watch.signs()).toBe(1);
  await expect(source.read(request)).rejects.toThrow(AWAY);
  expect(watch.signs()).toBe(2);
});

test('reports a successful and a failed fetch of a source', async () => {
  const watch = counted();
  const repository = { fetch: byTurns({ commit: 'c1' } as Checkout) };
  const source = withSourceWatched({ name: 'fleet', path: '', repository } as unknown as FleetSource, watch, UNTRACED);
  expect((await source.repository.fetch()).commit).toBe('c1');
  expect(watch.signs()).toBe(1);
  await expect(source.repository.fetch()).rejects.toThrow(AWAY);
  expect(watch.signs()).toBe(2);
});
