// Chooses how commands write times: relative to now if a person reads them at a terminal.

import { systemClock } from '#hosts/clock.ts';
import { fullTime, type TimeText, timeAgo } from '#std/words/time-text.ts';

export function chooseTimes(): TimeText {
  return process.stdout.isTTY ? timeAgo(systemClock.now()) : fullTime;
}
