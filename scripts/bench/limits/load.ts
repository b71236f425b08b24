// Calls tools at a steady rate at all replicas in turns, and counts what each part of the time let through.

import { setTimeout as pause } from 'node:timers/promises';
import { Pool } from 'undici';
import { REVISION } from '../proxy/messages.ts';

export interface OfferedCall {
  readonly tool: string;
  readonly token: string;
}

export interface Counted {
  /** Monotonic milliseconds of the first mark to those of the second. */
  readonly ms: number;
  readonly offered: number;
  /** Calls that were answered with 200, by the text that `group` returns. */
  readonly accepted: ReadonlyMap<string, number>;
}

export interface SteadyLoad {
  /** Resolves when the first call is accepted, with monotonic milliseconds: buckets are full until then. */
  readonly begun: Promise<number>;
  /** Counts the answers of so many milliseconds from now, or since `from`. */
  count(ms: number, group?: (call: OfferedCall) => string, from?: number): Promise<Counted>;
  /** Resolves once every call is answered. Rejects if one had an answer that no limit gives. */
  stop(): Promise<void>;
}

/** Ends a process that stands still: pacing would collect calls without end. */
const IN_FLIGHT_MAX = 5000;

/** Calls are sent when they are due, whether or not the ones before are answered. */
export function startSteadyLoad(
  ports: readonly number[],
  perSecond: number,
  callAt: (index: number) => OfferedCall,
): SteadyLoad {
  const pools = ports.map((port) => new Pool(`http://127.0.0.1:${port}`, { connections: 24, pipelining: 1 }));
  const accepted: { readonly at: number; readonly call: OfferedCall }[] = [];
  const sent: number[] = [];
  const inFlight = new Set<Promise<void>>();
  const begun = Promise.withResolvers<number>();
  let broken: unknown;
  let stopped = false;

  async function sendOne(index: number): Promise<void> {
    const call = callAt(index);
    const pool = pools[index % pools.length];
    if (pool === undefined) return;
    const { statusCode, body } = await pool.request({ method: 'POST', path: '/mcp', ...messageOf(call, index) });
    const text = await body.text();
    if (statusCode === 200) {
      const at = performance.now();
      accepted.push({ at, call });
      begun.resolve(at);
    } else if (statusCode !== 429) throw new Error(`a call was answered with ${statusCode}: ${text}`);
  }

  async function sendAll(): Promise<void> {
    const start = performance.now();
    for (let index = 0; !stopped; index += 1) {
      const early = start + (index * 1000) / perSecond - performance.now();
      if (early > 0) await pause(early);
      if (inFlight.size > IN_FLIGHT_MAX) throw new Error(`${IN_FLIGHT_MAX} calls are not answered`);
      sent.push(performance.now());
      const sending = sendOne(index).catch((error: unknown) => {
        broken ??= error;
        stopped = true;
        begun.reject(error);
      });
      inFlight.add(sending);
      void sending.then(() => inFlight.delete(sending));
    }
  }

  const sending = sendAll().catch((error: unknown) => {
    broken ??= error;
  });
  return {
    begun: begun.promise,
    async count(ms, group = () => 'all', from = performance.now()) {
      await pause(ms);
      const to = performance.now();
      if (broken !== undefined) throw broken;
      const counts = new Map<string, number>();
      for (const { call } of accepted.filter(({ at }) => at >= from && at < to))
        counts.set(group(call), (counts.get(group(call)) ?? 0) + 1);
      return { ms: to - from, offered: sent.filter((at) => at >= from && at < to).length, accepted: counts };
    },
    async stop() {
      stopped = true;
      await sending;
      await Promise.all(inFlight);
      await Promise.all(pools.map((pool) => pool.close()));
      if (broken !== undefined) throw broken;
    },
  };
}

function messageOf({ tool, token }: OfferedCall, id: number) {
  return {
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': REVISION,
      authorization: `Bearer ${token}`,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { name: tool, arguments: {} } }),
  };
}
