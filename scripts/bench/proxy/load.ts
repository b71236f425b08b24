// The client of the bench as a process of its own, by what it can be asked.

import { startModule } from '../processes.ts';

export type Question =
  | { readonly do: 'start' }
  /** Connections with a session each; tokens are dealt out in turn. */
  | { readonly do: 'open'; readonly port: number; readonly tokens: readonly string[]; readonly connections: number }
  /** So many calls in all, over all connections at once. `list`: requests of the list of tools in place of calls. */
  | { readonly do: 'call'; readonly calls: number; readonly list?: boolean }
  /** Every connection becomes an open stream. */
  | { readonly do: 'stream' }
  | { readonly do: 'large'; readonly tool: string }
  | { readonly do: 'close' };

export interface Answer {
  readonly seconds?: number;
  /** Milliseconds. */
  readonly p50?: number;
  readonly p99?: number;
}

export interface Load {
  readonly pid: number;
  ask(question: Question): Promise<Answer>;
  stop(): Promise<void>;
}

export async function startLoad(): Promise<Load> {
  const question: Question = { do: 'start' };
  const { ask, pid, stop } = await startModule(new URL('./load-process.ts', import.meta.url), question);
  return { pid, stop, ask: (next) => ask<Answer>(next) };
}
