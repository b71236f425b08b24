// Implements points in time and durations, exact to the nanosecond. Source: CEL language definition, "Timestamps",
// "Durations".

import { floorDivide } from '../../formats/timestamp.ts';
import { equals } from '../equality.ts';
import { CelDuration, CelTimestamp } from '../tagged.ts';
import { fail, type Library } from './library.ts';

type DatePart = (date: Date, ns: bigint) => number;

const PARTS: Readonly<Record<string, DatePart>> = {
  getFullYear: (date) => date.getUTCFullYear(),
  getMonth: (date) => date.getUTCMonth(),
  getDate: (date) => date.getUTCDate(),
  getDayOfMonth: (date) => date.getUTCDate() - 1,
  getDayOfWeek: (date) => date.getUTCDay(),
  getDayOfYear: dayOfYear,
  getHours: (date) => date.getUTCHours(),
  getMinutes: (date) => date.getUTCMinutes(),
  getSeconds: (date) => date.getUTCSeconds(),
  getMilliseconds: (date) => date.getUTCMilliseconds(),
};

const MINUTE_NS = 60_000_000_000n;

export const TIME_LIBRARY: Library = {
  types: { timestamp: CelTimestamp, duration: CelDuration },
  functions: {
    ...Object.fromEntries(
      Object.entries(PARTS).flatMap(([name, part]) => [
        [`timestamp.${name}(): int`, ({ value: ns }: CelTimestamp) => partOf(part, ns)],
        [`timestamp.${name}(string): int`, (time: CelTimestamp, zone: string) => partOf(part, localNs(time, zone))],
      ]),
    ),
    'duration.getHours(): int': ({ value: ns }: CelDuration) => ns / (60n * MINUTE_NS),
    'duration.getMinutes(): int': ({ value: ns }: CelDuration) => ns / MINUTE_NS,
    'duration.getSeconds(): int': ({ value: ns }: CelDuration) => ns / 1_000_000_000n,
    'duration.getMilliseconds(): int': ({ value: ns }: CelDuration) => ns / 1_000_000n,
  },
  operators: {
    'timestamp == timestamp': equals,
    'duration == duration': equals,
    'timestamp == null': () => false,
    'duration == null': () => false,
    'timestamp + duration': (a: CelTimestamp, b: CelDuration) => new CelTimestamp(a.value + b.value),
    'duration + timestamp: timestamp': (a: CelDuration, b: CelTimestamp) => new CelTimestamp(a.value + b.value),
    'timestamp - duration': (a: CelTimestamp, b: CelDuration) => new CelTimestamp(a.value - b.value),
    'timestamp - timestamp: duration': (a: CelTimestamp, b: CelTimestamp) => new CelDuration(a.value - b.value),
    'duration + duration': (a: CelDuration, b: CelDuration) => new CelDuration(a.value + b.value),
    'duration - duration': (a: CelDuration, b: CelDuration) => new CelDuration(a.value - b.value),
    ...ordering('timestamp'),
    ...ordering('duration'),
  },
};

interface Nanoseconds {
  readonly value: bigint;
}

function ordering(type: string): Record<string, (a: Nanoseconds, b: Nanoseconds) => boolean> {
  return {
    [`${type} < ${type}`]: (a, b) => a.value < b.value,
    [`${type} <= ${type}`]: (a, b) => a.value <= b.value,
    [`${type} > ${type}`]: (a, b) => a.value > b.value,
    [`${type} >= ${type}`]: (a, b) => a.value >= b.value,
  };
}

function partOf(part: DatePart, ns: bigint): bigint {
  return BigInt(part(new Date(Number(floorDivide(ns, 1_000_000n))), ns));
}

/** Returns the day of the year, counted from zero. */
function dayOfYear(date: Date): number {
  const start = Date.UTC(date.getUTCFullYear(), 0, 1);
  return Math.floor((date.getTime() - start) / 86_400_000);
}

/**
 * Returns the time whose UTC parts equal the local parts of `time`. The zone is an offset (`+02:00`) or a name
 * (`Europe/Berlin`).
 */
function localNs({ value: ns }: CelTimestamp, zone: string): bigint {
  const offset = /^([+-]?)(\d{2}):(\d{2})$/.exec(zone);
  if (offset === null) return ns + namedOffset(ns, zone);
  const [, sign, hours = '', minutes = ''] = offset;
  const magnitude = (BigInt(hours) * 60n + BigInt(minutes)) * MINUTE_NS;
  return sign === '-' ? ns - magnitude : ns + magnitude;
}

function namedOffset(ns: bigint, timeZone: string): bigint {
  const date = new Date(Number(floorDivide(ns, 1_000_000n)));
  let parts: Intl.DateTimeFormatPart[];
  try {
    parts = new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' }).formatToParts(date);
  } catch (error) {
    if (error instanceof RangeError) return fail(`unknown time zone ${timeZone}`);
    throw error;
  }
  const name = parts.find(({ type }) => type === 'timeZoneName')?.value ?? '';
  const [, sign, hours = '0', minutes = '0'] = /GMT([+-])(\d{2}):(\d{2})/.exec(name) ?? [];
  const magnitude = (BigInt(hours) * 60n + BigInt(minutes)) * MINUTE_NS;
  return sign === '-' ? -magnitude : magnitude;
}
