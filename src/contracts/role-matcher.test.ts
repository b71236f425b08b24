// Tests which expressions role matchers accept, and their results for claims.

import { describe, expect, it } from 'vitest';
import { roleMatcher } from './role-matcher.ts';

const CLAIMS = { sub: 'ada', groups: ['admins', 'staff'], level: 3, act: { sub: 'robot' } };

describe('the result for the claims of a token', () => {
  it.each([
    { expression: '"admins" in claims.groups', expected: true },
    { expression: '"admins" in claims["groups"]', expected: true },
    { expression: '"owners" in claims.groups', expected: false },
    { expression: 'claims.sub == "ada"', expected: true },
    { expression: 'claims.act.sub.startsWith("ro")', expected: true },
    { expression: 'has(claims.email) && claims.email.endsWith("@example.com")', expected: false },
    { expression: 'claims.email.endsWith("@example.com")', expected: false, reason: 'the claim is absent' },
    { expression: '"a" in claims.sub', expected: false, reason: 'the claim is not a list' },
    { expression: 'claims.groups', expected: false, reason: 'the claim is not a boolean' },
    { expression: 'claims.groups.exists(group, group.matches("^adm"))', expected: true },
    { expression: 'claims.level > 2.5', expected: true },
  ])('$expression is $expected', ({ expression, expected }) => {
    const matcher = roleMatcher(expression);
    expect(matcher).toMatchObject({ type: 'matcher', constant: false });
    expect(matcher.type === 'matcher' && matcher.matches(CLAIMS)).toBe(expected);
  });
});

it.each([
  { expression: 'claims.sub ==', reason: 'it ends too early' },
  { expression: 'claim.sub == "a"', reason: 'there is no claim, only claims' },
  { expression: '"admins"', reason: 'it is a text' },
  { expression: 'size(claims)', reason: 'it is a number' },
  { expression: 'claims.sub.frobnicate()', reason: 'there is no such function' },
])('$expression is refused: $reason', ({ expression }) => {
  expect(roleMatcher(expression)).toMatchObject({ type: 'fault', message: expect.stringMatching(/\w/) });
});

it.each(['true', '1 > 2', '"a" in ["a"]'])('%s is constant for all tokens', (expression) => {
  expect(roleMatcher(expression)).toMatchObject({ type: 'matcher', constant: true });
});
