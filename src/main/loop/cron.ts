// When a cron expression is due next, in its time zone. A time of day that the clocks skip comes right after the gap; one
// that they show twice comes once, unless the expression names every hour. The package parses expressions; its own next
// dates are not used, because they are wrong around changes of the clocks.

import { CronTime } from 'cron';
import { Failure } from '../../std/failure.ts';

export interface Cron {
  /** Milliseconds since 1970, later than `after`. */
  next(after: number): number;
}

interface Fields {
  readonly seconds: readonly number[];
  readonly minutes: readonly number[];
  readonly hours: readonly number[];
  readonly days: readonly number[];
  /** 1 is January. */
  readonly months: readonly number[];
  /** 0 is Sunday. */
  readonly weekdays: readonly number[];
}

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** 29 February is at most eight years away. */
const DAYS_MAX = 8 * 366 + 1;
/** No clock was ever changed by more at once within a day. */
const CHANGE_MS = 3 * HOUR_MS;

/** Five fields, or six with seconds before them. Throws Failure `config-invalid`, also where it is never due. */
export function readCron(expression: string, timeZone: string): Cron {
  try {
    const fields = parseFields(expression, timeZone);
    const clock = wallClock(timeZone);
    const next = (after: number): number => nextOf(fields, clock, after);
    next(0);
    return { next };
  } catch (cause) {
    const message = `"${expression}" in time zone "${timeZone}" is no cron expression, or is never due`;
    throw new Failure('config-invalid', message, { cause });
  }
}

function parseFields(expression: string, timeZone: string): Fields {
  const lists = new CronTime(expression, timeZone).toJSON();
  function values(index: number, from: number, to: number): number[] {
    const text = lists[index] ?? '*';
    const all = Array.from({ length: to - from + 1 }, (_none, offset) => from + offset);
    return text === '*' ? all : all.filter((each) => text.split(',').includes(String(each)));
  }
  return {
    seconds: values(0, 0, 59),
    minutes: values(1, 0, 59),
    hours: values(2, 0, 23),
    days: values(3, 1, 31),
    months: values(4, 1, 12),
    weekdays: values(5, 0, 6),
  };
}

/** What clocks in a time zone show, as the milliseconds that UTC would have where it showed the same. */
interface WallClock {
  at(instant: number): number;
}

function wallClock(timeZone: string): WallClock {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  return {
    at(instant) {
      const parts = Object.fromEntries(format.formatToParts(instant).map(({ type, value }) => [type, Number(value)]));
      const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
      const milliseconds = ((instant % SECOND_MS) + SECOND_MS) % SECOND_MS;
      return Date.UTC(year, month - 1, day, hour, minute, second, milliseconds);
    },
  };
}

function nextOf(fields: Fields, clock: WallClock, after: number): number {
  const now = clock.at(after);
  for (const wall of wallsFrom(fields, now + 1)) {
    const instant = after + (wall - now);
    if (isSteady(clock, after - DAY_MS, instant + DAY_MS)) return instant;
    break;
  }
  return nextAcrossChange(fields, clock, after, now);
}

/** Clocks are changed near by: what they show later may have been earlier. */
function nextAcrossChange(fields: Fields, clock: WallClock, after: number, now: number): number {
  let best = Number.POSITIVE_INFINITY;
  for (const wall of wallsFrom(fields, now - CHANGE_MS)) {
    if (wall - now > best - after + 2 * CHANGE_MS) return best;
    for (const instant of instantsOf(clock, wall, fields.hours.length === 24)) {
      if (instant > after && instant < best) best = instant;
    }
  }
  if (best === Number.POSITIVE_INFINITY) throw new RangeError('never due');
  return best;
}

/** The wall times that match, in order. */
function* wallsFrom({ seconds, minutes, hours, ...fields }: Fields, from: number): Generator<number> {
  const firstDay = Math.floor(from / DAY_MS) * DAY_MS;
  for (let day = firstDay; day < firstDay + DAYS_MAX * DAY_MS; day += DAY_MS) {
    if (!isDue(fields, new Date(day))) continue;
    for (const hour of hours) {
      if (day + (hour + 1) * HOUR_MS <= from) continue;
      for (const minute of minutes) {
        const start = day + hour * HOUR_MS + minute * MINUTE_MS;
        if (start + MINUTE_MS <= from) continue;
        for (const second of seconds) if (start + second * SECOND_MS >= from) yield start + second * SECOND_MS;
      }
    }
  }
}

/** Where both a day of the month and a weekday are named, either is enough. */
function isDue({ days, months, weekdays }: Pick<Fields, 'days' | 'months' | 'weekdays'>, day: Date): boolean {
  if (!months.includes(day.getUTCMonth() + 1)) return false;
  const named = [
    ...(days.length === 31 ? [] : [days.includes(day.getUTCDate())]),
    ...(weekdays.length === 7 ? [] : [weekdays.includes(day.getUTCDay())]),
  ];
  return named.length === 0 || named.includes(true);
}

/** When the clocks show it: the end of the gap where they skip it, the first time only unless `twice`. */
function instantsOf(clock: WallClock, wall: number, twice: boolean): number[] {
  const offsets = [wall - DAY_MS, wall + DAY_MS].map((near) => clock.at(near) - near);
  const candidates = [...new Set(offsets.map((offset) => wall - offset))].sort((a, b) => a - b);
  const shown = candidates.filter((instant) => clock.at(instant) === wall);
  const [first] = shown;
  if (first === undefined) return [gapEnd(clock, wall, candidates)];
  return twice ? shown : [first];
}

/** The first instant at which clocks show more than `wall`: they jump over it between the candidates. */
function gapEnd(clock: WallClock, wall: number, candidates: readonly number[]): number {
  let before = Math.min(...candidates) - CHANGE_MS;
  let end = Math.max(...candidates) + CHANGE_MS;
  while (end - before > 1) {
    const middle = Math.floor((before + end) / 2);
    if (clock.at(middle) > wall) end = middle;
    else before = middle;
  }
  return end;
}

/** No clock was changed in between. */
function isSteady(clock: WallClock, from: number, to: number): boolean {
  return clock.at(to) - clock.at(from) === to - from;
}
