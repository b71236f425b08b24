// Defines the identity and the permissions of an instance as types. Each stage accepts the types that it needs.

import type { PolicySet } from '#kubernetes/rules/policy/read.ts';
import type { Kind, Settings } from '../kinds/kind.ts';
import type { ImagePolicy } from './images/policy.ts';

/** Identity of an instance. Its field manager, its Lease and its ApplySet parent are derived from it. */
export interface InstanceName {
  readonly instance: string;
  /** Namespace of the instance's Lease and ApplySet parent. */
  readonly homeNamespace: string;
}

/** Kinds that the instance knows, and their API group. */
export interface OwnKinds {
  readonly kinds: readonly Kind[];
  readonly apiGroup: string;
}

export interface GuardLimits {
  /** Maximum number of deletions per run and source. Children that are deleted with their owner do not count. */
  readonly maxDeletes: number;
  /**
   * Maximum share of the objects of the source, and of each of its kinds. This limit applies from the second deletion
   * on.
   */
  readonly maxDeletesPercent: number;
}

/** Permissions of an instance. */
export interface Permissions {
  /** Names, or globs such as `team-*`. */
  readonly namespaces: readonly string[];
  /** `cluster`: custom resources that other people applied by hand get children and status, too. Default: `git`. */
  readonly scope?: 'git' | 'cluster';
  /** If false, another operator creates the children of the custom resources and writes their status. */
  readonly children: boolean;
  readonly prune: boolean;
  readonly limits: GuardLimits;
  readonly conflicts: 'report' | 'force';
}

/** Settings by which an instance creates objects. */
export interface Rendering {
  readonly settings: Omit<Settings, 'digest'>;
  /** Policies from files of the instance; absent if the instance has no policies. */
  readonly policies?: PolicySet;
  /** If absent, images are not verified. */
  readonly verify?: ImagePolicy | undefined;
}

export interface InstanceOptions extends InstanceName, OwnKinds, Permissions, Rendering {
  /** Seconds to wait for readiness after a change; if 0, the run reads the readiness once. */
  readonly waitSeconds: number;
  /** `name/version`. */
  readonly tooling: string;
}

/** `read`: the run fetches and stores nothing, and reports the results of earlier runs. */
export type SyncMode = 'sync' | 'read';
