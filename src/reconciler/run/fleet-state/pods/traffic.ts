// Computes the calls and errors of a server per minute out of the metrics of its proxies. Counters only grow, so that a
// rate needs an earlier reading, or the start of the process.

import type { Rate, Traffic } from './format.ts';
import { metricLines } from './metric-text.ts';

const OPERATION = 'mcp_server_operation_duration_seconds';
const REFUSALS = 'skep_proxy_refusals_total';
const CONNECTIONS = 'toolhive_mcp_active_connections';
const STARTED = 'process_start_time_seconds';
const FAMILIES = new Set([`${OPERATION}_count`, `${OPERATION}_sum`, REFUSALS, CONNECTIONS, STARTED]);

/** Counters by what they count: a JSON list of a family and labels. */
type Counters = ReadonlyMap<string, number>;

/** A reading of one pod. */
export interface PodSample {
  readonly pod: string;
  /** Start of the process, seconds since 1970. A process that started again counts from 0. */
  readonly startedAt: number;
  readonly counters: Counters;
  /** Open requests and streams. */
  readonly open: number;
}

/** Maximum number of tools, errors and refusals that are shown. */
const SHOWN_MAX = 50;

type CounterKey = readonly [family: 'count' | 'sum' | 'refused', method: string, target: string, error: string];

/** Returns undefined if the text has no metrics of a proxy. */
export function readSample(pod: string, text: string): PodSample | undefined {
  const counters = new Map<string, number>();
  const add = (key: CounterKey, value: number) => {
    const name = JSON.stringify(key);
    counters.set(name, (counters.get(name) ?? 0) + value);
  };
  let open = 0;
  let startedAt: number | undefined;
  for (const { name, labels, value } of metricLines(text, FAMILIES)) {
    const { mcp_method_name: method = '', gen_ai_tool_name: tool = '', error_type: error = '' } = labels;
    if (name === STARTED) startedAt = value;
    else if (name === CONNECTIONS) open += value;
    else if (name === REFUSALS) add(['refused', '', '', labels.reason ?? ''], value);
    else add([name === `${OPERATION}_sum` ? 'sum' : 'count', method, tool, error], value);
  }
  return startedAt === undefined ? undefined : { pod, startedAt, counters, open };
}

export interface TimedSamples {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly samples: readonly PodSample[];
}

/** `before`: an earlier reading; absent if there is none that is old enough. */
export function trafficOf(now: TimedSamples, before: TimedSamples | undefined): Traffic {
  const starts = now.samples.map(({ startedAt }) => startedAt);
  const since = before === undefined ? Math.min(...starts) : before.at / 1000;
  const seconds = Math.max(1, Math.round(now.at / 1000 - since));
  const totals = new Map<string, number>();
  const grown = new Map<string, number>();
  for (const { pod, startedAt, counters } of now.samples) {
    const earlier = before?.samples.find((each) => each.pod === pod && each.startedAt === startedAt);
    for (const [key, value] of counters) {
      totals.set(key, (totals.get(key) ?? 0) + value);
      grown.set(key, (grown.get(key) ?? 0) + value - (earlier?.counters.get(key) ?? 0));
    }
  }
  const rows = [...totals].map(
    ([key, total]): Row => ({ key: JSON.parse(key) as CounterKey, total, grown: grown.get(key) ?? 0 }),
  );
  const rate = (some: readonly Row[]): Rate => ({
    total: sum(some, ({ total }) => total),
    perMinute: Math.round((600 * sum(some, (row) => row.grown)) / seconds) / 10,
  });
  return {
    ...{ seconds, sinceStart: before === undefined, pods: now.samples.length },
    open: sum(now.samples, (sample) => sample.open),
    ...rowsOf(rows, rate),
  };
}

interface Row {
  readonly key: CounterKey;
  readonly total: number;
  readonly grown: number;
}

function rowsOf(rows: readonly Row[], rate: (some: readonly Row[]) => Rate) {
  const calls = rows.filter(({ key }) => key[0] === 'count');
  const failed = calls.filter(({ key }) => key[3] !== '');
  const seconds = Map.groupBy(
    rows.filter(({ key }) => key[0] === 'sum'),
    ({ key }) => key[2],
  );
  const tools = grouped(
    calls.filter(({ key }) => key[2] !== ''),
    2,
  ).map(([name, some]) => {
    const { total } = rate(some);
    const meanMs = Math.round((1000 * sum(seconds.get(name) ?? [], (row) => row.total)) / Math.max(1, total));
    const errors = sum(some, ({ key, total: count }) => (key[3] === '' ? 0 : count));
    return { name, ...rate(some), errors, meanMs };
  });
  return {
    calls: rate(calls),
    errors: rate(failed),
    tools: mostFirst(tools),
    errorTypes: mostFirst(grouped(failed, 3).map(([type, some]) => ({ type, ...rate(some) }))),
    refusals: mostFirst(
      grouped(
        rows.filter(({ key }) => key[0] === 'refused'),
        3,
      ).map(([reason, some]) => ({ reason, ...rate(some) })),
    ),
  };
}

function grouped(rows: readonly Row[], place: 2 | 3): readonly (readonly [string, readonly Row[]])[] {
  return [...Map.groupBy(rows, ({ key }) => key[place])];
}

function mostFirst<T extends Rate>(items: readonly T[]): readonly T[] {
  return items.toSorted((a, b) => b.total - a.total).slice(0, SHOWN_MAX);
}

function sum<T>(items: readonly T[], of: (item: T) => number): number {
  return items.reduce((all, item) => all + of(item), 0);
}
