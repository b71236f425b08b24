// Tells stuck from slow, and ready from not yet: out of what the loop of runs says of itself.

import type { Exchange } from '../run/ports.ts';
import type { Ending, RunWatcher, Vitals } from './ports.ts';

export interface Pulse extends RunWatcher {
  /** The loop is awake while it waits for the next run. */
  beat(): void;
  /** Something that a run waited for has ended, well or not: an exchange with a Git server, a read of a registry source. */
  progressed(): void;
  /** A request to the cluster has ended, well or not. */
  requested(exchange: Pick<Exchange, 'urgent'>): void;
}

export interface VitalsOptions {
  /** Names of all sources. */
  readonly sources: readonly string[];
  /** Milliseconds. */
  readonly monotonic: () => number;
}

/**
 * Every single thing that a run waits for has a time limit of its own, two minutes at most: whoever hears of none of
 * them for so long waits for something that never comes.
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
      // The lease of a run that hangs is kept up for ever.
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

/** Another run of the instance is at work: whoever is locked out stands by, and is as ready as it will be. */
function reasonsOf(ending: Ending, sources: readonly string[]): readonly string[] {
  if ('failure' in ending) {
    const { code, message } = ending.failure;
    return code === 'locked' ? [] : [`${code}: ${message}`];
  }
  const { commits, failures } = ending.result;
  const unread = sources.filter((name) => commits[name] === undefined).map((name) => `source ${name} cannot be read`);
  // It is used as it was read last.
  const stale = unread.length > 0 ? [] : failures.filter(({ code }) => code.startsWith('git-'));
  const unreachable = failures.filter(({ code }) => UNREACHABLE.includes(code));
  return [...unread, ...[...stale, ...unreachable].map(({ message }) => message)];
}

const UNREACHABLE: readonly string[] = ['cluster-unreachable', 'cluster-unauthorized', 'cluster-busy'];
