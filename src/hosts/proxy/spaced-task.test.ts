import { expect, test } from 'vitest';
import { createSpacedTask } from './spaced-task.ts';

function open(run: (at: number) => boolean = () => false) {
  const runs: number[] = [];
  let now = 0;
  let timer: { readonly at: number; readonly task: () => void } | undefined;
  const task = createSpacedTask({
    clock: {
      monotonic: () => now,
      after(ms, callback) {
        timer = { at: now + ms, task: callback };
        return () => {
          timer = undefined;
        };
      },
    },
    soonMs: 1000,
    betweenMs: 5000,
    async run() {
      runs.push(now);
      return run(now);
    },
  });
  async function pass(ms: number, each: () => void = () => undefined): Promise<void> {
    for (const end = now + ms; now < end; now += 100) {
      each();
      const due = timer !== undefined && timer.at <= now ? timer : undefined;
      if (due !== undefined) timer = undefined;
      due?.task();
      // Waits until pending promises have resolved.
      for (let turn = 0; turn < 5; turn += 1) await Promise.resolve();
    }
  }
  return { task, runs, pass };
}

test('continuous requests neither delay a run nor make runs more frequent', async () => {
  const { task, runs, pass } = open();
  await pass(12_000, task.request);
  expect(runs).toEqual([1000, 6000, 11_000]);
});

test('a run that returns true is repeated, and no run begins after the stop', async () => {
  const { task, runs, pass } = open((at) => at < 5000);
  task.request();
  await pass(20_000);
  expect(runs).toEqual([1000, 6000]);
  task.request();
  await task.stop();
  await pass(20_000, task.request);
  expect(runs.length).toBe(2);
});
