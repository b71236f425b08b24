// Orders entries of the fleet by state.

import { STATE_NAMES } from '#std/page/shared/kit/states.ts';
import type { EntryState, FleetEntry } from '../../../run/fleet-state/format.ts';

const RANKS: ReadonlyMap<EntryState, number> = new Map(STATE_NAMES.map((name, index) => [name, index]));

/** Orders entries by state, worst first. Entries with the same state keep their order. */
export function worstFirst(entries: readonly FleetEntry[]): readonly FleetEntry[] {
  return entries.toSorted((a, b) => (RANKS.get(a.state) ?? 0) - (RANKS.get(b.state) ?? 0));
}

/** States that need a person. */
export const TROUBLES: ReadonlySet<EntryState> = new Set(['failed', 'drifted', 'kept', 'degraded', 'unknown']);

export function attentionText(count: number): string {
  return count === 1 ? '1 needs attention' : `${count} need attention`;
}
