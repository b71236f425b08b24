import { expect, test } from 'vitest';
import { Failure } from '#std/failure.ts';
import { readCron } from './cron.ts';

interface Due {
  readonly expression: string;
  readonly timeZone: string;
  readonly after: string;
  readonly next: string;
  readonly reason: string;
}

const DUE: readonly Due[] = [
  {
    expression: '30 2 * * *',
    timeZone: 'Europe/Berlin',
    after: '2026-03-28T12:00:00.000Z',
    next: '2026-03-29T01:00:00.000Z',
    reason: 'the clocks skip half past two: it comes right after the gap',
  },
  {
    expression: '30 2,14 * * *',
    timeZone: 'Europe/Berlin',
    after: '2026-03-28T14:00:00.000Z',
    next: '2026-03-29T01:00:00.000Z',
    reason: 'a list of hours is times of day too',
  },
  {
    expression: '30 2 * * *',
    timeZone: 'Europe/Berlin',
    after: '2026-10-25T00:30:00.000Z',
    next: '2026-10-26T01:30:00.000Z',
    reason: 'the clocks show half past two again: it has been',
  },
  {
    expression: '30 * * * *',
    timeZone: 'Europe/Berlin',
    after: '2026-10-25T00:30:00.000Z',
    next: '2026-10-25T01:30:00.000Z',
    reason: 'every hour is named: it comes both times',
  },
  {
    expression: '15 2 * * 0',
    timeZone: 'America/New_York',
    after: '2026-10-31T12:00:00.000Z',
    next: '2026-11-01T07:15:00.000Z',
    reason: 'a quarter past two comes once on the day when summer time ends',
  },
  {
    expression: '15 2 * * *',
    timeZone: 'Australia/Lord_Howe',
    after: '2026-10-03T12:00:00.000Z',
    next: '2026-10-03T15:30:00.000Z',
    reason: 'half an hour is skipped there',
  },
  {
    expression: '*/4 * * 11 *',
    timeZone: 'America/New_York',
    after: '2026-01-17T22:15:59.000Z',
    next: '2026-11-01T04:00:00.000Z',
    reason: 'summer time begins in between, and ends a day later',
  },
  {
    expression: '0 3 29 2 *',
    timeZone: 'Europe/Berlin',
    after: '2026-03-29T04:43:00.000Z',
    next: '2028-02-29T02:00:00.000Z',
    reason: 'the clocks are changed several times in between',
  },
  {
    expression: '*/30 * * * * *',
    timeZone: 'UTC',
    after: '2026-01-01T00:00:00.001Z',
    next: '2026-01-01T00:00:30.000Z',
    reason: 'six fields begin with seconds',
  },
  {
    expression: '*/30 * * * * *',
    timeZone: 'UTC',
    after: '2026-01-01T00:00:30.000Z',
    next: '2026-01-01T00:01:00.000Z',
    reason: 'it is later than the time that it follows',
  },
  {
    expression: '5/15 * * * *',
    timeZone: 'UTC',
    after: '2026-01-01T00:05:00.000Z',
    next: '2026-01-01T00:20:00.000Z',
    reason: 'steps may begin at a number',
  },
  {
    expression: '@daily',
    timeZone: 'Europe/Berlin',
    after: '2026-06-01T00:00:00.000Z',
    next: '2026-06-01T22:00:00.000Z',
    reason: 'names stand for expressions',
  },
];

test.each(DUE)('$expression in $timeZone after $after is $next: $reason', ({ expression, timeZone, after, next }) => {
  expect(new Date(readCron(expression, timeZone).next(Date.parse(after))).toISOString()).toBe(next);
});

test.each([
  { expression: '0 0 30 2 *', timeZone: 'UTC', reason: 'never due' },
  { expression: '2026-01-01T00:00:00', timeZone: 'UTC', reason: 'a date' },
  { expression: '61 * * * *', timeZone: 'UTC', reason: 'no such minute' },
  { expression: '* * * * * * 2026', timeZone: 'UTC', reason: 'seven fields' },
  { expression: '', timeZone: 'UTC', reason: 'empty' },
  { expression: '* * * * *', timeZone: 'Mars/Phobos', reason: 'no such time zone' },
])('"$expression" in $timeZone is refused: $reason', ({ expression, timeZone }) => {
  expect(() => readCron(expression, timeZone)).toThrow(Failure);
});
