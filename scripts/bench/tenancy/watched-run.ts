// `skep run` in this process, or nothing at all where no configuration is given, and how long its event loop stood still. Sends
// `open` when it begins; ends when it is disconnected.

import { once } from 'node:events';
import { answerWithTurns } from '../watched-turns.ts';

const [{ program, config }] = (await once(process, 'message')) as [{ program: string; config: string }];
process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'));
process.send?.('open');
answerWithTurns();
if (config !== '') {
  process.argv = [process.execPath, program, 'run', '-c', config, '--log-level', 'error'];
  await import(program);
}
