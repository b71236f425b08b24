import { expect, test } from 'vitest';
import { createProgress } from './progress.ts';

test('a long run says how far it is every five seconds, and not at its end', () => {
  let now = 0;
  const progress = createProgress(() => now);
  const lines = Array.from({ length: 12 }, () => {
    now += 2000;
    return progress(12);
  });
  expect(lines.filter((line) => line !== undefined)).toEqual([
    '3 of 12 changes, about 18 s left',
    '6 of 12 changes, about 12 s left',
    '9 of 12 changes, about 6 s left',
  ]);
});
