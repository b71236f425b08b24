// Compares our CEL with Kubernetes' own, rule by rule. Rules that cannot be evaluated here must be reported as such.

import { describe, expect, test } from 'vitest';
import { celScope } from '#kubernetes/rules/cel/scope.ts';
import { readSchema } from '#kubernetes/rules/structural/schema.ts';
import { RECORDED, type Verdict } from './cel-verdicts.ts';

/** Rules with another result here, and why that does no harm. */
const DEVIATIONS: Readonly<Record<string, { readonly ours: Verdict; readonly reason: string }>> = {
  "bool('yes')": { ours: 'error', reason: 'a constant that cannot be converted fails when evaluated, not before' },
  "'%d'.format(['a']) == ''": { ours: 'error', reason: 'a literal that does not fit its clause fails when evaluated' },
  'dyn(self.tags[dyn(1.0)]) == 0': { ours: 'false', reason: 'the engine takes a whole double for an index' },
  'self.intstr': { ours: 'error', reason: 'a result of any type is checked when it is known' },
  'self.tags.all(t,t.size()>0,)': { ours: 'true', reason: 'the engine allows a comma after the last argument' },
  "(quantity('100n').asApproximateFloat()) == 1.0000000000000001e-07": {
    ours: 'false',
    reason: 'approximate floats are rounded in the last digit in another way',
  },
};

const scope = celScope(readSchema(RECORDED.schema), false);
const self = scope?.value(RECORDED.value);

function ours(rule: string): Verdict | 'unsupported' | undefined {
  const compiled = scope?.compile(rule, 'bool');
  switch (compiled?.type) {
    case undefined:
      return undefined;
    case 'invalid':
      return 'refused';
    case 'unsupported':
      return 'unsupported';
    case 'rule': {
      const outcome = compiled.evaluate(self, self);
      return outcome.type === 'error' ? 'error' : outcome.value === true ? 'true' : 'false';
    }
  }
}

describe('the result is that of Kubernetes', () => {
  test.each(RECORDED.verdicts.map(([rule, verdict]) => ({ rule, verdict })))('$rule: $verdict', ({ rule, verdict }) => {
    const expected = DEVIATIONS[rule]?.ours ?? verdict;
    expect([expected, 'unsupported']).toContain(ours(rule));
  });
});

test('only a few known rules cannot be evaluated', () => {
  const unsupported = RECORDED.verdicts.map(([rule]) => rule).filter((rule) => ours(rule) === 'unsupported');
  const known = unsupported.filter(
    (rule) => /\bset\b|\bset2\b|self\.ports|\[\?|\{\?|^\.5/.test(rule) || rule.startsWith('[].'),
  );
  expect(unsupported).toEqual(known);
  expect(unsupported.length).toBeLessThan(RECORDED.verdicts.length * 0.03);
});

test('every listed deviation exists', () => {
  const recorded = new Map(RECORDED.verdicts.map(([rule, verdict]) => [rule, verdict]));
  for (const [rule, { ours: said }] of Object.entries(DEVIATIONS)) {
    expect(recorded.get(rule), rule).toBeDefined();
    expect(recorded.get(rule), rule).not.toBe(said);
  }
});
