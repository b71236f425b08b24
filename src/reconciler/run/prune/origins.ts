// Checks that an instance still reads at least one source that it has read before. Two instances with the same name and
// home namespace would each delete the declared objects of the other instance.

import { digest } from '#std/hash.ts';
import { jsonEquals } from '#std/json.ts';
import type { DeletionList } from './guard.ts';

/** Origins of the sources, sorted: as the ApplySet parent names them, and as configured now. */
export interface Origins {
  /** Empty if the ApplySet parent does not name any origin yet. */
  readonly before: readonly string[];
  readonly now: readonly string[];
}

/**
 * Returns a list that waits for approval if the instance has read only other sources before. Without the approval, the
 * run writes nothing.
 */
export function otherSources({ before, now }: Origins): DeletionList | undefined {
  if (before.length === 0 || now.length === 0 || now.some((origin) => before.includes(origin))) return undefined;
  const reason = `this instance has read ${before.join(', ')}, and none of that is a source now (${now.join(', ')}): is it another instance of the same name?`;
  return { source: '', hash: digest(['sources', before, now]).slice(0, 16), reasons: [reason], deletions: [] };
}

/** Returns true if the list of `otherSources` waits. It is the only list without deletions. */
export function isOfOthers(waiting: readonly DeletionList[]): boolean {
  return waiting.some(({ deletions }) => deletions.length === 0);
}

export function sameOrigins({ before, now }: Origins): boolean {
  return now.length === 0 || jsonEquals(before, now);
}
