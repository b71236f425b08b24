import { expect, test } from 'vitest';
import { readBearer, TOKEN_LENGTH_MAX } from './bearer.ts';

/** Expects the token, or the reason of the rejection in brackets. */
function check(values: readonly string[], expected: string): void {
  const result = readBearer(values);
  expect(result.ok ? result.token : `(${result.rejection.reason})`).toBe(expected);
}

test.each([
  { values: ['Bearer abc.def-ghi_~+/=='], expected: 'abc.def-ghi_~+/==', reason: 'every character of RFC 6750' },
  { values: ['bearer abc'], expected: 'abc', reason: 'schemes are case-insensitive' },
  { values: ['Bearer   abc '], expected: 'abc', reason: 'blanks around the token' },
  { values: [], expected: '(credentials-missing)', reason: 'no header' },
  { values: [''], expected: '(credentials-missing)', reason: 'empty header' },
  { values: ['Basic dXNlcjpwYXNz'], expected: '(credentials-missing)', reason: 'another scheme' },
  { values: ['Bearerabc'], expected: '(credentials-missing)', reason: 'no blank: another scheme' },
  { values: ['Bearer'], expected: '(authorization-malformed)', reason: 'no token' },
  { values: ['Bearer a b'], expected: '(authorization-malformed)', reason: 'two tokens' },
  { values: ['Bearer a,b'], expected: '(authorization-malformed)', reason: 'a list' },
  { values: ['Bearer "abc"'], expected: '(authorization-malformed)', reason: 'quotes' },
  { values: ['Bearer a=b'], expected: '(authorization-malformed)', reason: 'padding inside' },
  { values: ['Bearer a\tb'], expected: '(authorization-malformed)', reason: 'a tab' },
  { values: ['Bearer a', 'Bearer a'], expected: '(authorization-repeated)', reason: 'two headers' },
  { values: ['Basic x', 'Bearer a'], expected: '(authorization-repeated)', reason: 'two headers of two schemes' },
  {
    values: [`Bearer ${'a'.repeat(TOKEN_LENGTH_MAX)}`],
    expected: 'a'.repeat(TOKEN_LENGTH_MAX),
    reason: 'the longest token',
  },
  { values: [`Bearer ${'a'.repeat(TOKEN_LENGTH_MAX + 1)}`], expected: '(token-too-long)', reason: 'one more' },
])('with $reason the result is $expected', ({ values, expected }) => {
  check(values, expected);
});
