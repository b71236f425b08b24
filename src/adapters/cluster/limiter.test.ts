// Tests how the limit of concurrent requests follows the server's responses.

import { expect, test } from 'vitest';
import { createLimiter, type Limiter } from './limiter.ts';

/** Returns functions that start tasks, end tasks and count the running tasks. */
function bench(most: number) {
  const limiter = createLimiter(most);
  const ends: ((busy: boolean) => void)[] = [];
  const all: Promise<boolean>[] = [];
  const start = (count: number) => {
    for (let each = 0; each < count; each += 1) {
      all.push(limiter.run(() => new Promise<boolean>((end) => ends.push(end)), Boolean));
    }
  };
  const settle = () => new Promise<void>((done) => setImmediate(done));
  return {
    limiter,
    start,
    underWay: async () => {
      await settle();
      return ends.length;
    },
    end: async (busy: boolean, count = 1) => {
      await settle();
      for (const end of ends.splice(0, count)) end(busy);
      await settle();
    },
  };
}

function places(limiter: Limiter): number {
  return Math.floor(limiter.limit());
}

test('no more tasks than the limit run at once, and waiting tasks follow in order', async () => {
  const { start, underWay, end } = bench(3);
  start(5);
  expect(await underWay()).toBe(3);
  await end(false);
  expect(await underWay()).toBe(3);
  await end(false, 3);
  expect(await underWay()).toBe(1);
});

test('a busy response halves the limit, once for all running tasks', async () => {
  const { limiter, start, underWay, end } = bench(16);
  start(40);
  await end(true, 16);
  expect(places(limiter)).toBe(8);
  expect(await underWay()).toBe(8);
  await end(true, 8);
  expect([places(limiter), await underWay()]).toEqual([4, 4]);
});

test('the limit is at least one', async () => {
  const { limiter, start, underWay, end } = bench(2);
  start(10);
  for (let round = 0; round < 4; round += 1) await end(true, 9);
  expect([places(limiter), await underWay()]).toEqual([1, 1]);
});

test('the limit increases step by step while the server is not busy, at most to its initial value', async () => {
  const { limiter, start, end } = bench(4);
  start(60);
  await end(true);
  expect(places(limiter)).toBe(2);
  await end(false, 2);
  await end(false, 2);
  expect(places(limiter)).toBe(3);
  for (let round = 0; round < 10; round += 1) await end(false, 4);
  expect(limiter.limit()).toBe(4);
});

test('a task that throws does not reduce the number of free places', async () => {
  const limiter = createLimiter(1);
  await expect(limiter.run(() => Promise.reject(new Error('no')), Boolean)).rejects.toThrow('no');
  expect(
    await limiter.run(
      async () => 'next',
      () => false,
    ),
  ).toBe('next');
});
