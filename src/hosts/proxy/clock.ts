// Provides time and random bytes for the gateway. No other code of the gateway reads them from the system.

import { randomBytes } from 'node:crypto';
import type { ProxyClock } from '#gateway/proxy/ports.ts';
import { systemClock } from '../clock.ts';

/** Clock whose timers do not keep the process alive. The listener keeps it alive. */
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
  atTurnEnd: collectTurn(),
  random: randomBytes,
};

function collectTurn(): ProxyClock['atTurnEnd'] {
  let tasks: (() => void)[] = [];

  function callAll(): void {
    const all = tasks;
    tasks = [];
    for (const task of all) task();
  }

  return function atTurnEnd(task) {
    if (tasks.length === 0) setImmediate(callAll);
    tasks.push(task);
  };
}
