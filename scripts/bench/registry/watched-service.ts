// `skep serve` in this process, and how long its event loop stood still. Sends the service's address when it listens, and for every
// message the longest stretches since the last one; ends when it is disconnected.

import { once } from 'node:events';
import { answerWithTurns } from '../watched-turns.ts';

const [{ program, config }] = (await once(process, 'message')) as [{ program: string; config: string }];
const write = process.stdout.write;
process.stdout.write = (text) => {
  process.stdout.write = write;
  process.send?.(String(text).trim().split(' ').at(-1));
  return true;
};
process.argv = [process.execPath, program, 'serve', '-c', config, '--log-level', 'error'];
answerWithTurns();
process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'));
await import(program);
