// Defines the comparison of one desired object with the live one, and the server's decision about the change.

import type { KubeObject } from '#kubernetes/rules/object.ts';
import type { Difference } from '#kubernetes/rules/ownership/differences.ts';
import type { Desired } from '../desire/desire.ts';
import type { FieldOfOther } from './field-states.ts';

export interface Compared {
  /** Desired object without the fields that other managers keep. */
  readonly desired: Desired;
  readonly live?: KubeObject;
  /**
   * `unknown`: only a dry run of the server can decide. `replace`: the change requires deleting the object and creating
   * it again.
   */
  readonly result: 'create' | 'changed' | 'unchanged' | 'unknown' | 'replace';
  readonly diff: readonly Difference[];
  /** Fields that other managers have set to other values. */
  readonly fields?: readonly FieldOfOther[];
  readonly evicted?: Evicted;
  /** Decision of the server about the change, once it was requested. */
  readonly preview?: Preview;
}

/** Items of lists and fields that are removed although this instance has not applied them. */
export interface Evicted {
  /** Field manager that takes the parts over, so that its apply removes them. */
  readonly manager: string;
  /** Paths of the items and fields, as in a field set. */
  readonly parts: readonly (readonly string[])[];
}

/** Decision of the server about a change before the change is made. */
export type Preview =
  | { readonly result: 'accepted' }
  | { readonly result: 'refused'; readonly code: string; readonly message: string }
  /** The server got no request, or did not respond, for this reason. */
  | { readonly result: 'skipped'; readonly reason: string };

/** Returns true if a run has something to write about the object. */
export function isToBeWritten({ result }: Compared): boolean {
  return result !== 'unchanged';
}
