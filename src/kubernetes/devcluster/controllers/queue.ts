// Runs the tasks of controllers after the response to a write: one task at a time, and each key is queued once.

export interface WorkQueue {
  /** Runs the task soon, or after a delay. Does nothing if a task with this key is waiting. */
  add(key: string, work: () => void, delayMs?: number): void;
  /** Stops the queue. Waiting tasks are dropped. */
  stop(): void;
}

/** Opens a queue. `onError` receives errors of tasks, which are bugs. Other tasks still run. */
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
