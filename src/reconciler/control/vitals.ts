// Distinguishes a stuck program from a slow program, and a ready program from one that is not ready, by the reports of
// the loop of runs.

import type { Exchange } from '../run/ports.ts';
import type { Ending, RunWatcher, Vitals } from './ports.ts';

export interface Pulse extends RunWatcher {
  /** Notes that the loop is waiting for the next run. The loop calls it regularly. */
  beat(): void;
  /** Notes that an exchange with a Git server or a read of a registry source has ended, successfully or not. */
  progressed(): void;
  /** Notes that a request to the cluster has ended, successfully or not. */
  requested(exchange: Pick<Exchange, 'urgent'>): void;
}

export interface VitalsOptions {
  /** Names of all sources. */
  readonly sources: readonly string[];
  /** Returns milliseconds. */
  readonly monotonic: () => number;
}

/**
 * Every request of a run has a time limit of its own, two minutes at most. If no request has ended for this long, the
 * run waits for something that never comes.
 */
export const STUCK_AFTER_MS = 5 * 60_000;

export function createVitals({ sources, monotonic }: VitalsOptions): Vitals & Pulse {
  let heardAt = monotonic();
  let last: Ending | undefined;

  function hear(): void {
    heardAt = monotonic();
  }

  return {
    beat: hear,
    began: hear,
    progressed: hear,
    requested({ urgent }) {
      // Urgent requests renew the lease, which a run that hangs does for ever.
      if (!urgent) hear();
    },
    ended(ending) {
      last = ending;
    },
    stuck() {
      const silentMs = monotonic() - heardAt;
      if (silentMs <= STUCK_AFTER_MS) return undefined;
      return `no run has begun, and no request of a run has ended, for ${Math.floor(silentMs / 1000)} s`;
    },
    unready: () => (last === undefined ? ['no run has ended yet'] : reasonsOf(last, sources)),
  };
}

/**
 * Returns the reasons why the program is not ready. Returns none if another run of the instance is at work: a process
 * that is locked out stands by, and counts as ready.
 */
function reasonsOf(ending: Ending, sources: readonly string[]): readonly string[] {
  if ('failure' in ending) {
    const { code, message } = ending.failure;
    return code === 'locked' ? [] : [`${code}: ${message}`];
  }
  const { commits, failures } = ending.result;
  const unread = sources.filter((name) => commits[name] === undefined).map((name) => `source ${name} cannot be read`);
  // A source that Git cannot serve is used as it was read last.
  const stale = unread.length > 0 ? [] : failures.filter(({ code }) => code.startsWith('git-'));
  const unreachable = failures.filter(({ code }) => UNREACHABLE.includes(code));
  return [...unread, ...[...stale, ...unreachable].map(({ message }) => message)];
}

const UNREACHABLE: readonly string[] = ['cluster-unreachable', 'cluster-unauthorized', 'cluster-busy'];
