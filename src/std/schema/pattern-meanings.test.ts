// Tests that the descriptions of patterns match the patterns.

import { expect, test } from 'vitest';
import { compileRe2 } from '#std/patterns/re2.ts';
import { describePattern, EXPLAINED_PATTERNS } from './pattern-meanings.ts';

test.each([...EXPLAINED_PATTERNS])('the example for %s matches the pattern', (pattern, { example }) => {
  const compiled = compileRe2(pattern);
  expect(compiled.ok && compiled.matcher.test(example)).toBe(true);
});

test('describes a known pattern with an example, and quotes an unknown pattern', () => {
  expect(describePattern('^([0-9]+(\\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$')).toBe(
    'must be a duration with units, such as 1h30m',
  );
  expect(describePattern('^a+$')).toBe('must match the pattern ^a+$');
});
