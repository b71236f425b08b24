// Returns unused memory of an idle process to the system. V8 itself keeps the memory that a start or many calls needed.

import { Session } from 'node:inspector/promises';
import { getHeapStatistics } from 'node:v8';

/** Time between two looks at the process. */
const INTERVAL_MS = 10_000;
/** Maximum processor time in an interval of an idle process: probes and reads of metrics take less. */
const IDLE_CPU_MS = 100;
/** Growth since the last collection, in bytes, from which another collection is worth its pause. */
const GROWN_BYTES = 8 * 1024 * 1024;

interface Look {
  /** Processor time of the process in milliseconds. */
  readonly cpuMs: number;
  /** Bytes that the heap occupies in memory. */
  readonly heapBytes: number;
}

/**
 * Collects when the process is idle for the first time, and again after growth. The timer does not keep the process
 * alive.
 */
export function releaseMemoryWhenIdle(): void {
  const growth = watchIdleGrowth(lookNow().cpuMs);
  const timer = setInterval(() => {
    if (!growth.isDue(lookNow())) return;
    collectGarbage().then(
      () => growth.collected(lookNow().heapBytes),
      // A Node.js without an inspector cannot collect, and keeps its memory.
      () => clearInterval(timer),
    );
  }, INTERVAL_MS).unref();
}

export interface IdleGrowth {
  /** Receives a look after each interval. Returns true if a collection is due. */
  isDue(now: Look): boolean;
  /** Receives the bytes of the heap after a collection. */
  collected(heapBytes: number): void;
}

/** Decides when a process collects. `startCpuMs` is its processor time before the first interval. */
export function watchIdleGrowth(startCpuMs: number): IdleGrowth {
  let before = startCpuMs;
  let collectedBytes = 0;
  return {
    isDue({ cpuMs, heapBytes }) {
      const isIdle = cpuMs - before <= IDLE_CPU_MS;
      before = cpuMs;
      return isIdle && heapBytes - collectedBytes >= GROWN_BYTES;
    },
    collected(heapBytes) {
      collectedBytes = heapBytes;
    },
  };
}

/** Collects all garbage, and shrinks the heap. Takes 30 to 70 ms in a proxy, and opens no port. */
export async function collectGarbage(): Promise<void> {
  const session = new Session();
  session.connect();
  try {
    await session.post('HeapProfiler.collectGarbage');
  } finally {
    session.disconnect();
  }
}

function lookNow(): Look {
  const { user, system } = process.cpuUsage();
  return { cpuMs: (user + system) / 1000, heapBytes: getHeapStatistics().total_physical_size };
}
