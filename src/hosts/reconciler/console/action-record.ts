// Records the actions of people and machines: in the log, and the last ones for the console, with the run that followed.

import type { AuditEntry } from '#reconciler/control/ports.ts';
import type { RecentAction } from '#reconciler/run/fleet-state/waiting-format.ts';
import { setBounded } from '#std/bounded.ts';
import { systemClock } from '../../clock.ts';

/** Writes one record, whatever the level of the log is. */
export type WriteAudit = (text: string, facts: Readonly<Record<string, string>>) => void;

export interface ActionRecord {
  add(entry: AuditEntry): void;
  /** Connects the actions that wait for a run with the run. */
  began(runId: string): void;
  /** Newest first. */
  recent(): readonly RecentAction[];
}

const RECENT_MAX = 50;

export function createActionRecord(write: WriteAudit): ActionRecord {
  const entries = new Map<number, RecentAction>();
  let next = 0;
  /** Entries from here on have no run yet. */
  let open = 0;
  return {
    add(entry) {
      const { action, by, about, result, code } = entry;
      const facts = { action, by, ...(about && { about }), result, ...(code && { reason: code }) };
      write(`${by}: ${action}${about && ` ${about}`} ${result}`, facts);
      setBounded(entries, next, { at: new Date(systemClock.now()).toISOString(), ...entry }, RECENT_MAX);
      next += 1;
    },
    began(run) {
      for (const [index, entry] of entries) {
        const { action, by, about, result } = entry;
        if (index < open || result !== 'done' || action === 'login' || action === 'logout') continue;
        entries.set(index, { ...entry, run });
        write(`run ${run} follows: ${by}: ${action}${about && ` ${about}`}`, { action, by, run });
      }
      open = next;
    },
    recent: () => [...entries.values()].reverse(),
  };
}
