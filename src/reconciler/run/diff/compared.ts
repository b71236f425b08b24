// Defines the comparison of a desired object with the live object, and the result of the dry run.

import type { KubeObject } from '#kubernetes/rules/object.ts';
import type { Difference } from '#kubernetes/rules/ownership/differences.ts';
import type { Desired } from '../desire/desire.ts';
import type { FieldOfOther } from './field-states.ts';

export interface Compared {
  /** Desired object without the fields that other managers keep. */
  readonly desired: Desired;
  readonly live?: KubeObject;
  /** `unknown`: only a dry run can show the result. `replace`: the object must be deleted and created again. */
  readonly result: 'create' | 'changed' | 'unchanged' | 'unknown' | 'replace';
  readonly diff: readonly Difference[];
  /** Fields that other managers have set to values other than the declared ones. */
  readonly fields?: readonly FieldOfOther[];
  readonly evicted?: Evicted;
  /** Result of the dry run; absent before the dry run. */
  readonly preview?: Preview;
}

/** Items and fields that an apply removes although this instance has not applied them. */
export interface Evicted {
  /** Field manager that first becomes owner of the parts. The next apply of this manager then removes the parts. */
  readonly manager: string;
  /** Paths of the parts, in the form of managedFields. */
  readonly parts: readonly (readonly string[])[];
}

export type Preview =
  | { readonly result: 'accepted' }
  | { readonly result: 'refused'; readonly code: string; readonly message: string }
  /** No dry run was sent, or the response was not usable. `reason` says why. */
  | { readonly result: 'skipped'; readonly reason: string };

/** Returns true if a run has to write the object. */
export function isToBeWritten({ result }: Compared): boolean {
  return result !== 'unchanged';
}
