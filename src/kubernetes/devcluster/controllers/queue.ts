// The work that controllers do after a write was answered: one piece at a time, each key queued once.

export interface WorkQueue {
  /** Runs the work soon, or after a delay; a key that waits already is not queued again, but may move forward. */
  add(key: string, work: () => void, delayMs?: number): void;
  /** Nothing runs after this. */
  stop(): void;
}

/** Errors of a piece of work go to `onError`: they are bugs, and the other pieces go on. */
export function openQueue(onError: (error: unknown) => void): WorkQueue {
  const waiting = new Map<string, { readonly timer: NodeJS.Timeout | NodeJS.Immediate; readonly delayed: boolean }>();
  let stopped = false;
  const run = (key: string, work: () => void): void => {
    waiting.delete(key);
    try {
      work();
    } catch (error) {
      onError(error);
    }
  };
  return {
    add: (key, work, delayMs = 0) => {
      if (stopped || waiting.has(key)) return;
      const delayed = delayMs > 0;
      const timer = delayed ? setTimeout(() => run(key, work), delayMs) : setImmediate(() => run(key, work));
      waiting.set(key, { timer, delayed });
    },
    stop: () => {
      stopped = true;
      for (const { timer, delayed } of waiting.values()) {
        if (delayed) clearTimeout(timer as NodeJS.Timeout);
        else clearImmediate(timer as NodeJS.Immediate);
      }
      waiting.clear();
    },
  };
}
