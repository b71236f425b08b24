// Keeps a run from deleting more than was meant: a limit by count and one by share of each kind.
// Knows nothing about why an object would be deleted.

import { digest } from '../../std/hash.ts';

export interface GuardLimits {
  /** Deletions of one run, all kinds together; children that go with their owner are not counted. */
  readonly maxDeletes: number;
  /** Share of the living objects of a kind; counts from the second deletion of that kind on. */
  readonly maxDeletesPercent: number;
}

export interface Deletion {
  readonly id: string;
  readonly kind: string;
  readonly uid: string;
  /** True for a child whose owner is deleted too: it goes with it, and is not counted by itself. */
  readonly follows: boolean;
  /** It is created anew: who lets it go has not said that it may stay away. */
  readonly replaced?: true;
}

export interface Guarded {
  /** Names exactly this list of deletions. */
  readonly hash: string;
  /** One sentence per limit that is exceeded, with the numbers. */
  readonly reasons: readonly string[];
  readonly deletions: readonly Omit<Deletion, 'follows'>[];
  /** When its approval ran out, where it had one (RFC 3339). */
  readonly expiredAt?: string;
}

/** Undefined where the deletions are within the limits. `owned`: living objects of our set, by kind. */
export function guard(
  deletions: readonly Deletion[],
  owned: ReadonlyMap<string, number>,
  limits: GuardLimits,
): Guarded | undefined {
  const reasons: string[] = [];
  const counted = deletions.filter(({ follows }) => !follows);
  if (counted.length > limits.maxDeletes) {
    reasons.push(`${counted.length} deletions, and apply.maxDeletes is ${limits.maxDeletes}`);
  }
  for (const [kind, count] of [...countBy(counted)].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const total = owned.get(kind) ?? count;
    if (count < 2 || count * 100 <= total * limits.maxDeletesPercent) continue;
    reasons.push(`${count} of ${total} ${kind}, and apply.maxDeletesPercent is ${limits.maxDeletesPercent}`);
  }
  if (reasons.length === 0) return undefined;
  const sorted = deletions.map(({ follows: _counted, ...rest }) => rest).sort((a, b) => (a.id < b.id ? -1 : 1));
  return { hash: digest(sorted).slice(0, 16), reasons, deletions: sorted };
}

function countBy(deletions: readonly Deletion[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { kind } of deletions) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return counts;
}
