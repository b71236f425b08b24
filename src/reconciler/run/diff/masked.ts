// Differences as people may see them.

import type { Difference } from '#kubernetes/rules/ownership/differences.ts';

/** A Secret's difference tells that a value changed, never which value. */
export function maskSecrets(kind: string, changes: readonly Difference[]): readonly Difference[] {
  return kind === 'Secret' ? changes.map(masked) : changes;
}

function masked({ path, before, after }: Difference): Difference {
  return {
    path,
    before: before === undefined ? undefined : '*** (before)',
    after: after === undefined ? undefined : '*** (after)',
  };
}
