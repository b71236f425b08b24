// What the list and the map of the fleet are given.

import type { FleetEntry } from '../../../run/fleet-state/format.ts';

export interface FleetProps {
  /** Those that match the filters. */
  readonly entries: readonly FleetEntry[];
  readonly all: readonly FleetEntry[];
  readonly now: number;
}
