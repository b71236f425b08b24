import { describe, expect, test } from 'vitest';
import { globMatches, parseGlob } from './glob.ts';

function check(pattern: string, text: string): boolean | 'malformed' {
  const glob = parseGlob(pattern);
  return glob === undefined ? 'malformed' : globMatches(glob, text);
}

describe('a pattern matches the whole text', () => {
  test.each([
    {
      pattern: 'io.acme/clock',
      text: 'io.acme/clock',
      expected: true,
      reason: 'plain characters match themselves',
    },
    { pattern: 'io.acme/clock', text: 'io.acme/clocks', expected: false, reason: 'the whole text must match' },
    { pattern: 'IO.acme/*', text: 'io.acme/x', expected: false, reason: 'case matters' },
    { pattern: '*', text: '', expected: true, reason: 'a star matches the empty text' },
    { pattern: '', text: '', expected: true, reason: 'an empty pattern matches only the empty text' },
    { pattern: '', text: 'a', expected: false, reason: 'an empty pattern matches only the empty text' },
    { pattern: '*-remote', text: 'io.acme/x-remote', expected: true, reason: 'a star matches a slash' },
    { pattern: 'io.**', text: 'io.acme/x', expected: true, reason: 'two stars equal one star' },
    { pattern: 'io.acme?x', text: 'io.acme/x', expected: true, reason: 'a question mark matches a slash' },
    { pattern: 'a?', text: 'a', expected: false, reason: 'a question mark matches exactly one character' },
    { pattern: 'a?c', text: 'a🐝c', expected: true, reason: 'one character is one code point' },
    { pattern: '[abc]x', text: 'bx', expected: true, reason: 'a class matches each of its members' },
    { pattern: '[abc]x', text: 'dx', expected: false, reason: 'a class matches only its members' },
    { pattern: '[a-cx-z0]', text: 'y', expected: true, reason: 'a class may mix ranges and members' },
    { pattern: '[!a-c]', text: 'b', expected: false, reason: 'an exclamation mark negates a class' },
    { pattern: '[!a-c]', text: '/', expected: true, reason: 'a negated class matches a slash' },
    { pattern: '[^a]', text: 'a', expected: true, reason: 'a circumflex is an ordinary member' },
    { pattern: '[\\]]', text: ']', expected: true, reason: 'a backslash works inside a class' },
    { pattern: '{a,b}/{c,}', text: 'b/', expected: true, reason: 'an alternative may be empty' },
    { pattern: '{a,b}/{c,}', text: 'c/', expected: false, reason: 'one alternative must match' },
    {
      pattern: '{x*,{y,z}-[0-9]}',
      text: 'z-7',
      expected: true,
      reason: 'alternatives may be nested and contain wildcards',
    },
    { pattern: 'a,b', text: 'a,b', expected: true, reason: 'a comma outside braces is a character' },
    { pattern: 'a}', text: 'a}', expected: true, reason: 'a closing brace alone is a character' },
    { pattern: '\\*', text: '*', expected: true, reason: 'a backslash escapes the next character' },
    { pattern: '\\*', text: 'a', expected: false, reason: 'a backslash escapes the next character' },
    {
      pattern: 'a.c',
      text: 'abc',
      expected: false,
      reason: 'a dot is not a wildcard: patterns are not regular expressions',
    },
    { pattern: '(a|b)+$', text: 'a', expected: false, reason: 'syntax of regular expressions has no meaning' },
  ])('$pattern against "$text" is $expected: $reason', ({ pattern, text, expected }) => {
    expect(check(pattern, text)).toBe(expected);
  });
});

describe('refuses malformed patterns', () => {
  test.each([
    { pattern: '[', reason: 'the class never ends' },
    { pattern: '[a', reason: 'the class never ends' },
    { pattern: '[]', reason: 'the class is empty' },
    { pattern: '[!]', reason: 'the negated class is empty' },
    { pattern: '[a-]', reason: 'the range has no end' },
    { pattern: '[-a]', reason: 'the range has no beginning' },
    { pattern: '[z-a]', reason: 'the range runs backwards' },
    { pattern: '[\\', reason: 'nothing follows the backslash' },
    { pattern: 'a\\', reason: 'nothing follows the backslash' },
    { pattern: '{a,b', reason: 'the braces never end' },
    { pattern: `${'{'.repeat(40)}${'}'.repeat(40)}`, reason: 'the braces nest too deep' },
  ])('$pattern: $reason', ({ pattern }) => {
    expect(check(pattern, 'a')).toBe('malformed');
  });
});

test('takes linear time in the text for a pattern with many stars', () => {
  const started = process.cpuUsage();
  expect(check(`${'*a'.repeat(50)}b`, 'a'.repeat(5_000))).toBe(false);
  expect(check('{*,*}{*,*}{*,*}{*,*}{*,*}{*,*}x', 'a'.repeat(5_000))).toBe(false);
  expect(process.cpuUsage(started).user / 1000).toBeLessThan(5_000);
});
