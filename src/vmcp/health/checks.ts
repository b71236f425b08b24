// Asks members again and again how they are. Knows nothing about what follows from it.

import type { Catalogue } from '../catalogue/catalogue.ts';
import type { Member, Members } from '../members/member.ts';

export interface CheckParts {
  readonly members: Members;
  readonly catalogue: Pick<Catalogue, 'check'>;
  readonly intervalMs: number;
  readonly timeoutMs: number;
  readonly clock: { monotonic(): number; after(ms: number, task: () => void): () => void };
}

export interface Checks {
  /** How each member is was once known: it has answered, or has failed often enough to be called unhealthy. */
  complete(): boolean;
  /** Members are others: new ones are asked at once. */
  renew(): void;
  stop(): void;
}

/** An answer that took longer is said to be degraded. */
const SLOW_MS = 5000;
/** One that has never answered is perhaps only starting, as whole fleets do. */
const STARTING_MS = 5000;

export function watchMembers(parts: CheckParts): Checks {
  const { members, clock, intervalMs } = parts;
  const answered = new Set<string>();
  const timers = new Map<string, () => void>();
  let completed = false;
  let stopped = false;

  async function check(member: Member): Promise<void> {
    timers.delete(member.name);
    // One whose circuit is open is left alone until that is over.
    if (member.health.admit()) await ask(parts, member);
    if (['healthy', 'degraded'].includes(member.health.report().state)) answered.add(member.name);
    if (stopped || members.find(member.name) !== member) return;
    timers.set(
      member.name,
      clock.after(answered.has(member.name) ? intervalMs : Math.min(intervalMs, STARTING_MS), () => void check(member)),
    );
  }

  function renew(): void {
    for (const [name, stop] of timers) {
      if (members.find(name) !== undefined) continue;
      stop();
      timers.delete(name);
      answered.delete(name);
    }
    for (const member of members.all()) if (!timers.has(member.name)) void check(member);
  }

  renew();
  return {
    complete() {
      // For good: a member that joins later must not take the others away from their clients.
      completed ||= members.all().every(({ health }) => health.report().state !== 'unknown' || !health.usable());
      return completed;
    },
    renew,
    stop() {
      stopped = true;
      for (const stop of timers.values()) stop();
    },
  };
}

/** Where everybody gets the same lists, they are what is asked for; otherwise only whether it is there. */
async function ask({ catalogue, clock, timeoutMs }: CheckParts, member: Member): Promise<void> {
  const began = clock.monotonic();
  if (!member.perCaller) {
    const { fault } = await catalogue.check(member, timeoutMs);
    const slow = clock.monotonic() - began > SLOW_MS;
    member.health.observe({ ok: fault === undefined, slow, message: fault?.detail ?? fault?.message });
    return;
  }
  const late = new Promise<undefined>((resolve) => clock.after(timeoutMs, () => resolve(undefined)));
  const probe = await Promise.race([member.backend.probe(), late]);
  const slow = (probe?.responseTimeMs ?? 0) > SLOW_MS;
  member.health.observe({ ok: probe?.available === true, slow, message: probe?.error ?? 'it did not answer in time' });
}
