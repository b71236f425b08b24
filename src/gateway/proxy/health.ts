// Checks repeatedly the health of a proxy and the MCP server behind it, for probes.

import type { JsonObject } from '#std/json.ts';
import type { Backend, Probe } from '../backends/backend.ts';

/** Time between two checks of the server. */
const INTERVAL_MS = 10_000;
/** Time between two checks while the server has not answered yet. */
const FIRST_INTERVAL_MS = 500;
/** Response time above which the server is reported as degraded. */
const SLOW_MS = 5000;

export interface HealthClock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Calls `task` once. The returned function cancels the call. Does not keep the process alive. */
  after(ms: number, task: () => void): () => void;
}

export interface Health {
  /**
   * Returns the reason why the proxy should get no requests. Returns undefined from the server's first answer until
   * `drain`.
   */
  unready(): string | undefined;
  /** Returns the body of /health. */
  report(): JsonObject;
  /** Notes whether the server was available for a real request. Has the same effect as a check. */
  observed(available: boolean): void;
  /** Reports not ready from now on. */
  drain(): void;
  stop(): void;
}

export interface HealthFacts {
  readonly transport: string;
  readonly version: JsonObject;
}

/** Maximum number of reported reasons per outage: a server may return any number of reasons. */
const REASONS_MAX = 20;

/**
 * Watches the health. Until the server answers, `changed` is called once for each different result of `unready`, since
 * two reasons may alternate at each check.
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

/** Checks the server. A check that throws counts as failed, and /health shows its error. */
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
