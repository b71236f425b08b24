// What a plan is made of, as types.

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
  /** Absent: nothing of earlier runs is used again. */
  readonly reuse?: Reuse | undefined;
  readonly sources: readonly Pick<FleetSource, 'name' | 'allow' | 'account' | 'dependsOn'>[];
}

export interface PlanOptions extends InstanceName, OwnKinds, Permissions {
  /** Absent: whatever is planned is done. */
  readonly admit?: Admission;
}

export interface PlannedFrom {
  readonly gathered: Gathered;
  readonly snapshot: Snapshot;
  readonly inventory: Inventory;
  readonly parent: Pick<Observed['parent'], 'beforeInventories' | 'origins'>;
  readonly resolved: Resolved;
  readonly desires: OwnDesires;
  /** By key. */
  readonly leftAlone: ReadonlyMap<string, LeftAlone>;
  /** `sync`: it is carried out. */
  readonly mode: SyncMode;
  /** Sources that are known to wait already; absent: none. */
  readonly waits?: Waits;
  /** What this very run has asked before. */
  readonly previews?: Previews | undefined;
}
