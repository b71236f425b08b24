// Decides whether changes may be made at a moment. Windows are cron expressions that open or close for some hours.

import type { Paused } from '#reconciler/run/result.ts';
import type { Window } from '../../config/windows.ts';
import { type Cron, readCron } from './cron.ts';

interface Closed {
  /** The window that forbids changes, or a description of all windows that would allow them. */
  readonly window: string;
  /** Milliseconds since 1970; absent if the end is too far away to compute. */
  readonly until?: number;
}

export interface SyncWindows {
  /** Returns undefined if changes may be made. */
  closed(at: number): Closed | undefined;
}

interface Opened {
  readonly cron: Cron;
  readonly hoursMs: number;
  readonly shown: string;
}

const HOUR_MS = 3_600_000;
/** Bound of the search for the end of a window, because windows may follow one another without a gap. */
const STEPS_MAX = 64;

/** Throws Failure `config-invalid` if an expression is not a cron expression. */
export function openWindows(windows: readonly Window[]): SyncWindows {
  const allows = windows.flatMap((each) => (each.allow === undefined ? [] : [opened(each, 'allow', each.allow)]));
  const denies = windows.flatMap((each) => (each.deny === undefined ? [] : [opened(each, 'deny', each.deny)]));

  function closedBy(at: number): string | undefined {
    const deny = denies.find((each) => isActive(each, at));
    if (deny !== undefined) return deny.shown;
    if (allows.length === 0 || allows.some((each) => isActive(each, at))) return undefined;
    return `outside of ${allows.map(({ shown }) => shown).join(', ')}`;
  }

  /** Looks only at the begins and ends of windows, because the state changes only there. */
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

/** Returns whether the window began less than its hours ago. */
function isActive({ cron, hoursMs }: Opened, at: number): boolean {
  return cron.next(at - hoursMs) <= at;
}

/** Returns the next begin, or the end of the earliest window that is still open, whichever comes first. */
function nextEdge({ cron, hoursMs }: Opened, after: number): number {
  return Math.min(cron.next(after), cron.next(after - hoursMs) + hoursMs);
}

/** Returns the option of a run that pauses it, if a window is closed. */
export function pausedBy(windows: SyncWindows, at: number): { readonly paused?: Paused } {
  const closed = windows.closed(at);
  if (closed === undefined) return {};
  const { window, until } = closed;
  return {
    paused: { by: 'window', window, until: until === undefined ? undefined : new Date(until).toISOString() },
  };
}
