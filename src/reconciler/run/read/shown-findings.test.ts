// Tests which findings are kept if an object has more findings than the limit.

import { expect, test } from 'vitest';
import type { Finding } from '#kubernetes/rules/finding.ts';
import { FINDINGS_MAX, shownFindings } from './shown-findings.ts';

function findings(severity: Finding['severity'], count: number): Finding[] {
  return Array.from({ length: count }, (_, place) => ({
    code: 'unknown-field',
    severity,
    pointer: `/${severity}/${place}`,
    message: 'm',
  }));
}

test.each([
  { errors: 3, warnings: 2, last: undefined },
  { errors: 0, warnings: FINDINGS_MAX, last: undefined },
  { errors: 0, warnings: FINDINGS_MAX + 1, last: 'warning 1 warning more' },
  { errors: FINDINGS_MAX + 2, warnings: 0, last: 'error 2 errors more' },
  { errors: 5, warnings: FINDINGS_MAX, last: 'warning 5 warnings more' },
  { errors: FINDINGS_MAX + 1, warnings: 7, last: 'error 1 error and 7 warnings more' },
])('of $errors errors and $warnings warnings, the omitted ones are counted: $last', ({ errors, warnings, last }) => {
  const all = [...findings('warning', warnings), ...findings('error', errors)];
  const shown = shownFindings(all, (more) => ({ ...more, pointer: '' }));
  if (last === undefined) {
    expect(shown).toEqual(all);
    return;
  }
  expect(shown).toHaveLength(FINDINGS_MAX + 1);
  expect(`${shown.at(-1)?.severity} ${shown.at(-1)?.message}`).toBe(
    `${last} in this object: correct those that are shown first`,
  );
  expect(shown.filter(({ severity }) => severity === 'error').length).toBeGreaterThanOrEqual(
    Math.min(errors, FINDINGS_MAX),
  );
});
