// Computes the next time of a cron expression in its time zone. If hours and minutes contain no `*`, a time that the
// clocks skip moves to the end of the gap. A time that occurs twice is then used once. If hours or minutes contain `*`,
// skipped times are left out, and times that occur twice are used twice.

import { Cron as Expression } from 'croner';
import { Failure } from '#std/failure.ts';

export interface Cron {
  /** Returns the next time after `after`, in milliseconds since 1970. */
  next(after: number): number;
}

/** `sloppyRanges` accepts `0/30`, which means every half minute, as other programs do. */
const DIALECT = { mode: '5-or-6-parts', fixedTimeRule: 'no-wildcard', sloppyRanges: true } as const;

/**
 * Reads a cron expression of five fields, or of six fields with seconds first. Throws Failure `config-invalid` if the
 * expression is invalid or never due.
 */
export function readCron(expression: string, timeZone: string): Cron {
  try {
    const parsed = new Expression(expression, { ...DIALECT, timezone: timeZone });
    if (parsed.getOnce() !== null) throw new TypeError('a date, which comes only once');
    const next = (after: number): number => nextOf(parsed, after);
    next(0);
    return { next };
  } catch (cause) {
    const message = `"${expression}" in time zone "${timeZone}" is not a cron expression, or is never due`;
    throw new Failure('config-invalid', message, { cause });
  }
}

function nextOf(expression: Expression, after: number): number {
  const date = expression.nextRun(new Date(after));
  if (date === null) throw new RangeError('never due');
  return date.getTime();
}
