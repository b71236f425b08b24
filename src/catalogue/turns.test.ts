import { expect, test } from 'vitest';
import { systemClock } from '../main/clock.ts';
import { openTurns, type TurnClock } from './turns.ts';

const never = new Promise<never>(() => undefined);

test('who takes long gives the turn away, so that no number of silent sources keeps another from being read', async () => {
  const inTurn = openTurns(systemClock, { atATime: 2, slowMs: 1, most: 100 });
  for (let silent = 0; silent < 10; silent += 1) void inTurn(() => never);
  expect(await inTurn(async () => 'read')).toBe('read');
});

test('no more than so many are read at once, however long they take', async () => {
  const inTurn = openTurns(systemClock, { atATime: 2, slowMs: 1, most: 3 });
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

test('what fails, fails for who asked, also once it has given its turn away', async () => {
  const inTurn = openTurns(systemClock, { atATime: 1, slowMs: 1, most: 10 });
  const late = Promise.withResolvers<never>();
  const failing = inTurn(() => late.promise);
  expect(await inTurn(async () => 'next')).toBe('next');
  late.reject(new Error('refused'));
  await expect(failing).rejects.toThrow('refused');
});

test('who has begun to answer keeps its turn, and who answers late waits for one', async () => {
  const waits: Promise<void>[] = [];
  const clock: TurnClock = {
    sleep(ms, signal) {
      const wait = systemClock.sleep(ms, signal);
      waits.push(wait);
      return wait;
    },
  };
  const inTurn = openTurns(clock, { atATime: 1, slowMs: 1, most: 10 });
  const [late, end, second] = [1, 2, 3].map(() => Promise.withResolvers<void>());
  const seen: string[] = [];
  const silent = inTurn(async (answered) => {
    await late?.promise;
    await answered();
    seen.push('late');
  });
  const large = inTurn(async (answered) => {
    await answered();
    second?.resolve();
    await end?.promise;
    seen.push('large');
  });
  await second?.promise;
  const next = inTurn(async () => void seen.push('next'));
  late?.resolve();
  // Nobody would be quick any more, and all that can go on has done so.
  await Promise.all(waits);
  await new Promise(setImmediate);
  expect(seen).toEqual([]);
  end?.resolve();
  await Promise.all([silent, large, next]);
  expect(seen[0]).toBe('large');
  expect(seen.toSorted()).toEqual(['large', 'late', 'next']);
});
