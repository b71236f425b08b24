// A client that sends requests at a steady rate, whether or not the ones before are answered: what people wait when a
// service is busy. Times count from when a request was due, so that a stall is not hidden by sending less.

import { setTimeout as pause } from 'node:timers/promises';
import { Pool } from 'undici';

export interface Paced {
  readonly origin: string;
  readonly headers: Readonly<Record<string, string>>;
  /** One request each, all to be answered with 200. */
  readonly paths: readonly string[];
  readonly perSecond: number;
  readonly connections: number;
}

/** Milliseconds to each answer, ascending. Rejects where one has another status. */
export async function pace({ origin, headers, paths, perSecond, connections }: Paced): Promise<readonly number[]> {
  const pool = new Pool(origin, { connections, pipelining: 1 });
  try {
    const start = performance.now();
    const times = await Promise.all(
      paths.map(async (path, index) => {
        const due = start + (index * 1000) / perSecond;
        await pause(Math.max(0, due - performance.now()));
        const { statusCode, body } = await pool.request({ method: 'GET', path, headers });
        await body.arrayBuffer();
        if (statusCode !== 200) throw new Error(`${path} was answered with ${statusCode}`);
        return performance.now() - due;
      }),
    );
    return times.toSorted((a, b) => a - b);
  } finally {
    await pool.close();
  }
}

/** `sorted`: ascending. */
export function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}
