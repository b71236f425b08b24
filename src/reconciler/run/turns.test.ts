import { expect, test } from 'vitest';
import { beginInTurns, finishAtOnce, finishInTurns, type Steps, takeTurn } from './turns.ts';

function* count(to: number, seen: number[]): Steps<string> {
  for (let step = 1; step <= to; step += 1) {
    seen.push(step);
    yield;
  }
  return 'counted';
}

test('steps return their result, at once or in turns', async () => {
  const [atOnce, inTurns]: [number[], number[]] = [[], []];
  expect(finishAtOnce(count(250, atOnce))).toBe('counted');
  expect(await finishInTurns(count(250, inTurns))).toBe('counted');
  expect(inTurns).toEqual(atOnce);
  expect(inTurns).toHaveLength(250);
});

test('other work is done after every hundred steps', async () => {
  const seen: number[] = [];
  const between: number[] = [];
  const look = (): void => {
    between.push(seen.length);
    if (seen.length < 250) setImmediate(look);
  };
  setImmediate(look);
  await finishInTurns(count(250, seen));
  expect(between).toContain(100);
  expect(between).toContain(200);
});

test('an error of a step ends the work', async () => {
  function* failing(): Steps<never> {
    yield;
    throw new Error('no');
  }
  expect(() => finishAtOnce(failing())).toThrow('no');
  await expect(finishInTurns(failing())).rejects.toThrow('no');
});

test('all items are begun before the first result, a hundred per turn, and the results keep their order', async () => {
  const begun: number[] = [];
  const between: number[] = [];
  const { promise: goOn, resolve } = Promise.withResolvers<void>();
  const look = (): void => {
    between.push(begun.length);
    if (begun.length < 250) setImmediate(look);
    else resolve();
  };
  setImmediate(look);
  const items = Array.from({ length: 250 }, (_, item) => item);
  const results = await beginInTurns(items, async (item) => {
    begun.push(item);
    await goOn;
    return -item;
  });
  expect(between).toContain(100);
  expect(between).toContain(200);
  expect(results).toEqual(items.map((item) => -item));
  expect(await beginInTurns([], () => Promise.reject(new Error('never')))).toEqual([]);
});

test.each([
  {
    when: 'at once',
    fail: () => {
      throw new Error('no');
    },
  },
  { when: 'before its turn is over', fail: () => Promise.reject(new Error('no')) },
  { when: 'in a later turn', fail: () => takeTurn().then(() => Promise.reject(new Error('no'))) },
])('after items have failed $when, no further turn begins, and no rejection is unhandled', async ({ fail }) => {
  const begun: number[] = [];
  const items = Array.from({ length: 1000 }, (_, item) => item);
  const beginning = beginInTurns(items, (item) => {
    begun.push(item);
    return item >= 7 && item < 10 ? fail() : Promise.resolve();
  });
  await expect(beginning).rejects.toThrow('no');
  expect(begun.length).toBeLessThanOrEqual(300);
});
