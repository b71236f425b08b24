// Distinguishes a stuck program from a slow one, and a ready one from one that is not ready yet, by the reports of the
// loop of runs.

import type { Exchange } from '../run/ports.ts';
import type { Ending, RunWatcher, Vitals } from './ports.ts';

export interface Pulse extends RunWatcher {
  /** Called regularly while the loop waits for the next run. */
  beat(): void;
  /**
   * Called when something that a run waited for has ended, well or not: an exchange with a Git server, a read of a
   * registry source.
   */
  progressed(): void;
  /** Called when a request to the cluster has ended, well or not. */
  requested(exchange: Pick<Exchange, 'urgent'>): void;
}

export interface VitalsOptions {
  /** Names of all sources. */
  readonly sources: readonly string[];
  /** Milliseconds. */
  readonly monotonic: () => number;
}

/**
 * Every single thing that a run waits for has a time limit of its own, two minutes at most. If none has ended for this
 * long, the run waits for something that never comes.
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
      // The lease of a run that hangs is renewed for ever.
      if (!urgent) hear();
    },
    ended(ending) {
      last = ending;
    },
    stuck() {
      const silentMs = monotonic() - heardAt;
      if (silentMs <= STUCK_AFTER_MS) return undefined;
      return `no run has begun, and nothing of one has ended, for ${Math.floor(silentMs / 1000)} s`;
    },
    unready: () => (last === undefined ? ['no run has ended yet'] : reasonsOf(last, sources)),
  };
}

/**
 * Returns no reasons if another run of the instance is at work: a process that is locked out stands by, and is as ready
 * as it will be.
 */
function reasonsOf(ending: Ending, sources: readonly string[]): readonly string[] {
  if ('failure' in ending) {
    const { code, message } = ending.failure;
    return code === 'locked' ? [] : [`${code}: ${message}`];
  }
  const { commits, failures } = ending.result;
  const unread = sources.filter((name) => commits[name] === undefined).map((name) => `source ${name} cannot be read`);
  // The source is used as it was read last.
  const stale = unread.length > 0 ? [] : failures.filter(({ code }) => code.startsWith('git-'));
  const unreachable = failures.filter(({ code }) => UNREACHABLE.includes(code));
  return [...unread, ...[...stale, ...unreachable].map(({ message }) => message)];
}

const UNREACHABLE: readonly string[] = ['cluster-unreachable', 'cluster-unauthorized', 'cluster-busy'];
