import { expect, test } from 'vitest';
import { fullTime, timeAgo } from './time-text.ts';

const NOW = Date.parse('2026-03-10T12:00:00Z');

test.each([
  ['2026-03-10T12:00:00Z', '0 s ago'],
  ['2026-03-10T11:59:00.001Z', '59 s ago'],
  ['2026-03-10T11:59:00Z', '1 min ago'],
  ['2026-03-10T11:00:01Z', '59 min ago'],
  ['2026-03-10T09:30:00Z', '2 h ago'],
  ['2026-03-09T12:00:00Z', '1 d ago'],
  ['2025-03-10T12:00:00Z', '365 d ago'],
  ['2026-03-10T12:00:00.001Z', '2026-03-10T12:00:00.001Z'],
  ['soon', 'soon'],
])('%s is %s', (time, text) => {
  expect(timeAgo(NOW)(time)).toBe(text);
  expect(fullTime(time)).toBe(time);
});
