// Who an instance is and what it may, as types: stages take the parts that they need.

import type { PolicySet } from '#kubernetes/rules/policy/read.ts';
import type { Kind, Settings } from '../kinds/kind.ts';
import type { ImagePolicy } from './images/policy.ts';

/** Who it is: its field manager, its Lease and its ApplySet parent follow. */
export interface InstanceName {
  readonly instance: string;
  /** Where the instance's Lease and ApplySet parent live. */
  readonly homeNamespace: string;
}

/** The kinds that it knows, and the group that they are of. */
export interface OwnKinds {
  readonly kinds: readonly Kind[];
  readonly apiGroup: string;
}

export interface GuardLimits {
  /** Deletions of one run and source; children that go with their owner are not counted. */
  readonly maxDeletes: number;
  /** Share of what the source has, and of each kind of it; counts from the second deletion on. */
  readonly maxDeletesPercent: number;
}

/** What it may. */
export interface Permissions {
  /** Names, or globs such as `team-*`. */
  readonly namespaces: readonly string[];
  /** `cluster`: custom resources that others applied by hand get children and status, too. Absent: `git`. */
  readonly scope?: 'git' | 'cluster';
  /** False: another operator makes the children of the custom resources, and writes their status. */
  readonly children: boolean;
  readonly prune: boolean;
  readonly limits: GuardLimits;
  readonly conflicts: 'report' | 'force';
}

/** What it makes of them. */
export interface Rendering {
  readonly settings: Omit<Settings, 'digest'>;
  /** Of files of the instance's own; absent: none. */
  readonly policies?: PolicySet;
  /** Absent: images are not verified. */
  readonly verify?: ImagePolicy | undefined;
}

export interface InstanceOptions extends InstanceName, OwnKinds, Permissions, Rendering {
  /** How long to wait for readiness after a change; 0 looks once. */
  readonly waitSeconds: number;
  /** `name/version`. */
  readonly tooling: string;
}

/** `read`: nothing is fetched and nothing stored; what earlier runs stored is reported. */
export type SyncMode = 'sync' | 'read';
