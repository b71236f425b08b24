// Chooses the format of times: relative to now on a terminal, else RFC 3339.

import { systemClock } from '#hosts/clock.ts';
import { fullTime, type TimeText, timeAgo } from '#std/words/time-text.ts';

export function chooseTimes(): TimeText {
  return process.stdout.isTTY ? timeAgo(systemClock.now()) : fullTime;
}
