// One desired object beside the live one: how the two compare, and what the server says about the change. Data only.

import type { KubeObject } from '#kubernetes/rules/object.ts';
import type { Difference } from '#kubernetes/rules/ownership/differences.ts';
import type { Desired } from '../desire/desire.ts';
import type { FieldOfOther } from './field-states.ts';

export interface Compared {
  /** Without the fields that stay as others have set them. */
  readonly desired: Desired;
  readonly live?: KubeObject;
  /** `unknown`: only the server can tell, by a dry run. `replace`: only deleting and creating anew can change it. */
  readonly verdict: 'create' | 'changed' | 'unchanged' | 'unknown' | 'replace';
  readonly diff: readonly Difference[];
  /** Fields that other managers have set to other values. */
  readonly fields?: readonly FieldOfOther[];
  readonly evicted?: Evicted;
  /** What the server says about the change, once it was asked. */
  readonly preview?: Preview;
}

/** Items of lists and fields that are removed although no one here has applied them. */
export interface Evicted {
  /** The field manager that they become, so that its apply removes them. */
  readonly manager: string;
  /** As in a field set. */
  readonly parts: readonly (readonly string[])[];
}

/** What the server says about a change before it is made. */
export type Preview =
  | { readonly verdict: 'accepted' }
  | { readonly verdict: 'refused'; readonly code: string; readonly message: string }
  /** It was not asked, or had no answer; why. */
  | { readonly verdict: 'skipped'; readonly reason: string };

/** Whether a run has something to write about the object. */
export function isToBeWritten({ verdict }: Compared): boolean {
  return verdict !== 'unchanged';
}
