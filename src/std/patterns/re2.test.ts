import { describe, expect, test } from 'vitest';
import { compileRe2 } from './re2.ts';

function found(pattern: string, text: string): string | undefined {
  const compiled = compileRe2(pattern);
  const span = compiled.ok ? compiled.matcher.find(text) : undefined;
  return span === null || span === undefined ? undefined : text.slice(span.start, span.end);
}

function matches(pattern: string, text: string): boolean | string {
  const compiled = compileRe2(pattern);
  return compiled.ok ? (compiled.matcher.test(text) ?? 'too costly') : compiled.reason;
}

describe('patterns have the same meaning as in Go', () => {
  test.each([
    { pattern: '^[a-z]+$', text: 'abc', found: true, reason: 'plain' },
    { pattern: 'b', text: 'abc', found: true, reason: 'unanchored' },
    { pattern: '^a$', text: 'a\nb', found: false, reason: '$ is the end of the text' },
    { pattern: '(?m)^b$', text: 'a\nb', found: true, reason: 'the flag m makes ^ and $ match at lines' },
    { pattern: '(?m)^b$', text: 'a\rb', found: false, reason: 'only a newline ends a line' },
    { pattern: 'a.b', text: 'a\nb', found: false, reason: 'the dot does not match a newline' },
    { pattern: 'a.b', text: 'a\u2028b', found: true, reason: 'the dot matches all other characters' },
    { pattern: '(?s)a.b', text: 'a\nb', found: true, reason: 'the flag s lets the dot match newlines' },
    { pattern: '^.$', text: '😀', found: true, reason: 'whole code points' },
    { pattern: '(?i)^abc$', text: 'AbC', found: true, reason: 'the flag i folds case' },
    { pattern: 'a(?i)b|c', text: 'C', found: true, reason: 'a flag applies to later alternatives too' },
    { pattern: '(?:a(?i)b)c', text: 'aBC', found: false, reason: 'a flag ends with its group' },
    { pattern: '(?i:a)b', text: 'Ab', found: true, reason: 'a group has flags of its own' },
    { pattern: '(?i)a(?-i)b', text: 'AB', found: false, reason: 'a flag is switched off' },
    { pattern: '^(?P<x>a)(?<y>b)$', text: 'ab', found: true, reason: 'both spellings of named groups' },
    { pattern: '^[[:alpha:]_]+$', text: 'a_B', found: true, reason: 'POSIX class' },
    { pattern: '^[[:^digit:]]$', text: '5', found: false, reason: 'negated POSIX class' },
    { pattern: '^[]a]+$', text: ']a', found: true, reason: 'a leading bracket is a member' },
    { pattern: '^[a\\-z]+$', text: 'a-z', found: true, reason: 'escaped hyphen' },
    { pattern: '^[a-]+$', text: 'a-', found: true, reason: 'a trailing hyphen is a member' },
    { pattern: '^[\\w.]+$', text: 'a.b_1', found: true, reason: 'a set inside a class' },
    { pattern: '^[^\\D]+$', text: '123', found: true, reason: 'a negated set inside a negated class' },
    { pattern: '^\\w+$', text: 'é', found: false, reason: 'words are ASCII' },
    { pattern: '^\\s$', text: '\u00a0', found: false, reason: 'spaces are ASCII' },
    { pattern: '^\\pL+$', text: 'é', found: true, reason: 'category of one letter' },
    { pattern: '^\\p{Greek}$', text: 'α', found: true, reason: 'script' },
    { pattern: '^\\p{^Greek}$', text: 'α', found: false, reason: 'negated script' },
    { pattern: '\\Aa\\z', text: 'a', found: true, reason: 'anchors of the text' },
    { pattern: '^\\Qa.b\\E$', text: 'a.b', found: true, reason: 'quoted text' },
    { pattern: '^\\Qa.b\\E$', text: 'axb', found: false, reason: 'quoted text' },
    { pattern: '^\\x41\\x{1F600}\\101$', text: 'A😀A', found: true, reason: 'code points by number' },
    { pattern: '^a{2}$', text: 'aa', found: true, reason: 'count' },
    { pattern: '^a{,2}$', text: 'a{,2}', found: true, reason: 'a brace without a valid count is a character' },
    {
      pattern: '^https?://[^\\s?#]+[^/\\s?#]$',
      text: 'https://a.b/c',
      found: true,
      reason: 'a pattern of our own schemas',
    },
    { pattern: '^([0-9]+(\\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$', text: '1h30m', found: true, reason: 'a Duration' },
    { pattern: '\\bfoo\\b', text: 'a foo b', found: true, reason: 'word boundary' },
  ])('/$pattern/ on $text: $found ($reason)', ({ pattern, text, found }) => {
    expect(matches(pattern, text)).toBe(found);
  });

  test.each([
    { pattern: '(?U)a+', text: 'aaa', match: 'a', reason: 'the flag U swaps greedy and lazy' },
    { pattern: 'a+?', text: 'aaa', match: 'a', reason: 'lazy' },
    { pattern: 'a|ab', text: 'xab', match: 'a', reason: 'the first matching branch counts, not the longest' },
    {
      pattern: '(a|ab)(c|bcd)',
      text: 'abcd',
      match: 'abcd',
      reason: 'a branch without a complete match does not count',
    },
    { pattern: 'b+|a', text: 'abbb', match: 'a', reason: 'the leftmost match counts' },
    { pattern: 'x*', text: 'aaa', match: '', reason: 'an empty match counts' },
    { pattern: '\\bb', text: 'ab b', match: 'b', reason: 'an edge of a word' },
    { pattern: '(a|b)*?c', text: 'xabac', match: 'abac', reason: 'a lazy loop' },
    { pattern: '[^a]', text: 'a😀b', match: '😀', reason: 'whole code points' },
    { pattern: 'q', text: 'abc', match: undefined, reason: 'nothing' },
  ])('/$pattern/ finds $match in $text: $reason', ({ pattern, text, match }) => {
    expect(found(pattern, text)).toBe(match);
  });
});

/** Returns a text of the letters a and b without regular repetitions. */
function scattered(length: number): string {
  let state = 1;
  return Array.from({ length }, () => {
    state = (state * 48_271) % 0x7fffffff;
    return state % 2 === 0 ? 'a' : 'b';
  }).join('');
}

/** Returns a text of mostly different characters. */
function manyKinds(length: number): string {
  return Array.from({ length }, (_, index) => String.fromCodePoint(0x10000 + index)).join('');
}

describe('the time is bounded for every pattern', () => {
  const long = `${'a'.repeat(200_000)}!`;
  test.each([
    { pattern: '^(a+)+$', text: long, expected: false },
    { pattern: '^(a|a)*$', text: long, expected: false },
    { pattern: '^(a?){500}$', text: 'a'.repeat(5000), expected: false },
    { pattern: '^(a?){500}$', text: long, expected: 'too costly' },
    { pattern: 'a*a*a*a*a*b', text: long, expected: false },
    { pattern: '^(([a-z])+.)+[A-Z]([a-z])+$', text: long, expected: false },
    { pattern: '(a|b)*a(a|b){900}c', text: scattered(300_000), expected: 'too costly' },
    { pattern: '[ab]*a[ab]{100}[cd]$', text: scattered(100_000), expected: false },
    { pattern: `${'(?:|){1000}'.repeat(4)}b`, text: manyKinds(50_000), expected: false },
  ])('/$pattern/: $expected', ({ pattern, text, expected }) => {
    const begun = process.cpuUsage();
    expect(matches(pattern, text)).toBe(expected);
    expect(process.cpuUsage(begun).user / 1000).toBeLessThan(10_000);
  });
});

describe('refuses patterns that Go refuses', () => {
  test.each([
    { pattern: '(', reason: 'missing closing ): `(`' },
    { pattern: 'a)', reason: 'unexpected ): `a)`' },
    { pattern: '[a', reason: 'missing closing ]: `[a`' },
    { pattern: '[z-a]', reason: 'invalid character class range: `z-a`' },
    { pattern: '*a', reason: 'missing argument to repetition operator: `*`' },
    { pattern: 'a**', reason: 'invalid nested repetition operator: `**`' },
    { pattern: 'a{1001}', reason: 'invalid repeat count: `{1001}`' },
    { pattern: '((a{20}){20}){20}', reason: 'invalid repeat count: `{20}`' },
    { pattern: 'a{900}'.repeat(30), reason: 'the expression is too large' },
    { pattern: 'a{2,1}', reason: 'invalid repeat count: `{2,1}`' },
    { pattern: '(?=a)', reason: 'invalid or unsupported Perl syntax: `(?=`' },
    { pattern: '(?<=a)b', reason: 'invalid named capture: `(?<=a)b`' },
    { pattern: '(a)\\1', reason: 'invalid escape sequence: `\\1`' },
    { pattern: '\\y', reason: 'invalid escape sequence: `\\y`' },
    { pattern: '\\', reason: 'trailing backslash at end of expression' },
    { pattern: '[[:word1:]]', reason: 'invalid character class range: `[:word1:]`' },
    { pattern: '[a\\', reason: 'trailing backslash at end of expression' },
    { pattern: '(?i-)a', reason: 'invalid or unsupported Perl syntax: `(?i-)`' },
    { pattern: '[[:nope:]]', reason: 'invalid character class range: `[:nope:]`' },
    { pattern: '\\p{Klingon}', reason: 'invalid character class range: `\\p{Klingon}`' },
    { pattern: `${'('.repeat(2000)}${')'.repeat(2000)}`, reason: 'expression nests too deeply' },
    { pattern: '(a{1000}b{10}){3}', reason: 'invalid repeat count: `{3}`' },
    { pattern: '(?:[(]\\Q(\\E\\((?:ab{9}){9}){9}'.repeat(30), reason: 'the expression is too large' },
  ])('$pattern: $reason', ({ pattern, reason }) => {
    const compiled = compileRe2(pattern);
    expect(compiled.ok ? undefined : compiled.reason).toBe(reason);
  });
});
