// Masks differences for people.

import type { Difference } from '#kubernetes/rules/ownership/differences.ts';

/** Returns the differences. For a Secret they show that a value changed, never the value. */
export function maskSecrets(kind: string, changes: readonly Difference[]): readonly Difference[] {
  return kind === 'Secret' ? changes.map(maskValues) : changes;
}

/** Returns the difference with its path, and without its values. */
export function maskValues({ path, before, after }: Difference): Difference {
  return {
    path,
    before: before === undefined ? undefined : '*** (before)',
    after: after === undefined ? undefined : '*** (after)',
  };
}
