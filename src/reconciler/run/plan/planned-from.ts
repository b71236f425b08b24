// Defines the input of a plan as types.

import type { OwnDesires } from '../desire/foreign.ts';
import type { PreviewDeps, Previews } from '../diff/preview.ts';
import type { InstanceName, OwnKinds, Permissions, SyncMode } from '../instance.ts';
import type { Observed } from '../observe/observe.ts';
import type { Snapshot } from '../observe/snapshot.ts';
import type { Admission } from '../plan-file/admission.ts';
import type { Clock, Cluster } from '../ports.ts';
import type { LeftAlone } from '../prune/left-alone.ts';
import type { FleetSource, Gathered } from '../read/gather.ts';
import type { Inventory } from '../records/inventory.ts';
import type { Resolved } from '../resolve/resolve.ts';
import type { Reuse } from '../reuse.ts';
import type { Waits } from './waits.ts';

export interface PlanDeps extends PreviewDeps {
  readonly cluster: Cluster;
  readonly clock: Pick<Clock, 'now'>;
  readonly reuse?: Reuse | undefined;
  readonly sources: readonly Pick<FleetSource, 'name' | 'allow' | 'account' | 'dependsOn'>[];
}

export interface PlanOptions extends InstanceName, OwnKinds, Permissions {
  /** If absent, every planned change is allowed. */
  readonly admit?: Admission;
}

export interface PlannedFrom {
  readonly gathered: Gathered;
  readonly snapshot: Snapshot;
  readonly inventory: Inventory;
  readonly parent: Pick<Observed['parent'], 'beforeInventories' | 'origins'>;
  readonly resolved: Resolved;
  readonly desires: OwnDesires;
  /** Objects that must be left alone, by key. */
  readonly leftAlone: ReadonlyMap<string, LeftAlone>;
  /** `sync`: the run carries the plan out. `read`: the plan is only shown. */
  readonly mode: SyncMode;
  /** Sources that wait according to an earlier plan of the same state. Absent or empty if there was no such plan. */
  readonly waits?: Waits;
  /** Dry runs that this run has sent for an earlier plan. */
  readonly previews?: Previews | undefined;
}
