import { expect, test } from 'vitest';
import { systemClock } from '#hosts/clock.ts';
import { openTurns, type TurnClock, type Turns } from './turns.ts';

const never = new Promise<never>(() => undefined);

function limits(atATime: number, most = 100, least = { bytes: 0, ms: 60_000 }): Turns {
  return { atATime, slowMs: 1, small: 10, least, most };
}

test('silent sources lose their turns, so that they do not block other sources', async () => {
  const inTurn = openTurns(systemClock, limits(2));
  for (let silent = 0; silent < 10; silent += 1) void inTurn(() => never);
  expect(await inTurn(async () => 'read')).toBe('read');
});

test('limits the number of sources that are read at one time, including slow sources', async () => {
  const inTurn = openTurns(systemClock, limits(2, 3));
  const [first, ...others] = Array.from({ length: 3 }, () => Promise.withResolvers<string>());
  let begun = 0;
  const reading = [first, ...others].map((each) => {
    return inTurn(() => {
      begun += 1;
      return each?.promise ?? never;
    });
  });
  const fourth = inTurn(async () => begun);
  first?.resolve('first');
  expect(await reading[0]).toBe('first');
  expect(await fourth).toBe(3);
});

test('rejects with the failure of a source that has lost its turn', async () => {
  const inTurn = openTurns(systemClock, limits(1));
  const late = Promise.withResolvers<never>();
  const failing = inTurn(() => late.promise);
  expect(await inTurn(async () => 'next')).toBe('next');
  late.reject(new Error('refused'));
  await expect(failing).rejects.toThrow('refused');
});

test('a source with much content keeps its turn, and a source with late content waits for a turn', async () => {
  const waits: Promise<void>[] = [];
  const clock: TurnClock = {
    sleep(ms, signal) {
      const wait = systemClock.sleep(ms, signal);
      if (ms === limits(1).slowMs) waits.push(wait);
      return wait;
    },
  };
  const inTurn = openTurns(clock, limits(1));
  const [late, end, second] = [1, 2, 3].map(() => Promise.withResolvers<void>());
  const seen: string[] = [];
  const silent = inTurn(async ({ whole }) => {
    await late?.promise;
    await whole();
    seen.push('late');
  });
  const large = inTurn(async ({ arrived }) => {
    await arrived(10);
    second?.resolve();
    await end?.promise;
    seen.push('large');
  });
  await second?.promise;
  const next = inTurn(async () => void seen.push('next'));
  late?.resolve();
  // Waits for all work that can continue.
  await Promise.all(waits);
  await new Promise(setImmediate);
  expect(seen).toEqual([]);
  end?.resolve();
  await Promise.all([silent, large, next]);
  expect(seen[0]).toBe('large');
  expect(seen.toSorted()).toEqual(['large', 'late', 'next']);
});

test('a source with little content loses its turn, and waits for a turn once the content is large', async () => {
  const inTurn = openTurns(systemClock, limits(1));
  const more = Promise.withResolvers<void>();
  const order: string[] = [];
  const dripping = inTurn(async ({ arrived }) => {
    expect(arrived(1)).toBeUndefined();
    await more.promise;
    expect(arrived(9)).toBeUndefined();
    await arrived(10);
    order.push('dripping');
  });
  await inTurn(async ({ whole }) => {
    await whole();
    more.resolve();
    await new Promise(setImmediate);
    order.push('quick');
  });
  await dripping;
  expect(order).toEqual(['quick', 'dripping']);
});

test('a large content that stops growing while other sources wait fails as too slow', async () => {
  const inTurn = openTurns(systemClock, limits(1, 100, { bytes: 5, ms: 1 }));
  const large = inTurn(async ({ arrived, tooSlow }) => {
    await arrived(10);
    await new Promise((resolve) => tooSlow.addEventListener('abort', resolve));
    throw tooSlow.reason;
  });
  const next = inTurn(async () => 'next');
  await expect(large).rejects.toMatchObject({ code: 'source-too-slow', retryable: true });
  expect(await next).toBe('next');
});

test('a large content may arrive slowly if it grows enough or no source waits', async () => {
  const ticks: (() => void)[] = [];
  const clock: TurnClock = { sleep: () => new Promise((resolve) => ticks.push(resolve)) };
  async function tick(): Promise<void> {
    for (const resolve of ticks.splice(0)) resolve();
    await new Promise(setImmediate);
  }
  const inTurn = openTurns(clock, limits(1, 100, { bytes: 5, ms: 1 }));
  const end = Promise.withResolvers<void>();
  let grow: (bytes: number) => unknown = () => undefined;
  let slow: AbortSignal | undefined;
  const large = inTurn(async ({ arrived, tooSlow }) => {
    [grow, slow] = [arrived, tooSlow];
    await arrived(10);
    await end.promise;
  });
  await new Promise(setImmediate);
  await tick();
  await tick();
  expect(slow?.aborted).toBe(false);
  const next = inTurn(async () => 'next');
  grow(15);
  await tick();
  expect(slow?.aborted).toBe(false);
  await tick();
  expect(slow?.aborted).toBe(true);
  end.resolve();
  await Promise.all([large, next]);
});
