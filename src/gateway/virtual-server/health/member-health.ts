// Tracks the health of one member by checks and calls, and blocks calls while its circuit is open.

export interface HealthSettings {
  /** Number of successive failures after which a member is unhealthy. */
  readonly unhealthyThreshold: number;
  /** If absent, no call is ever blocked. */
  readonly breaker?: { readonly failureThreshold: number; readonly openMs: number };
}

export type MemberState = 'unknown' | 'healthy' | 'degraded' | 'unhealthy';
type CircuitState = 'closed' | 'open' | 'half-open';

export interface HealthReport {
  readonly state: MemberState;
  readonly consecutiveFailures: number;
  /** Milliseconds since 1970 of the last check or call. undefined before the first check. */
  readonly checkedAt?: number;
  /** Why the last check or call failed. Empty after a success. */
  readonly message: string;
  readonly changedAt?: number;
  /** undefined if the circuit breaker is off. */
  readonly circuit?: { readonly state: CircuitState; readonly changedAt?: number };
}

export interface MemberHealth {
  report(): HealthReport;
  /** Counts the result of a check or call. `slow` is true if the response time was above the limit. */
  observe(result: { readonly ok: boolean; readonly slow?: boolean; readonly message?: string }): void;
  /**
   * Admits a call. The caller calls the returned function at the end of the call. Returns undefined if the call must
   * fail at once. While the circuit is half open, one call at a time tests the member.
   */
  admit(): (() => void) | undefined;
  /** Returns whether lists and workflows may rely on the member: it is not unhealthy, and its circuit is not open. */
  usable(): boolean;
}

export interface HealthClock {
  now(): number;
  monotonic(): number;
}

/** Calls `changed` when the state of the member or of its circuit changes. */
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
  /** Call that tests the member. `begunAt` is in monotonic milliseconds. */
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
    // The first success of an unhealthy member makes it degraded, not yet healthy.
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
      // A test that never ends must not keep the circuit open forever.
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
