// Looks at processes while something goes on: samples of each, and at the ends of the thirds what each holds.

import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Held, Sample, Watched } from './assess.ts';
import { stateOf } from './process-state.ts';
import type { WatchedProcess } from './watched-process.ts';

const SAMPLE_EVERY_MS = 5_000;
const SAMPLES_MIN = 30;

/** At a steady beat; what takes longer than one is late. */
export async function repeat(
  ended: () => boolean,
  everyMs: number,
  task: (number: number) => Promise<unknown>,
): Promise<void> {
  const start = performance.now();
  for (let number = 1; !ended(); number += 1) {
    await task(number);
    const waitMs = start + number * everyMs - performance.now();
    if (waitMs > 0) await pause(waitMs);
  }
}

export interface Watching {
  readonly ended: () => boolean;
  readonly durationMs: number;
  /** Folder of heap snapshots; undefined: none are written. */
  readonly snapshots: string | undefined;
  readonly say: (text: string) => void;
  /** The bounds are for these. */
  readonly processes: readonly WatchedProcess[];
  /** These are only shown. */
  readonly others: readonly { readonly name: string; readonly pid: number }[];
  /** Called at each sample. */
  readonly sampled: () => Promise<void>;
}

export async function watchProcesses(watching: Watching): Promise<readonly Watched[]> {
  const { ended, durationMs, snapshots, say, processes, others, sampled } = watching;
  const everyMs = Math.min(SAMPLE_EVERY_MS, durationMs / SAMPLES_MIN);
  const seen = [
    ...processes.map((process) => ({ name: process.name, pid: process.pid, bound: true, process })),
    ...others.map((each) => ({ ...each, bound: false, process: undefined })),
  ].map((each) => ({ ...each, samples: [] as Sample[], held: [] as Held[] }));
  const start = performance.now();
  let asked = 0;

  async function hold(): Promise<void> {
    asked += 1;
    for (const { process, name, held } of seen) {
      const file = snapshots === undefined ? '' : join(snapshots, `${name}-${asked}.heapsnapshot`);
      if (process !== undefined) held.push(await process.probe(file));
    }
  }

  await repeat(ended, everyMs, async () => {
    for (const { pid, samples } of seen) {
      const state = stateOf(pid);
      if (state !== undefined)
        samples.push({ residentMiB: state.residentMiB, counts: { ...state.open, threads: state.threads } });
    }
    await sampled();
    if (asked < 2 && performance.now() - start >= ((asked + 1) * durationMs) / 3) {
      await hold();
      say(seen.map(({ name, samples }) => `${name} ${samples.at(-1)?.residentMiB.toFixed(0)} MiB`).join(', '));
    }
  });
  await hold();
  return seen.map(({ name, bound, samples, held }) => ({ name, bound, samples, held }));
}
