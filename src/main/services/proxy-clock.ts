// Time and chance for the data plane: the only place of it that asks the system for them.

import { randomBytes } from 'node:crypto';
import type { ProxyClock } from '../../proxy/ports.ts';
import { systemClock } from '../clock.ts';

/** Timers of the proxy keep no process alive: its listener does. */
export const proxyClock: ProxyClock = {
  now: systemClock.now,
  monotonic: systemClock.monotonic,
  after(ms, task) {
    const timer = setTimeout(task, ms);
    timer.unref();
    return () => clearTimeout(timer);
  },
  every(ms, task) {
    const timer = setInterval(task, ms);
    timer.unref();
    return () => clearInterval(timer);
  },
  random: randomBytes,
};
