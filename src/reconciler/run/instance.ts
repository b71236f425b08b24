// Defines the identity and the permissions of an instance. Each stage of a run declares which of these types it needs.

import type { PolicySet } from '#kubernetes/rules/policy/read.ts';
import type { Kind, KindSettings } from '../kinds/kind.ts';
import type { ImagePolicy } from './images/policy.ts';

/**
 * Identity of an instance. The names of the field manager, the Lease and the ApplySet parent are derived from this
 * identity.
 */
export interface InstanceName {
  readonly instance: string;
  /** Namespace of the instance's Lease and ApplySet parent. */
  readonly homeNamespace: string;
}

/** Kinds of skep, and their API group. */
export interface OwnKinds {
  readonly kinds: readonly Kind[];
  readonly apiGroup: string;
}

export interface GuardLimits {
  /** Maximum number of deletions per run and source. Children that are deleted with their owner are not counted. */
  readonly maxDeletes: number;
  /**
   * Maximum share of deletions in percent, among all objects of the source and among its objects of each kind. Applies
   * from the second deletion on.
   */
  readonly maxDeletesPercent: number;
}

export interface Permissions {
  /** Names of namespaces, or globs such as `team-*`. */
  readonly namespaces: readonly string[];
  /**
   * `cluster`: custom resources that other people applied by hand also get children and a status. `git` (the default):
   * only declared custom resources.
   */
  readonly scope?: 'git' | 'cluster';
  /** If false, another operator creates the children and writes the statuses of the custom resources. */
  readonly children: boolean;
  readonly prune: boolean;
  readonly limits: GuardLimits;
  readonly conflicts: 'report' | 'force';
}

/** Settings that change the objects an instance creates. */
export interface Rendering {
  readonly settings: Omit<KindSettings, 'digest'>;
  readonly policies?: PolicySet;
  /** If absent, signatures of images are not verified. */
  readonly verify?: ImagePolicy | undefined;
}

export interface InstanceOptions extends InstanceName, OwnKinds, Permissions, Rendering {
  /** Seconds to wait for readiness after a change. If 0, the run reads the readiness once. */
  readonly waitSeconds: number;
  /** Name and version of skep, for the ApplySet parent: `name/version`. */
  readonly tooling: string;
}

/** `read`: the run syncs no registries and reports the results of earlier runs. */
export type SyncMode = 'sync' | 'read';
