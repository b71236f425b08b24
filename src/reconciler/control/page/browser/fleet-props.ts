// Declares the properties that the list and the map of the fleet share.

import type { FleetEntry } from '../../../run/fleet-state/format.ts';

export interface FleetProps {
  /** Entries that match the filters. */
  readonly entries: readonly FleetEntry[];
  readonly all: readonly FleetEntry[];
  /** Commit of the last run by name of the source. */
  readonly commits: Readonly<Record<string, string>>;
  readonly now: number;
}
