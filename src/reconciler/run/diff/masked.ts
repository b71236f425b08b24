// Masks values in differences.

import type { Difference } from '#kubernetes/rules/ownership/differences.ts';

/** Returns the differences of an object. The differences of a Secret show only that a value changed. */
export function maskSecrets(kind: string, changes: readonly Difference[]): readonly Difference[] {
  return kind === 'Secret' ? changes.map(maskValues) : changes;
}

export function maskValues({ path, before, after }: Difference): Difference {
  return {
    path,
    before: before === undefined ? undefined : '*** (before)',
    after: after === undefined ? undefined : '*** (after)',
  };
}
