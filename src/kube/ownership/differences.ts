// What an apply would change, place by place, for people to read. Knows nothing about how it is printed or hidden.

import assert from 'node:assert/strict';
import type { Json } from '../../std/json.ts';
import type { KubeObject } from '../object.ts';
import type { MergeType } from '../openapi.ts';

export interface Difference {
  /** Like a JSON pointer, but items of associative lists by name: `/spec/containers/[name=x]/image`. */
  readonly path: string;
  /** Absent: nothing is there now. */
  readonly before?: Json;
  /** Absent: the apply removes it. */
  readonly after?: Json;
}

/** Only places that `desired` has or that `manager` owned until now; values of Secrets are not hidden here. */
export function differences(
  desired: KubeObject,
  live: KubeObject,
  type: MergeType,
  manager: string,
): readonly Difference[] {
  return assert.fail(`not built yet: ${desired.kind} ${live.kind} ${type.name} ${manager}`);
}
