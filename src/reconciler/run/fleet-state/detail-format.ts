// One resource as the console shows it: what was read of it from the cluster.

import type { Json } from '#std/json.ts';

interface FieldDifference {
  /** Like a JSON pointer, but items of associative lists by name. */
  readonly path: string;
  /** In the cluster; absent: nothing is there. */
  readonly before?: Json;
  /** In Git; absent: an apply removes it. */
  readonly after?: Json;
}

export interface DetailedPod {
  readonly name: string;
  readonly ready: boolean;
  readonly phase: string;
  readonly restarts: number;
  /** Why it is not ready; empty if it is, or if nothing says so. */
  readonly why: string;
}

export interface DetailedObject {
  readonly id: string;
  /** `missing`: it is not in the cluster. */
  readonly state: 'ready' | 'not-ready' | 'missing';
  readonly why: string;
  /** Values of Secrets are masked. */
  readonly differences: readonly FieldDifference[];
  /** Fields that other managers have set, and how that counts. */
  readonly fields: readonly { readonly path: string; readonly manager: string; readonly state: string }[];
  /** Only a dry run could tell whether it differs. */
  readonly uncertain?: true;
  readonly pods?: readonly DetailedPod[];
}

export interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  readonly since: string;
}

export interface LiveDetail {
  readonly conditions: readonly Condition[];
  readonly objects: readonly DetailedObject[];
  /** How many further objects were not read. */
  readonly omitted: number;
}
