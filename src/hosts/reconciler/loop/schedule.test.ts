// Tests when runs begin, with a simulated clock.

import { expect, test } from 'vitest';
import { type Reason, type ScheduleOptions, startSchedule } from './schedule.ts';

const NEVER = '0 0 0 1 1 *';
const START = Date.parse('2026-03-01T12:00:00.500Z');

interface Step {
  readonly at: string;
  readonly reason: Reason;
}

/**
 * Simulates a schedule until a number of runs has ended. Each run takes `takesMs` and returns the next value of
 * `answers`. `during` is called in each run, and `asleep` in each sleep.
 */
async function play(options: {
  readonly schedule?: Partial<ScheduleOptions>;
  readonly runs: number;
  readonly answers?: readonly boolean[];
  readonly takesMs?: number;
  readonly during?: (run: number, trigger: (reason: Reason) => boolean) => void;
  readonly asleep?: (clock: { now: number }) => void;
}): Promise<{ steps: Step[]; beats: number; queued: boolean[]; most: number }> {
  const { schedule, runs, answers = [], takesMs = 0, during, asleep } = options;
  const clock = { now: START };
  const steps: Step[] = [];
  const queued: boolean[] = [];
  let beats = 0;
  let running = 0;
  let most = 0;
  let finish = (): void => undefined;
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const scheduled = startSchedule(
    {
      now: () => clock.now,
      async sleep(ms, signal) {
        await Promise.resolve();
        if (signal.aborted) return;
        clock.now += ms;
        asleep?.(clock);
      },
      random: () => 0.5,
      beat: () => {
        beats += 1;
      },
      queued: (waiting) => queued.push(waiting),
    },
    { schedule: NEVER, timeZone: 'UTC', jitterSeconds: 0, followUpsMs: [10, 20], ...schedule },
    async (reason) => {
      running += 1;
      most = Math.max(most, running);
      steps.push({ at: new Date(clock.now).toISOString().slice(11, 23), reason });
      await Promise.resolve();
      during?.(steps.length, (why) => scheduled.trigger(why));
      clock.now += takesMs;
      running -= 1;
      if (steps.length === runs) finish();
      return answers[steps.length - 1] ?? false;
    },
  );
  await finished;
  await scheduled.stop();
  return { steps, beats, queued, most };
}

test('the first run starts at once, later runs start on schedule with jitter', async () => {
  const { steps } = await play({ schedule: { schedule: '*/30 * * * * *', jitterSeconds: 4 }, runs: 3 });
  expect(steps).toEqual([
    { at: '12:00:00.500', reason: 'start' },
    { at: '12:00:32.000', reason: 'schedule' },
    { at: '12:01:02.000', reason: 'schedule' },
  ]);
});

test('after a run that takes longer than the schedule, missed times are skipped', async () => {
  const { steps, most } = await play({ schedule: { schedule: '*/10 * * * * *' }, runs: 3, takesMs: 25_000 });
  expect(steps.map(({ at }) => at)).toEqual(['12:00:00.500', '12:00:30.000', '12:01:00.000']);
  expect(most).toBe(1);
});

test('work in progress is checked again after each pause, and later on schedule', async () => {
  const { steps } = await play({
    schedule: { schedule: '*/30 * * * * *' },
    runs: 5,
    answers: [true, true, true, true],
  });
  expect(steps).toEqual([
    { at: '12:00:00.500', reason: 'start' },
    { at: '12:00:00.510', reason: 'follow-up' },
    { at: '12:00:00.530', reason: 'follow-up' },
    { at: '12:00:30.000', reason: 'schedule' },
    { at: '12:00:30.010', reason: 'follow-up' },
  ]);
});

test('a request starts a run at once if no run is in progress', async () => {
  let asked = false;
  let trigger = (_reason: Reason): boolean => false;
  const { steps } = await play({
    runs: 2,
    during: (_run, ask) => {
      trigger = ask;
    },
    asleep: () => {
      if (!asked) asked = trigger('webhook');
    },
  });
  expect(steps.map(({ reason }) => reason)).toEqual(['start', 'webhook']);
});

test('a request during a run starts a run after it, and further requests share that run', async () => {
  const answers: boolean[] = [];
  const { steps, queued, most } = await play({
    schedule: { schedule: '*/30 * * * * *' },
    runs: 3,
    during: (run, trigger) => {
      if (run === 1) answers.push(trigger('webhook'), trigger('webhook'), trigger('request'));
    },
  });
  expect(answers).toEqual([true, false, false]);
  expect(queued).toEqual([true, false]);
  expect(steps).toEqual([
    { at: '12:00:00.500', reason: 'start' },
    { at: '12:00:00.500', reason: 'webhook' },
    { at: '12:00:30.000', reason: 'schedule' },
  ]);
  expect(most).toBe(1);
});

test('a request also covers a change in the cluster that has requested a run', async () => {
  const answers: boolean[] = [];
  const { steps, queued } = await play({
    runs: 2,
    during: (run, trigger) => {
      if (run === 1) answers.push(trigger('watch'), trigger('watch'), trigger('request'), trigger('webhook'));
    },
  });
  expect(answers).toEqual([true, false, true, false]);
  expect(queued).toEqual([true, false]);
  expect(steps.map(({ reason }) => reason)).toEqual(['start', 'request']);
});

test('long waits consist of short sleeps, each with a beat', async () => {
  const { steps, beats } = await play({ schedule: { schedule: '0 0 13 * * *' }, runs: 2 });
  expect(steps.map(({ at }) => at)).toEqual(['12:00:00.500', '13:00:00.000']);
  expect(beats).toBe(120);
});

test('after the wall clock was set back, the next run follows the new time', async () => {
  let back = false;
  const { steps } = await play({
    schedule: { schedule: '0 0 * * * *' },
    runs: 2,
    asleep: (clock) => {
      if (!back && clock.now > START + 1_800_000) {
        clock.now -= 7_200_000;
        back = true;
      }
    },
  });
  expect(steps.map(({ at }) => at)).toEqual(['12:00:00.500', '11:00:00.000']);
});

test('after the wall clock was set ahead, a missed run begins at once', async () => {
  let ahead = false;
  const { steps } = await play({
    schedule: { schedule: '0 0 13 * * *' },
    runs: 2,
    asleep: (clock) => {
      if (!ahead) clock.now += 7_200_000;
      ahead = true;
    },
  });
  expect(steps.map(({ at }) => at)).toEqual(['12:00:00.500', '14:00:30.500']);
});

test.each(['every now and then', '0 0 0 30 2 *'])('the schedule %j is refused with its text', async (schedule) => {
  await expect(play({ schedule: { schedule }, runs: 1 })).rejects.toThrow(`"${schedule}" in time zone "UTC"`);
});
