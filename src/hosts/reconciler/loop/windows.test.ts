// Tests sync windows: which window applies, and when changes are allowed again. For days on which clocks change, the
// expected results come from a check of every minute, which uses neither durations nor cron.

import { expect, test } from 'vitest';
import { seeded } from '../../../../test/harness/random.ts';
import type { Window } from '../../config/windows.ts';
import { openWindows } from './windows.ts';

type Windows = readonly Window[];

const BERLIN = 'Europe/Berlin';

test.each([
  { reason: 'no window', windows: [], at: '2026-03-04T12:00Z', open: true },
  { reason: 'in the allow', windows: [{ allow: '0 9 * * *', hours: 8 }], at: '2026-03-04T09:00Z', open: true },
  {
    reason: 'at the end of the allow',
    windows: [{ allow: '0 9 * * *', hours: 8 }],
    at: '2026-03-04T17:00Z',
    open: false,
  },
  { reason: 'outside the allow', windows: [{ allow: '0 9 * * *', hours: 8 }], at: '2026-03-04T08:59Z', open: false },
  {
    reason: 'in one of two allows',
    windows: [
      { allow: '0 9 * * *', hours: 1 },
      { allow: '0 12 * * *', hours: 1 },
    ],
    at: '2026-03-04T12:30Z',
    open: true,
  },
  { reason: 'in the deny', windows: [{ deny: '0 18 * * 5', hours: 62 }], at: '2026-03-07T00:00Z', open: false },
  { reason: 'after the deny', windows: [{ deny: '0 18 * * 5', hours: 62 }], at: '2026-03-09T08:00Z', open: true },
  {
    reason: 'in allow and deny',
    windows: [
      { allow: '0 0 * * *', hours: 24 },
      { deny: '0 18 * * 5', hours: 62 },
    ],
    at: '2026-03-07T00:00Z',
    open: false,
  },
  {
    reason: 'over the end of a month',
    windows: [{ deny: '0 22 31 * *', hours: 4 }],
    at: '2026-04-01T01:59Z',
    open: false,
  },
  {
    reason: 'of a longer one than its pause',
    windows: [{ deny: '0 * * * *', hours: 3 }],
    at: '2026-04-01T01:30Z',
    open: false,
  },
  {
    reason: 'in its own time zone',
    windows: [{ deny: '0 0 1 * *', hours: 1, timeZone: 'Asia/Tokyo' }],
    at: '2026-03-31T15:30Z',
    open: false,
  },
])('$reason: open is $open', ({ windows, at, open }) => {
  const full = windows.map((each) => ({ timeZone: 'UTC', ...each })) as Windows;
  expect(openWindows(full).closed(Date.parse(at)) === undefined).toBe(open);
});

test('names the closed window and the time when changes are allowed again, also across consecutive windows', () => {
  const windows: Windows = [
    { deny: '0 18 * * 5', hours: 6, timeZone: 'UTC' },
    { deny: '0 0 * * 6', hours: 24, timeZone: 'UTC' },
  ];
  expect(openWindows(windows).closed(Date.parse('2026-03-06T19:00Z'))).toEqual({
    window: 'deny "0 18 * * 5" for 6 h (UTC)',
    until: Date.parse('2026-03-08T00:00Z'),
  });
});

test('outside of all allow windows, names them and the time when the next window begins', () => {
  const windows: Windows = [{ allow: '0 9 * * 1-5', hours: 8, timeZone: BERLIN }];
  expect(openWindows(windows).closed(Date.parse('2026-03-27T18:00Z'))).toEqual({
    window: `outside of allow "0 9 * * 1-5" for 8 h (${BERLIN})`,
    // Monday, with summer time.
    until: Date.parse('2026-03-30T07:00Z'),
  });
});

test('names no time if changes are never allowed again', () => {
  const closed = openWindows([{ deny: '* * * * *', hours: 1, timeZone: 'UTC' }]).closed(0);
  expect(closed).toEqual({ window: 'deny "* * * * *" for 1 h (UTC)' });
});

test('an invalid cron expression or time zone is refused', () => {
  expect(() => openWindows([{ allow: 'weekends', hours: 1, timeZone: 'UTC' }])).toThrow('"weekends"');
  expect(() => openWindows([{ allow: '0 0 * * *', hours: 1, timeZone: 'Mars/Base' }])).toThrow('Mars/Base');
});

const MINUTE_MS = 60_000;

interface Fields {
  readonly minute: number;
  readonly hour: number | undefined;
  readonly day: number | undefined;
  readonly weekday: number | undefined;
}

interface LocalTime {
  readonly minute: number;
  readonly hour: number;
  readonly day: number;
  readonly weekday: number;
  /** Wall time in milliseconds, as if it were UTC. */
  readonly wall: number;
}

const WEEKDAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];

function localTimes(timeZone: string): (at: number) => LocalTime {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    weekday: 'short',
  });
  return (at) => {
    const parts = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, value]));
    const [year, month, day, hour, minute] = ['year', 'month', 'day', 'hour', 'minute'].map((name) =>
      Number(parts[name]),
    );
    const wall = Date.UTC(year ?? 0, (month ?? 1) - 1, day, hour, minute);
    return {
      minute: minute ?? 0,
      hour: hour ?? 0,
      day: day ?? 0,
      weekday: WEEKDAYS.indexOf(parts.weekday ?? ''),
      wall,
    };
  };
}

function matches({ minute, hour, day, weekday }: Fields, wall: number): boolean {
  const date = new Date(wall);
  const days = [
    ...(day === undefined ? [] : [date.getUTCDate() === day]),
    ...(weekday === undefined ? [] : [date.getUTCDay() === weekday]),
  ];
  return (
    date.getUTCMinutes() === minute &&
    (hour === undefined || date.getUTCHours() === hour) &&
    (days.length === 0 || days.includes(true))
  );
}

/**
 * Returns all minutes at which a window begins. Times that the clocks skip move to the end of the gap. Times that occur
 * twice are used once, unless the window begins at each hour.
 */
function begins(fields: Fields, local: (at: number) => LocalTime, from: number, to: number): number[] {
  const found: number[] = [];
  let latest = local(from - MINUTE_MS).wall;
  for (let at = from; at < to; at += MINUTE_MS) {
    const { wall } = local(at);
    const again = wall <= latest;
    const walls = again ? [wall] : range(latest + MINUTE_MS, wall);
    if ((!again || fields.hour === undefined) && walls.some((each) => matches(fields, each))) found.push(at);
    latest = Math.max(latest, wall);
  }
  return found;
}

function range(from: number, to: number): number[] {
  return Array.from({ length: (to - from) / MINUTE_MS + 1 }, (_none, index) => from + index * MINUTE_MS);
}

/** Days on which clocks change, on which a month ends, and ordinary days. */
const STRETCHES = [
  { timeZone: BERLIN, from: '2026-03-28T00:00Z' },
  { timeZone: BERLIN, from: '2026-10-24T00:00Z' },
  { timeZone: 'America/New_York', from: '2026-03-07T12:00Z' },
  { timeZone: 'America/New_York', from: '2026-10-31T12:00Z' },
  { timeZone: 'Africa/Cairo', from: '2026-04-23T00:00Z' },
  { timeZone: 'Australia/Lord_Howe', from: '2026-10-03T00:00Z' },
  { timeZone: 'Asia/Kolkata', from: '2028-02-28T00:00Z' },
  { timeZone: 'UTC', from: '2026-12-30T12:00Z' },
];

test.each(STRETCHES)('$timeZone from $from: agrees with the check of every minute', ({ timeZone, from }) => {
  const random = seeded(1);
  const local = localTimes(timeZone);
  const start = Date.parse(from);
  const minutes = 60 * 60;
  for (let round = 0; round < 5; round += 1) {
    const now = local(start + random.integer(minutes) * MINUTE_MS);
    const fields: Fields = {
      minute: random.integer(4) * 15,
      hour: random.chance(0.25) ? undefined : random.integer(5),
      day: random.chance(0.3) ? now.day : undefined,
      weekday: random.chance(0.3) ? now.weekday : undefined,
    };
    const lastsMs = (1 + random.integer(20)) * 60 * MINUTE_MS;
    const { minute, hour = '*', day = '*', weekday = '*' } = fields;
    const expression = `${minute} ${hour} ${day} * ${weekday}`;
    const windows = openWindows([{ deny: expression, hours: lastsMs / 60 / MINUTE_MS, timeZone }]);
    const begun = begins(fields, local, start - lastsMs, start + minutes * MINUTE_MS);
    const edges = [random.pick([0, ...begun]), ...begun.slice(-2)].flatMap((each) => [each, each + lastsMs]);
    const anywhere = Array.from({ length: 12 }, () => start + random.integer(minutes) * MINUTE_MS);
    for (const at of [...edges.flatMap((edge) => [edge - MINUTE_MS, edge]), ...anywhere]) {
      if (at < start || at >= start + minutes * MINUTE_MS) continue;
      const active = begun.some((each) => each <= at && at < each + lastsMs);
      const shown = `${expression} for ${lastsMs / 60 / MINUTE_MS} h at ${new Date(at).toISOString()}`;
      expect({ shown, active: windows.closed(at) !== undefined }).toEqual({ shown, active });
    }
  }
});
