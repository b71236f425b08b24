// What all processes expose at /metrics, once of everything has happened something.

import { pino } from 'pino';
import type { Rejection } from '#auth/rejection.ts';
import { GATE_CODES } from '#gateway/gate/codes.ts';
import { createProxyMetrics } from '#gateway/proxy/metrics.ts';
import { addSleepMetrics } from '#gateway/proxy/records/sleep-metrics.ts';
import { createRunMetrics } from '#reconciler/control/metrics.ts';
import type { RunResult } from '#reconciler/run/result.ts';
import type { CatalogueReader } from '#registry/catalogue/ports.ts';
import { buildMetricsApp, createServiceMetrics } from '#registry/service/metrics.ts';
import { Failure } from '#std/failure.ts';
import { controlApp } from '../reconciler/control/control-app.ts';

export interface Family {
  readonly name: string;
  readonly type: string;
  /** Values by label. */
  readonly labels: ReadonlyMap<string, ReadonlySet<string>>;
}

const usage = () => ({ startedAtSeconds: 1, residentBytes: 1, heapBytes: 1, cpuSeconds: 1, eventLoopSeconds: 0 });
const since = '2026-01-01T00:00:00.000Z';

const NOTHING = { batches: [], held: [], unchanged: [], waiting: [], approved: [], within: [] };

export async function exposedByRun(): Promise<readonly Family[]> {
  const metrics = createRunMetrics({ version: '1', monotonic: () => 0, sources: ['fleet'], interval: () => 30 });
  metrics.queued(true);
  metrics.began('schedule');
  const resource = { apiVersion: 'v1', kind: 'ConfigMap', name: 'a' };
  const result = {
    id: 'r1',
    commits: { fleet: 'c1' },
    quarantined: [{ source: 'fleet', since }],
    startedAt: since,
    finishedAt: since,
    plan: { ...NOTHING, waiting: [{ deletions: [], expiredAt: since }] },
    outcomes: [{ action: 'failed', resource, error: { code: 'cluster-invalid', message: '' } }],
    problems: [],
    failures: [],
    fields: [],
    warnings: [new Failure('history-not-recorded', '')],
    catalogue: [],
    readiness: { ready: [], progressing: [], failed: [] },
    timedOut: false,
    waits: [],
    requests: 0,
  };
  metrics.ended({ result: result as unknown as RunResult });
  metrics.ended({ result: { ...result, outcomes: [], plan: NOTHING } as never });
  metrics.ended({ result: { ...result, paused: { by: 'suspension', who: '', since, reason: '' } } as never });
  metrics.requested({ method: 'GET', status: 200, seconds: 1, repeated: true, urgent: false });
  metrics.fetched({ source: 'fleet', seconds: 1 });
  metrics.missed('ConfigMap', 1);
  for (const outcome of ['accepted', 'unsigned', 'forged']) metrics.webhook('github', outcome);
  const app = controlApp({ metrics: { metrics, usage } });
  return read((await app.inject('/metrics')).body, metrics.families());
}

const JUDGED: readonly (Rejection['reason'] | 'accepted')[] = [
  'accepted',
  'credentials-missing',
  'token-refused',
  'token-unjudged',
];

export async function exposedByServe(): Promise<readonly Family[]> {
  const metrics = createServiceMetrics('1', [{ name: 'main', intervalMs: 1000 }]);
  for (const status of [200, 503]) metrics.answered('GET', '/health', status, 1);
  metrics.answered('GET', '/readiness', 200, 1);
  for (const outcome of JUDGED) metrics.token(outcome, outcome === 'accepted' ? 'main' : '');
  const state = { serverCount: 1, rejectedCount: 0, attemptCount: 0, lastAttempt: since, lastSyncTime: since };
  const app = buildMetricsApp({
    metrics,
    config: { namespace: 'a', registryName: 'b' },
    catalogue: { states: async () => ({ main: state }) } as unknown as CatalogueReader,
    usage,
    logger: pino({ level: 'silent' }),
  });
  return read((await app.inject('/metrics')).body, metrics.families());
}

/** Of the port `metrics` of a proxy. */
export function exposedByProxy(): readonly Family[] {
  const proxy = createProxyMetrics({
    version: '1',
    server: 'weather',
    transport: 'stdio',
    isKnownMethod: () => true,
    isKnownRevision: () => true,
  });
  const call = {
    ...{ httpMethod: 'POST', mcpMethod: 'tools/call', target: 'forecast', isTool: true },
    ...{ revision: '2025-11-25', seconds: 1, errorType: '' },
  };
  proxy.answered({ ...call, status: 200, failed: false, reason: '' });
  for (const reason of Object.keys(GATE_CODES)) proxy.answered({ ...call, status: 503, failed: true, reason });
  proxy.dropped('unattributed');
  proxy.active(1);
  proxy.streams(1);
  for (const list of ['tools', 'prompts', 'resourceTemplates'] as const) proxy.drifted(list, 1);
  const sleep = addSleepMetrics(proxy.metrics, 'weather', false);
  sleep.woke(1);
  for (const outcome of ['started', 'not-started', 'client-gone'] as const) sleep.waited(1, outcome);
  return read(proxy.metrics.text(), proxy.metrics.families());
}

const SERIES = /^([a-z0-9_]+?)(?:_bucket|_sum|_count)?(?:\{(.*)\})? \S+$/;
const LABEL = /([a-z_]+)="((?:[^"\\]|\\.)*)"/g;

/** Prometheus exposition format 0.0.4, as far as we write it. Throws where a family has nothing to show. */
function read(text: string, families: readonly { readonly name: string; readonly type: string }[]): Family[] {
  const series = text.split('\n').flatMap((line) => {
    const match = line.startsWith('#') ? null : SERIES.exec(line);
    return match === null ? [] : [{ name: match[1] ?? '', labels: [...(match[2] ?? '').matchAll(LABEL)] }];
  });
  return families.map(({ name, type }) => {
    const own = series.filter((each) => each.name === name);
    if (own.length === 0) throw new Error(`${name} has nothing to show: let something happen to it here`);
    const labels = new Map<string, Set<string>>();
    for (const [, label = '', value = ''] of own.flatMap((each) => each.labels)) {
      labels.set(label, (labels.get(label) ?? new Set()).add(value));
    }
    return { name, type, labels };
  });
}
