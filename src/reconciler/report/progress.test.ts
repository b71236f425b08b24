import { expect, test } from 'vitest';
import { createProgress } from './progress.ts';

test('a long run says how far it is every five seconds, and not at its end', () => {
  let now = 0;
  const beforeTheFirst = 60_000;
  const progress = createProgress(() => now);
  now += beforeTheFirst;
  const lines = Array.from({ length: 12 }, () => {
    now += 2000;
    return progress(12);
  });
  expect(lines.filter((line) => line !== undefined)).toEqual([
    '4 of 12 changes, about 16 s left',
    '7 of 12 changes, about 10 s left',
    '10 of 12 changes, about 4 s left',
  ]);
});
