// A listener in a process of its own: says where it listens and which routes it has, and then, for every message, how long the
// longest turn of its event loop was since the last one. Ends when it is disconnected.

import { once } from 'node:events';
import { answerWithTurns } from '../../scripts/bench/watched-turns.ts';
import { listen, type Start } from './listeners.ts';

const [start] = (await once(process, 'message')) as [Start];
process.once('disconnect', () => process.exit());
process.send?.(await listen(start));
answerWithTurns();
