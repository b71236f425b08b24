// `skep serve` in this process, and how long its event loop stood still. Sends the service's address when it listens, and for every
// message the longest stretches since the last one; ends when it is disconnected.

import { once } from 'node:events';
import { monitorEventLoopDelay } from 'node:perf_hooks';

/** Between two turns of the event loop. */
export interface Longest {
  /** That passed, also while others had the processor. */
  readonly delayMs: number;
  /** That the thread worked, whatever else the machine does. */
  readonly workMs: number;
}

const [{ program, config }] = (await once(process, 'message')) as [{ program: string; config: string }];
const write = process.stdout.write;
process.stdout.write = (text) => {
  process.stdout.write = write;
  process.send?.(String(text).trim().split(' ').at(-1));
  return true;
};
process.argv = [process.execPath, program, 'serve', '-c', config, '--log-level', 'error'];
const delays = monitorEventLoopDelay({ resolution: 5 });
delays.enable();
let before = process.threadCpuUsage();
let workMs = 0;
setInterval(() => {
  const now = process.threadCpuUsage();
  workMs = Math.max(workMs, (now.user + now.system - before.user - before.system) / 1000);
  before = now;
}, 5).unref();
process.on('message', () => {
  const longest: Longest = { delayMs: delays.max / 1e6, workMs };
  process.send?.(longest);
  delays.reset();
  workMs = 0;
});
process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'));
await import(program);
