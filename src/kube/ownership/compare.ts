// Whether applying a desired object again would change the living one, told from the two objects alone.
// Knows nothing about clusters: what only the server can tell is answered `unknown`.

import assert from 'node:assert/strict';
import type { KubeObject } from '../object.ts';
import type { MergeType } from '../openapi.ts';

/**
 * `unchanged`: the apply would change neither the object nor what we own. `changed`: it would, or the server refuses it.
 * `unknown`: only a dry run can tell.
 */
export type Verdict = 'unchanged' | 'changed' | 'unknown';

export interface Comparison {
  readonly verdict: Verdict;
  /** The first place that decided, as in `differences`; the empty string is the object itself. Absent for `unchanged`. */
  readonly path?: string;
  /** One short phrase: why. Never holds a value. Absent for `unchanged`. */
  readonly reason?: string;
}

/**
 * `desired` as it would be sent (best normalised), `live` as listed in the same apiVersion, `manager` the field manager
 * that applies with force.
 */
export function compare(
  desired: KubeObject,
  live: KubeObject,
  type: MergeType | undefined,
  manager: string,
): Comparison {
  return assert.fail(`not built yet: ${desired.kind} ${live.kind} ${type?.name} ${manager}`);
}
