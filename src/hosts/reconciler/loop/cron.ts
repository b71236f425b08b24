// Computes when a cron expression is due next, in its time zone. Times of day (hours and minutes without `*`) that the
// clocks skip come right after the gap, and times that occur twice come once. Repeated times (with `*`) follow the
// clocks: skipped times are left out, and doubled times come twice.

import { Cron as Expression } from 'croner';
import { Failure } from '#std/failure.ts';

export interface Cron {
  /** Milliseconds since 1970, later than `after`. */
  next(after: number): number;
}

/** `sloppyRanges`: `0/30` means every half minute, as in other programs. */
const DIALECT = { mode: '5-or-6-parts', fixedTimeRule: 'no-wildcard', sloppyRanges: true } as const;

/**
 * Reads five fields, or six with seconds first. Throws Failure `config-invalid`, also if the expression is never due.
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
