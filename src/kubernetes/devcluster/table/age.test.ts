import { expect, test } from 'vitest';
import { ageOf, formatAge } from './age.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const rows: readonly (readonly [ms: number, text: string])[] = [
  [-5 * SECOND, '<invalid>'],
  [-SECOND, '0s'],
  [0, '0s'],
  [119 * SECOND, '119s'],
  [2 * MINUTE, '2m'],
  [9 * MINUTE + 59 * SECOND, '9m59s'],
  [10 * MINUTE + 30 * SECOND, '10m'],
  [179 * MINUTE, '179m'],
  [3 * HOUR, '3h'],
  [7 * HOUR + 59 * MINUTE, '7h59m'],
  [8 * HOUR + 59 * MINUTE, '8h'],
  [47 * HOUR, '47h'],
  [48 * HOUR, '2d'],
  [2 * DAY + 4 * HOUR, '2d4h'],
  [8 * DAY + 4 * HOUR, '8d'],
  [729 * DAY, '729d'],
  [730 * DAY, '2y'],
  [3 * 365 * DAY + 20 * DAY, '3y20d'],
  [8 * 365 * DAY + 20 * DAY, '8y'],
];

test.each(rows)('%i ms are %s', (ms, text) => {
  expect(formatAge(ms)).toBe(text);
});

test('without a time the age is unknown', () => {
  expect([ageOf(undefined, 0), ageOf('never', 0)]).toEqual(['<unknown>', '<unknown>']);
});
