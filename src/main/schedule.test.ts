import { expect, test } from 'vitest';
import { type ScheduleOptions, startSchedule } from './schedule.ts';

const NEVER = '0 0 0 1 1 *';
const EVERY_SECOND = '* * * * * *';

/** Starts a schedule whose task answers from `answers`; collects the pauses asked for, which take no time. */
function start(options: Partial<ScheduleOptions>, answers: readonly boolean[]) {
  const pauses: number[] = [];
  let runs = 0;
  let running = 0;
  let most = 0;
  const called: (() => void)[] = [];
  const scheduled = startSchedule(
    {
      sleep: async (ms) => {
        pauses.push(ms);
      },
      random: () => 0.5,
    },
    { schedule: NEVER, timeZone: 'UTC', jitterSeconds: 0, followUpsMs: [10, 20], ...options },
    async () => {
      running += 1;
      most = Math.max(most, running);
      await Promise.resolve();
      running -= 1;
      runs += 1;
      for (const each of called.splice(0)) each();
      return answers[runs - 1] ?? false;
    },
  );
  async function until(count: number): Promise<void> {
    while (runs < count) await new Promise<void>((resolve) => called.push(resolve));
  }
  return { scheduled, pauses, until, runs: () => runs, most: () => most };
}

test('the first run starts at once', async () => {
  const { scheduled, until, runs } = start({}, [false]);
  await until(1);
  await scheduled.stop();
  expect(runs()).toBe(1);
});

test('what is under way is looked at again after each pause, then no more', async () => {
  const { scheduled, until, runs, pauses } = start({}, [true, true, true]);
  await until(3);
  await scheduled.stop();
  expect(runs()).toBe(3);
  expect(pauses).toEqual([0, 10, 20]);
});

test('a run that has ended is followed by none before the schedule says so', async () => {
  const { scheduled, until, pauses } = start({}, [true, false]);
  await until(2);
  await scheduled.stop();
  expect(pauses).toEqual([0, 10]);
});

test('the schedule starts further runs, each with its jitter, never two at once', async () => {
  const { scheduled, until, most, pauses } = start({ schedule: EVERY_SECOND, jitterSeconds: 4 }, []);
  await until(3);
  await scheduled.stop();
  expect(most()).toBe(1);
  expect(pauses.slice(0, 3)).toEqual([0, 2000, 2000]);
});

test('after stop no run starts', async () => {
  const { scheduled, until, runs } = start({ schedule: EVERY_SECOND }, []);
  await until(1);
  await scheduled.stop();
  const before = runs();
  await new Promise((resolve) => setTimeout(resolve, 1100));
  expect(runs()).toBe(before);
});

test('a schedule that is none is refused with its text', () => {
  expect(() => start({ schedule: 'every now and then' }, [])).toThrow('schedule "every now and then"');
});
