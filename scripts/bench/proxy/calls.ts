// Measures the cost of calls of 1 KB in each contestant: processor time a call, and the wait of the client.

import assert from 'node:assert/strict';
import { ownCpuMs } from '../cpu.ts';
import { median } from '../measure.ts';
import { residentMiB } from '../processes.ts';
import type { Load } from './load.ts';
import type { Serving } from './serving.ts';

export interface Contestant {
  readonly name: string;
  readonly serving: Serving;
  readonly tokens: readonly string[];
}

export interface CallCost {
  /** Of the contestant alone, µs a call. */
  readonly cpu: number;
  readonly server: number;
  readonly client: number;
  readonly perSecond: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
}

export interface CallRun {
  readonly connections: number;
  readonly calls: number;
  /** Before those that count, at each turn. */
  readonly warmUp: number;
  readonly rounds: number;
  /** True: requests of the list of tools in place of calls. */
  readonly list?: boolean;
}

/**
 * Of every contestant what each round showed. They take turns, so that whatever else the machine does meets all of them; one
 * more round than counted warms up. Counted in calls and not in seconds, so that each has the same work to do.
 */
export async function costsOf(
  contestants: readonly Contestant[],
  { load, backendPid }: { readonly load: Load; readonly backendPid: number },
  run: CallRun,
): Promise<ReadonlyMap<string, readonly CallCost[]>> {
  const costs = new Map(contestants.map(({ name }) => [name, [] as CallCost[]]));
  for (let round = 0; round <= run.rounds; round += 1) {
    for (const { name, serving, tokens } of contestants) {
      await load.ask({ do: 'open', port: serving.port, tokens, connections: run.connections });
      await load.ask({ do: 'call', calls: run.warmUp, list: run.list });
      const pids = [serving.pid, backendPid, load.pid];
      const before = pids.map(usedMs);
      const { seconds = 0, p50 = 0, p99 = 0 } = await load.ask({ do: 'call', calls: run.calls, list: run.list });
      const [cpu = 0, server = 0, client = 0] = pids.map((pid, index) => {
        return ((usedMs(pid) - (before[index] ?? 0)) * 1000) / run.calls;
      });
      await load.ask({ do: 'close' });
      if (round > 0) costs.get(name)?.push({ cpu, server, client, perSecond: run.calls / seconds, p50, p99 });
    }
  }
  for (const { name, serving } of contestants) {
    process.stderr.write(`${lineOf(name, run.connections, costs.get(name) ?? [], residentMiB(serving.pid))}\n`);
  }
  return costs;
}

function usedMs(pid: number): number {
  const ms = ownCpuMs(pid);
  assert(ms !== undefined, 'the system tells what processor time a process has used');
  return ms;
}

function lineOf(name: string, connections: number, costs: readonly CallCost[], rss: number | undefined): string {
  const cpu = costs.map((cost) => cost.cpu);
  const cell = (key: keyof CallCost, digits = 0) => median(costs.map((cost) => cost[key])).toFixed(digits);
  return [
    `${name} @${connections}`.padEnd(34),
    `cpu ${cell('cpu')} (${Math.min(...cpu).toFixed(0)}) µs`.padEnd(18),
    `server ${cell('server')} client ${cell('client')} µs`.padEnd(26),
    `${cell('perSecond')}/s`.padEnd(9),
    `p50 ${cell('p50', 3)} p99 ${cell('p99', 2)} ms`.padEnd(28),
    `rss ${rss?.toFixed(0)} MiB`,
  ].join(' ');
}
