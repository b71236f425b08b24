// How soon a proxy answers for its health after it was started, and what memory it has when nothing happens.

import { setTimeout as pause } from 'node:timers/promises';
import { request } from 'undici';
import { median } from '../measure.ts';
import { peakMiB, residentMiB } from '../processes.ts';
import type { Serving } from './serving.ts';

const STARTS = 5;
const REST_MS = 2000;
const ASK_AGAIN_MS = 2;

export interface StartUp {
  readonly medianMs: number;
  readonly leastMs: number;
  /** MiB. */
  readonly atRest: number;
  readonly peak: number;
}

export async function measureStart(start: () => Promise<Serving>): Promise<StartUp> {
  const times: number[] = [];
  let atRest = Number.NaN;
  let peak = Number.NaN;
  for (let round = 0; round <= STARTS; round += 1) {
    const begun = performance.now();
    const serving = await start();
    await healthy(serving.port);
    // The first one finds nothing in the file cache.
    if (round > 0) times.push(performance.now() - begun);
    if (round === STARTS) {
      await pause(REST_MS);
      atRest = residentMiB(serving.pid) ?? Number.NaN;
      peak = peakMiB(serving.pid) ?? Number.NaN;
    }
    await serving.stop();
  }
  return { medianMs: median(times), leastMs: Math.min(...times), atRest, peak };
}

async function healthy(port: number): Promise<void> {
  for (;;) {
    const { statusCode, body } = await request(`http://127.0.0.1:${port}/health`);
    await body.dump();
    if (statusCode === 200) return;
    await pause(ASK_AGAIN_MS);
  }
}
