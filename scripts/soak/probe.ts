// Loaded into a process that is watched (`--expose-gc --import`): tells what it holds when it is asked. Does nothing until
// then, and keeps no one alive.

import { writeHeapSnapshot } from 'node:v8';

export interface Probed {
  /** Of the heap, after everything was collected that could be. */
  readonly heapMiB: number;
  /** Outside of the heap: buffers and what the libraries keep. */
  readonly externalMiB: number;
  /** What would keep the process alive, by sort: timers, sockets, listeners. */
  readonly resources: Readonly<Record<string, number>>;
}

const MIB = 1024 * 1024;

function probe(): Probed {
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  const resources: Record<string, number> = {};
  for (const sort of process.getActiveResourcesInfo()) resources[sort] = (resources[sort] ?? 0) + 1;
  return { heapMiB: heapUsed / MIB, externalMiB: external / MIB, resources };
}

process.on('message', (snapshot: string) => {
  if (snapshot !== '') writeHeapSnapshot(snapshot);
  process.send?.(probe());
});
process.channel?.unref();
