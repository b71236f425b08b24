// Whether the sources of an instance are those that it has read before: two instances of one name and home would each delete
// what the other declares.

import { digest } from '#std/hash.ts';
import { jsonEquals } from '#std/json.ts';
import type { DeletionList } from './guard.ts';

/** Sorted. */
export interface Origins {
  /** None: the instance has not written yet. */
  readonly before: readonly string[];
  readonly now: readonly string[];
}

/** What waits for approval where none of the sources is known: nothing at all is written until then. */
export function otherSources({ before, now }: Origins): DeletionList | undefined {
  if (before.length === 0 || now.length === 0 || now.some((origin) => before.includes(origin))) return undefined;
  const reason = `this instance has read ${before.join(', ')}, and none of that is a source now (${now.join(', ')}): is it another instance of the same name?`;
  return { source: '', hash: digest(['sources', before, now]).slice(0, 16), reasons: [reason], deletions: [] };
}

/** Whether that is what waits. */
export function isOfOthers(waiting: readonly DeletionList[]): boolean {
  return waiting.some(({ deletions }) => deletions.length === 0);
}

export function sameOrigins({ before, now }: Origins): boolean {
  return now.length === 0 || jsonEquals(before, now);
}
