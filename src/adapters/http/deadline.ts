// Limits the duration of an operation, without the time that the operation waits for other operations.

import assert from 'node:assert/strict';

export interface Deadline {
  readonly signal: AbortSignal;
  /**
   * Pauses the deadline during `wait`, then restarts it with the full time. Throws the reason of `other` if it aborts
   * during the wait.
   */
  afterWait(wait: Promise<void>, other?: AbortSignal): Promise<void>;
  end(): void;
}

/** Maximum delay of timers. Timers with a longer delay fire immediately. */
const MAX_MS = 2 ** 31 - 1;

export function openDeadline(ms: number): Deadline {
  assert(ms >= 0 && ms <= MAX_MS, 'timers accept the time limit');
  const controller = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  function begin(): void {
    timer = setTimeout(() => controller.abort(new DOMException('The time limit has passed', 'TimeoutError')), ms);
    timer.unref();
  }
  begin();
  return {
    signal: controller.signal,
    async afterWait(wait, other) {
      clearTimeout(timer);
      await unlessAborted(wait, other);
      begin();
    },
    end: () => clearTimeout(timer),
  };
}

async function unlessAborted(wait: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  const aborted = Promise.withResolvers<never>();
  const abort = (): void => aborted.reject(signal?.reason);
  if (signal?.aborted === true) abort();
  signal?.addEventListener('abort', abort, { once: true });
  try {
    await Promise.race([wait, aborted.promise]);
  } finally {
    signal?.removeEventListener('abort', abort);
  }
}
