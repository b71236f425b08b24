// Decides from sync windows whether changes are allowed at a time. A window is a cron expression that allows or denies
// changes for some hours.

import type { Paused } from '#reconciler/run/result.ts';
import type { Window } from '../../config/windows.ts';
import { type Cron, readCron } from './cron.ts';

interface Closed {
  /** Text of the active deny window, or of all allow windows if none of them is active. */
  readonly window: string;
  /** End in milliseconds since 1970. Not set if the end is not found. */
  readonly until?: number;
}

export interface SyncWindows {
  /** Returns undefined if changes are allowed. */
  closed(at: number): Closed | undefined;
}

interface Opened {
  readonly cron: Cron;
  readonly hoursMs: number;
  readonly shown: string;
}

const HOUR_MS = 3_600_000;
/** Maximum number of steps in the search for the end, because windows may follow one another without a gap. */
const STEPS_MAX = 64;

/** Throws Failure `config-invalid` if an expression is invalid. */
export function openWindows(windows: readonly Window[]): SyncWindows {
  const allows = windows.flatMap((each) => (each.allow === undefined ? [] : [opened(each, 'allow', each.allow)]));
  const denies = windows.flatMap((each) => (each.deny === undefined ? [] : [opened(each, 'deny', each.deny)]));

  function closedBy(at: number): string | undefined {
    const deny = denies.find((each) => isActive(each, at));
    if (deny !== undefined) return deny.shown;
    if (allows.length === 0 || allows.some((each) => isActive(each, at))) return undefined;
    return `outside of ${allows.map(({ shown }) => shown).join(', ')}`;
  }

  /** Returns the next time at which changes are allowed. Checks only begins and ends of windows. */
  function opensAt(closedAt: number): number | undefined {
    let at = closedAt;
    for (let step = 0; step < STEPS_MAX; step += 1) {
      const after = at;
      at = Math.min(...[...allows, ...denies].map((each) => nextEdge(each, after)));
      if (closedBy(at) === undefined) return at;
    }
    return undefined;
  }

  return {
    closed(at) {
      const window = closedBy(at);
      if (window === undefined) return undefined;
      const until = opensAt(at);
      return { window, until };
    },
  };
}

function opened({ hours, timeZone }: Window, verb: string, expression: string): Opened {
  const cron = readCron(expression, timeZone);
  return { cron, hoursMs: hours * HOUR_MS, shown: `${verb} "${expression}" for ${hours} h (${timeZone})` };
}

/** Returns whether the window began less than `hoursMs` ago. */
function isActive({ cron, hoursMs }: Opened, at: number): boolean {
  return cron.next(at - hoursMs) <= at;
}

/** Returns the earlier of the window's next begin and its next end. */
function nextEdge({ cron, hoursMs }: Opened, after: number): number {
  return Math.min(cron.next(after), cron.next(after - hoursMs) + hoursMs);
}

/** Returns the run's option `paused`, if changes are not allowed. */
export function pausedBy(windows: SyncWindows, at: number): { readonly paused?: Paused } {
  const closed = windows.closed(at);
  if (closed === undefined) return {};
  const { window, until } = closed;
  return {
    paused: { by: 'window', window, until: until === undefined ? undefined : new Date(until).toISOString() },
  };
}
