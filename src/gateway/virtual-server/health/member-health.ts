// Tracks the health of one member, from checks and calls: its state (healthy, degraded, unhealthy), and whether its
// circuit permits calls.

export interface HealthSettings {
  /** Number of successive failures that make a member unhealthy. */
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
  /** Reason of the failure, or an empty text. */
  readonly message: string;
  readonly changedAt?: number;
  /** State of the circuit. Undefined without a breaker. */
  readonly circuit?: { readonly state: CircuitState; readonly changedAt?: number };
}

export interface MemberHealth {
  report(): HealthReport;
  /** Reports the result of a check or a call. `slow` is true if the member answered too late. */
  observe(result: { readonly ok: boolean; readonly slow?: boolean; readonly message?: string }): void;
  /**
   * Admits a call, which must call the returned function at its end. Returns undefined if calls must fail at once.
   * While the circuit is half open, one call at a time tests the member. If the test had no result, the next call tests
   * again.
   */
  admit(): (() => void) | undefined;
  /** Returns whether lists and workflows that need the member can rely on it. */
  usable(): boolean;
}

export interface HealthClock {
  now(): number;
  monotonic(): number;
}

/** Calls `changed` when the state of the member or of its circuit has changed. */
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
  /** Start of the call that tests the member, in monotonic milliseconds. Undefined without such a call. */
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
    // After the state unhealthy, the first success counts as degraded only.
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
      // A test that never ends must not keep the circuit open.
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
