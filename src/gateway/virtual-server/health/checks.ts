// Checks the health of members repeatedly.

import type { Catalogue } from '../catalogue/catalogue.ts';
import type { Member, Members } from '../members/member.ts';
import { answeredAs, EFFECTS } from './outcomes.ts';

export interface CheckParts {
  readonly members: Members;
  readonly catalogue: Pick<Catalogue, 'check'>;
  readonly times: () => { readonly intervalMs: number; readonly timeoutMs: number };
  readonly clock: { monotonic(): number; after(ms: number, task: () => void): () => void };
}

export interface Checks {
  /** Returns true once each member has answered or is unhealthy. Stays true afterwards. */
  complete(): boolean;
  /** Checks new members at once, and stops the checks of removed members. */
  renew(): void;
  stop(): void;
}

/** Response time above which a member is degraded. */
const SLOW_MS = 5000;
/** Interval of checks until a member has answered, because the member may still be starting. */
const STARTING_MS = 5000;

export function watchMembers(parts: CheckParts): Checks {
  const { members, clock, times } = parts;
  const answered = new WeakSet<Member>();
  /** Members whose lists were read. */
  const read = new WeakSet<Member>();
  /** Functions that cancel the next check of a member. A member with a new configuration is a new object. */
  const watched = new Map<Member, () => void>();
  let completed = false;

  async function check(member: Member): Promise<void> {
    // An open circuit permits no check.
    if (member.health.admit() !== undefined) await ask(parts, member, read);
    if (['healthy', 'degraded'].includes(member.health.report().state)) answered.add(member);
    if (!watched.has(member)) return;
    const { intervalMs } = times();
    const pauseMs = answered.has(member) ? intervalMs : Math.min(intervalMs, STARTING_MS);
    watched.set(
      member,
      clock.after(pauseMs, () => void check(member)),
    );
  }

  function keep(those: ReadonlySet<Member>): void {
    for (const [member, stop] of watched) {
      if (those.has(member)) continue;
      stop();
      watched.delete(member);
    }
  }

  function renew(): void {
    const all = new Set(members.all());
    keep(all);
    for (const member of all) {
      if (watched.has(member)) continue;
      watched.set(member, () => undefined);
      void check(member);
    }
  }

  renew();
  return {
    complete() {
      // Stays true: a member that joins later must not make the whole virtual server unready.
      completed ||= members.all().every(({ health }) => health.report().state !== 'unknown' || !health.usable());
      return completed;
    },
    renew,
    stop: () => keep(new Set()),
  };
}

/**
 * Reads the member's lists if all callers get the same lists. Reads the lists of a member that may sleep only until one
 * reading has succeeded. In all other cases only probes the member, because a probe does not start a sleeping member.
 */
async function ask({ catalogue, clock, times }: CheckParts, member: Member, read: WeakSet<Member>): Promise<void> {
  const { timeoutMs } = times();
  const began = clock.monotonic();
  if (!member.perCaller && (member.sleeps === undefined || !read.has(member))) {
    const { fault } = await catalogue.check(member, timeoutMs);
    const slow = clock.monotonic() - began > SLOW_MS;
    const ok = EFFECTS.check[answeredAs(fault, undefined)] === 'success';
    if (ok) read.add(member);
    member.health.observe({ ok, slow, message: fault?.detail ?? fault?.message });
    return;
  }
  const late = new Promise<undefined>((resolve) => clock.after(timeoutMs, () => resolve(undefined)));
  const probe = await Promise.race([member.backend.probe(), late]);
  const slow = (probe?.responseTimeMs ?? 0) > SLOW_MS;
  member.health.observe({ ok: probe?.available === true, slow, message: probe?.error ?? 'it did not answer in time' });
}
