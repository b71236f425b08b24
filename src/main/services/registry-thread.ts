// Has the sources of a registry synced in a thread of its own, and gives its memory back when that is done. Knows nothing about
// what a sync does.

import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { Failure } from '../../std/failure.ts';
import type { RoundEnd, RoundOrder, SyncNews } from './registry-round.ts';

const ROUND = new URL(`./registry-round${extname(import.meta.url)}`, import.meta.url);

/**
 * Resolves once the thread is gone; what came of each source is reported before. Where `signal` is aborted, what is under way is
 * given up. Throws Failure where the store fails.
 */
export async function syncInThread(
  order: RoundOrder,
  report: (news: SyncNews) => void,
  signal: AbortSignal,
): Promise<void> {
  const worker = new Worker(ROUND, { workerData: order });
  function giveUp(): void {
    worker.postMessage('give up');
  }
  signal.addEventListener('abort', giveUp);
  if (signal.aborted) giveUp();
  try {
    const end = await awaitEnd(worker);
    if (end === undefined) return;
    if ('code' in end) throw new Failure(end.code, end.message);
    for (const news of end.outcomes) report(news);
  } finally {
    signal.removeEventListener('abort', giveUp);
  }
}

function awaitEnd(worker: Worker): Promise<RoundEnd | undefined> {
  return new Promise((resolve, reject) => {
    let end: RoundEnd | undefined;
    worker.on('message', (message: RoundEnd) => {
      end = message;
    });
    worker.on('error', reject);
    worker.on('exit', () => resolve(end));
  });
}
