// Renders failures of a run as lines for people.

import type { RunResult } from '../run/result.ts';

const FORBIDDEN_MAX = 3;

/**
 * Returns one line per failure. If the account lacks rights, reading fails for each kind. If there are more than three
 * such failures, only two of them are printed.
 */
export function failureLines(failures: RunResult['failures']): string[] {
  const forbidden = failures.filter(({ code }) => code === 'cluster-forbidden');
  const folded = new Set(forbidden.length > FORBIDDEN_MAX ? forbidden.slice(2) : []);
  return [
    ...failures.filter((failure) => !folded.has(failure)).map((failure) => `error ${failure.code}: ${failure.message}`),
    ...(folded.size === 0
      ? []
      : [
          `error cluster-forbidden: ${folded.size} more like these: give the account the rights of manifests/install/rights (docs/install.md)`,
        ]),
  ];
}
