// Tests how long a request waits for a busy server, for each form of the response and for invalid responses.

import { expect, test } from 'vitest';
import { waitAfterAnswer } from './retry.ts';

const NOW = 'Sat, 21 Nov 2026 12:00:00 GMT';

test.each([
  { reported: '3', wait: 3000, reason: 'seconds' },
  { reported: 'Sat, 21 Nov 2026 12:00:04 GMT', wait: 4000, reason: 'a date' },
  { reported: 'Sat, 21 Nov 2026 13:00:00 GMT', wait: undefined, reason: 'a date that is too far away to wait for' },
  { reported: '1000000000', wait: undefined, reason: 'longer than anybody waits' },
  { reported: 'Sat, 21 Nov 2026 11:00:00 GMT', wait: 'as without it', reason: 'a date that is over' },
  { reported: '-5', wait: 'as without it', reason: 'less than nothing' },
  { reported: 'soon', wait: 'as without it', reason: 'no time at all' },
  { reported: '', wait: 'as without it', reason: 'nothing' },
])('$reason', ({ reported, wait }) => {
  const attempt = { repeatable: true, number: 0, seed: 'a' };
  const after = (headers: Record<string, string>) => waitAfterAnswer(attempt, { status: 429, headers, text: '' });
  const usual = after({});
  expect(after({ 'retry-after': reported, date: NOW })).toBe(wait === 'as without it' ? usual : wait);
});
