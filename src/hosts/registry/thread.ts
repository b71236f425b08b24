// Syncs the sources of a registry in a new thread, whose memory is freed when the thread ends.

import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { Failure } from '#std/failure.ts';
import type { RoundEnd, RoundOrder, SyncNews } from './round.ts';

/** Code of the Failure if a thread ends without a result. The thread's claims last up to another minute. */
export const THREAD_FAILED = 'sync-thread-failed';

const ROUND = new URL(`./round${extname(import.meta.url)}`, import.meta.url);

/**
 * Reports the result of each source, and resolves after the thread has ended. If `signal` is aborted, the thread stops
 * early. Throws a Failure if the store fails, and `sync-thread-failed` if the thread ends without a result.
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

/** Throws a Failure if the operating system refuses a thread, for lack of memory. */
function startWorker(order: RoundOrder): Worker {
  try {
    return new Worker(ROUND, { workerData: order });
  } catch (error) {
    throw threadFailed(error);
  }
}

/**
 * Returns the thread's result. An error in the thread, such as exhausted memory, becomes a Failure and does not end the
 * service.
 */
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
