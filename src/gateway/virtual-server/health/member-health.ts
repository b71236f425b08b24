// Tracks the health of one member, by checks and by the calls that pass: healthy, degraded, unhealthy, and whether its
// circuit lets calls through.

export interface HealthSettings {
  /** Number of failures in a row that make it unhealthy. */
  readonly unhealthyThreshold: number;
  /** If absent, calls are never blocked. */
  readonly breaker?: { readonly failureThreshold: number; readonly openMs: number };
}

export type MemberState = 'unknown' | 'healthy' | 'degraded' | 'unhealthy';
type CircuitState = 'closed' | 'open' | 'half-open';

export interface HealthReport {
  readonly state: MemberState;
  readonly consecutiveFailures: number;
  /** Milliseconds since 1970 of the last check or call; undefined before the first. */
  readonly checkedAt?: number;
  /** Reason of the failure; empty without one. */
  readonly message: string;
  readonly changedAt?: number;
  /** Undefined if there is no breaker. */
  readonly circuit?: { readonly state: CircuitState; readonly changedAt?: number };
}

export interface MemberHealth {
  report(): HealthReport;
  /** Reports the result of a check or a call. `slow`: it answered, later than it should. */
  observe(result: { readonly ok: boolean; readonly slow?: boolean; readonly message?: string }): void;
  /**
   * Returns undefined if calls must fail at once. While the circuit is half open, one call at a time tests the member:
   * an admitted call calls the returned function at its end, so that the next call tests if this one proved nothing.
   */
  admit(): (() => void) | undefined;
  /** Returns whether lists and workflows that need the member can rely on it. */
  usable(): boolean;
}

export interface HealthClock {
  now(): number;
  monotonic(): number;
}

/** Calls `changed` when its state or that of its circuit has changed. */
export function createMemberHealth(settings: HealthSettings, clock: HealthClock, changed: () => void): MemberHealth {
  const { unhealthyThreshold, breaker } = settings;
  let state: MemberState = 'unknown';
  let failures = 0;
  let message = '';
  let checkedAt: number | undefined;
  let changedAt: number | undefined;
  let circuit: CircuitState = 'closed';
  let circuitChangedAt: number | undefined;
  let openedAt = 0;
  /** Start of the call that tests the member, in monotonic time; undefined if there is none. */
  let trial: { readonly begunAt: number } | undefined;

  function enter(next: MemberState): void {
    if (next === state) return;
    state = next;
    changedAt = clock.now();
    changed();
  }

  function turn(next: CircuitState): void {
    if (next === circuit) return;
    circuit = next;
    circuitChangedAt = clock.now();
    if (next === 'open') openedAt = clock.monotonic();
    changed();
  }

  function fail(why: string): void {
    failures += 1;
    message = why;
    if (failures >= unhealthyThreshold) enter('unhealthy');
    if (breaker !== undefined && (circuit === 'half-open' || failures >= breaker.failureThreshold)) turn('open');
  }

  function succeed(slow: boolean): void {
    // After failures, the first success proves less than the second.
    enter(slow || state === 'unhealthy' ? 'degraded' : 'healthy');
    failures = 0;
    message = slow ? 'it answers slowly' : '';
    turn('closed');
  }

  return {
    report: () => ({
      state,
      consecutiveFailures: failures,
      checkedAt,
      message,
      changedAt,
      circuit: breaker === undefined ? undefined : { state: circuit, changedAt: circuitChangedAt },
    }),
    observe({ ok, slow = false, message: why = '' }) {
      checkedAt = clock.now();
      trial = undefined;
      if (ok) succeed(slow);
      else fail(why);
    },
    admit() {
      if (breaker === undefined || circuit === 'closed') return () => undefined;
      const now = clock.monotonic();
      if (circuit === 'open' && now - openedAt < breaker.openMs) return undefined;
      // A test that never ended does not keep the circuit open.
      if (trial !== undefined && now - trial.begunAt < breaker.openMs) return undefined;
      const own = { begunAt: now };
      trial = own;
      turn('half-open');
      return () => {
        if (trial === own) trial = undefined;
      };
    },
    usable: () => state !== 'unhealthy' && circuit !== 'open',
  };
}
