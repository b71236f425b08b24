// Repeatedly checks the health of the MCP server behind a proxy, and reports it to probes.

import type { JsonObject } from '#std/json.ts';
import type { Backend, Probe } from '../backends/backend.ts';

/** Interval of the checks. */
const INTERVAL_MS = 10_000;
/** Interval of the checks until the server's first answer. */
const FIRST_INTERVAL_MS = 500;
/** Response time above which /health reports the server as degraded. */
const SLOW_MS = 5000;

export interface HealthClock {
  /** Milliseconds since 1970. */
  now(): number;
  /**
   * Calls `task` once, after `ms` milliseconds. The returned function cancels the call. The timer does not keep the
   * process alive.
   */
  after(ms: number, task: () => void): () => void;
}

export interface Health {
  /**
   * Returns why the proxy must get no requests. Returns undefined after the server's first answer, until `drain` is
   * called.
   */
  unready(): string | undefined;
  report(): JsonObject;
  /** Notes whether the server was available for a real request. Replaces the result of the last check. */
  observed(available: boolean): void;
  /** Makes `unready` return a reason from now on. */
  drain(): void;
  stop(): void;
}

export interface HealthFacts {
  readonly transport: string;
  readonly version: JsonObject;
}

/** Maximum number of reported reasons per outage: a server may return a different reason each time. */
const REASONS_MAX = 20;

/**
 * Starts the checks. Until the server answers, calls `changed` once for each different reason: two reasons may
 * alternate at each check.
 */
export function watchHealth(
  backend: Backend,
  facts: HealthFacts,
  clock: HealthClock,
  changed: (reason: string | undefined) => void,
): Health {
  let last: (Probe & { readonly checkedAt: number }) | undefined;
  let answered = false;
  let draining = false;
  let stopped = false;
  const reported = new Set<string>();
  let cancel: () => void = () => undefined;

  function unready(): string | undefined {
    if (draining) return 'the proxy is stopping';
    if (answered) return undefined;
    if (last === undefined) return 'the MCP server was not checked yet';
    return `the MCP server did not answer: ${last.error ?? 'no reason is known'}`;
  }

  function tell(): void {
    const reason = unready();
    if (draining) return;
    if (reason === undefined) {
      if (reported.size > 0) changed(undefined);
      reported.clear();
    } else if (reported.size < REASONS_MAX && !reported.has(reason)) {
      reported.add(reason);
      changed(reason);
    }
  }

  async function ask(): Promise<void> {
    const probe = await probeOf(backend);
    last = { ...probe, checkedAt: clock.now() };
    answered ||= probe.available;
    if (stopped) return;
    tell();
    cancel = clock.after(answered ? INTERVAL_MS : FIRST_INTERVAL_MS, () => void ask());
  }

  void ask();
  return {
    unready,
    report: () => reportOf(facts, last, clock.now()),
    observed(available) {
      answered ||= available;
      if (last !== undefined && last.available === available) return;
      last = { available, checkedAt: clock.now() };
      if (available) tell();
    },
    drain() {
      draining = true;
    },
    stop() {
      stopped = true;
      cancel();
    },
  };
}

/** Checks the server. A check that throws counts as failed, and /health shows the error. */
async function probeOf(backend: Backend): Promise<Probe> {
  try {
    return await backend.probe();
  } catch (error) {
    return { available: false, error: String(error) };
  }
}

function reportOf(
  { transport, version }: HealthFacts,
  last: (Probe & { readonly checkedAt: number }) | undefined,
  now: number,
): JsonObject {
  const common = { status: healthStatus(last), timestamp: new Date(now).toISOString(), version, transport };
  if (last === undefined) return common;
  const { available, isAsleep, responseTimeMs, error, checkedAt } = last;
  const asked = new Date(checkedAt).toISOString();
  return {
    ...common,
    mcp: { available, asleep: isAsleep, response_time_ms: responseTimeMs, error, last_checked: asked },
  };
}

function healthStatus(last: Probe | undefined): 'healthy' | 'degraded' | 'unhealthy' {
  if (last === undefined) return 'degraded';
  if (!last.available) return 'unhealthy';
  return (last.responseTimeMs ?? 0) > SLOW_MS ? 'degraded' : 'healthy';
}
