// Limits the findings per object. A file of some megabytes can have more faults than fit into memory.

import type { Severity } from '#std/problem.ts';
import { countText } from '#std/words/count-text.ts';

export const FINDINGS_MAX = 200;

/** Finding with the number of omitted findings. */
export interface MoreFindings {
  readonly code: 'more-problems';
  readonly severity: Severity;
  readonly message: string;
}

/**
 * Returns the findings in their order. If the findings exceed the limit, errors are first, and an added last finding
 * states the number of omitted findings.
 */
export function shownFindings<Found extends { readonly severity: Severity }>(
  found: readonly Found[],
  lastOf: (more: MoreFindings) => Found,
): readonly Found[] {
  if (found.length <= FINDINGS_MAX) return found;
  const errors = found.filter(({ severity }) => severity === 'error');
  const warnings = found.filter(({ severity }) => severity === 'warning');
  const moreErrors = Math.max(0, errors.length - FINDINGS_MAX);
  const moreWarnings = found.length - FINDINGS_MAX - moreErrors;
  const counts = [
    ...(moreErrors > 0 ? [countText(moreErrors, 'error')] : []),
    ...(moreWarnings > 0 ? [countText(moreWarnings, 'warning')] : []),
  ];
  const message = `${counts.join(' and ')} more in this object: correct those that are shown first`;
  const more: MoreFindings = { code: 'more-problems', severity: moreErrors > 0 ? 'error' : 'warning', message };
  return [...[...errors, ...warnings].slice(0, FINDINGS_MAX), lastOf(more)];
}
