// Has the sources of a registry synced in a thread of its own, and gives its memory back when that is done.

import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { Failure } from '#std/failure.ts';
import type { RoundEnd, RoundOrder, SyncNews } from './round.ts';

/** The thread ended without a result; what it has claimed is claimed for up to a minute yet. */
export const THREAD_FAILED = 'sync-thread-failed';

const ROUND = new URL(`./round${extname(import.meta.url)}`, import.meta.url);

/**
 * Resolves once the thread is gone; what came of each source is reported before. Where `signal` is aborted, what is under way is
 * given up. Throws Failure where the store fails, and `sync-thread-failed` where the thread ends without a word.
 */
export async function syncInThread(
  order: RoundOrder,
  report: (news: SyncNews) => void,
  signal: AbortSignal,
): Promise<void> {
  const worker = startWorker(order);
  function giveUp(): void {
    worker.postMessage('give up');
  }
  signal.addEventListener('abort', giveUp);
  if (signal.aborted) giveUp();
  try {
    const end = await awaitEnd(worker);
    if ('code' in end) throw new Failure(end.code, end.message);
    for (const news of end.outcomes) report(news);
  } finally {
    signal.removeEventListener('abort', giveUp);
  }
}

/** A machine that is short of memory may refuse it. */
function startWorker(order: RoundOrder): Worker {
  try {
    return new Worker(ROUND, { workerData: order });
  } catch (error) {
    throw threadFailed(error);
  }
}

/** What goes wrong in the thread, from a source too large for its memory to a bug, must not end what serves beside it. */
export function awaitEnd(worker: Worker): Promise<RoundEnd> {
  return new Promise((resolve, reject) => {
    let end: RoundEnd | undefined;
    worker.on('message', (message: RoundEnd) => {
      end = message;
    });
    worker.on('error', (error) => reject(threadFailed(error)));
    worker.on('exit', (code) => {
      if (end === undefined) reject(threadFailed(`exit code ${code}`));
      else resolve(end);
    });
  });
}

function threadFailed(cause: unknown): Failure {
  const what = cause instanceof Error ? cause.message : String(cause);
  const message = `the thread that reads the sources ended without a result: ${what}`;
  return new Failure(THREAD_FAILED, message, { retryable: true });
}
