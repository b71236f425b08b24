// Measures the memory that open streams and a large answer take in a proxy.

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { peakMiB, residentMiB } from '../processes.ts';
import type { Load } from './load.ts';
import type { Serving } from './serving.ts';

/** Memory is looked at when what was done before has settled. */
const SETTLE_MS = 2000;
const WARM_UP = { connections: 32, calls: 3000 };
/** Of a process that has nothing but streams. */
const OTHER_DESCRIPTORS = 200;

/** KiB of resident memory that each of so many idle streams takes. `serving`: fresh, and of no use afterwards. */
export async function streamKiB(
  serving: Serving,
  load: Load,
  tokens: readonly string[],
  streams: number,
): Promise<number> {
  await warmUp(serving, load, tokens);
  const before = resident(serving);
  await load.ask({ do: 'open', port: serving.port, tokens, connections: streams });
  await load.ask({ do: 'stream' });
  await pause(SETTLE_MS);
  const after = resident(serving);
  await load.ask({ do: 'close' });
  return ((after - before) * 1024) / streams;
}

/** As many as were asked for, or as a process that has two descriptors for each may have open. */
export function possibleStreams(wanted: number): number {
  const limit = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1'))?.[1];
  if (limit === undefined) return wanted;
  const possible = Math.floor((Number(limit) - OTHER_DESCRIPTORS) / 2);
  return Math.min(wanted, Math.floor(possible / 100) * 100);
}

/** MiB by which memory is larger at most while an answer of 100 MiB passes to a client that reads slowly. */
export async function largeAnswerMiB(
  serving: Serving,
  load: Load,
  tokens: readonly string[],
  tool: string,
): Promise<number> {
  await warmUp(serving, load, tokens);
  await load.ask({ do: 'open', port: serving.port, tokens, connections: 1 });
  const before = resident(serving);
  // proc(5): the peak begins anew.
  writeFileSync(`/proc/${serving.pid}/clear_refs`, '5');
  await load.ask({ do: 'large', tool });
  const peak = peakMiB(serving.pid) ?? Number.NaN;
  await load.ask({ do: 'close' });
  return peak - before;
}

async function warmUp(serving: Serving, load: Load, tokens: readonly string[]): Promise<void> {
  await load.ask({ do: 'open', port: serving.port, tokens, connections: WARM_UP.connections });
  await load.ask({ do: 'call', calls: WARM_UP.calls });
  await load.ask({ do: 'close' });
  await pause(SETTLE_MS);
}

function resident({ pid }: Serving): number {
  const size = residentMiB(pid);
  assert(size !== undefined, 'the system tells how much memory a process has');
  return size;
}
