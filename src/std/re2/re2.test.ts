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

describe('means what it means to Go', () => {
  test.each([
    { pattern: '^[a-z]+$', text: 'abc', found: true, reason: 'plain' },
    { pattern: 'b', text: 'abc', found: true, reason: 'unanchored' },
    { pattern: '^a$', text: 'a\nb', found: false, reason: '$ is the end of the text' },
    { pattern: '(?m)^b$', text: 'a\nb', found: true, reason: 'the flag m makes ^ and $ match at lines' },
    { pattern: '(?m)^b$', text: 'a\rb', found: false, reason: 'only a newline ends a line' },
    { pattern: 'a.b', text: 'a\nb', found: false, reason: 'the dot leaves newlines out' },
    { pattern: 'a.b', text: 'a\u2028b', found: true, reason: 'and nothing but newlines' },
    { pattern: '(?s)a.b', text: 'a\nb', found: true, reason: 'the flag s lets the dot match them' },
    { pattern: '^.$', text: '😀', found: true, reason: 'characters, not halves of them' },
    { pattern: '(?i)^abc$', text: 'AbC', found: true, reason: 'the flag i folds case' },
    { pattern: 'a(?i)b|c', text: 'C', found: true, reason: 'a flag holds across alternatives' },
    { pattern: '(?:a(?i)b)c', text: 'aBC', found: false, reason: 'and ends with its group' },
    { pattern: '(?i:a)b', text: 'Ab', found: true, reason: 'flags of a group' },
    { pattern: '(?i)a(?-i)b', text: 'AB', found: false, reason: 'a flag is switched off' },
    { pattern: '^(?P<x>a)(?<y>b)$', text: 'ab', found: true, reason: 'both spellings of named groups' },
    { pattern: '^[[:alpha:]_]+$', text: 'a_B', found: true, reason: 'POSIX class' },
    { pattern: '^[[:^digit:]]$', text: '5', found: false, reason: 'negated POSIX class' },
    { pattern: '^[]a]+$', text: ']a', found: true, reason: 'a bracket that comes first stands for itself' },
    { pattern: '^[a\\-z]+$', text: 'a-z', found: true, reason: 'escaped hyphen' },
    { pattern: '^[a-]+$', text: 'a-', found: true, reason: 'a hyphen that comes last stands for itself' },
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
    { pattern: '^\\x41\\x{1F600}\\101$', text: 'A😀A', found: true, reason: 'numbers of characters' },
    { pattern: '^a{2}$', text: 'aa', found: true, reason: 'count' },
    { pattern: '^a{,2}$', text: 'a{,2}', found: true, reason: 'a brace that opens no count stands for itself' },
    {
      pattern: '^https?://[^\\s?#]+[^/\\s?#]$',
      text: 'https://a.b/c',
      found: true,
      reason: 'as our own schemas write',
    },
    { pattern: '^([0-9]+(\\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$', text: '1h30m', found: true, reason: 'a Duration' },
    { pattern: '\\bfoo\\b', text: 'a foo b', found: true, reason: 'word boundary' },
  ])('/$pattern/ on $text: $found ($reason)', ({ pattern, text, found }) => {
    expect(matches(pattern, text)).toBe(found);
  });

  test.each([
    { pattern: '(?U)a+', text: 'aaa', match: 'a', reason: 'the flag U swaps greedy and lazy' },
    { pattern: 'a+?', text: 'aaa', match: 'a', reason: 'lazy' },
    { pattern: 'a|ab', text: 'xab', match: 'a', reason: 'the first branch wins, not the longest' },
    { pattern: '(a|ab)(c|bcd)', text: 'abcd', match: 'abcd', reason: 'unless it leads nowhere' },
    { pattern: 'b+|a', text: 'abbb', match: 'a', reason: 'the leftmost wins' },
    { pattern: 'x*', text: 'aaa', match: '', reason: 'the empty match is one' },
    { pattern: '\\bb', text: 'ab b', match: 'b', reason: 'an edge of a word' },
    { pattern: '(a|b)*?c', text: 'xabac', match: 'abac', reason: 'a lazy loop' },
    { pattern: '[^a]', text: 'a😀b', match: '😀', reason: 'characters, not halves of them' },
    { pattern: 'q', text: 'abc', match: undefined, reason: 'nothing' },
  ])('/$pattern/ finds $match in $text: $reason', ({ pattern, text, match }) => {
    expect(found(pattern, text)).toBe(match);
  });
});

/** Returns a text of the letters a and b without repetitions. */
function scattered(length: number): string {
  let state = 1;
  return Array.from({ length }, () => {
    state = (state * 48_271) % 0x7fffffff;
    return state % 2 === 0 ? 'a' : 'b';
  }).join('');
}

/** Returns a text in which hardly any two characters are the same. */
function manyKinds(length: number): string {
  return Array.from({ length }, (_, index) => String.fromCodePoint(0x10000 + index)).join('');
}

describe('no pattern takes longer than the text allows', () => {
  const long = `${'a'.repeat(200_000)}!`;
  test.each([
    { pattern: '^(a+)+$', text: long, verdict: false },
    { pattern: '^(a|a)*$', text: long, verdict: false },
    { pattern: '^(a?){500}$', text: long, verdict: false },
    { pattern: 'a*a*a*a*a*b', text: long, verdict: false },
    { pattern: '^(([a-z])+.)+[A-Z]([a-z])+$', text: long, verdict: false },
    { pattern: '(a|b)*a(a|b){900}c', text: scattered(300_000), verdict: 'too costly' },
    { pattern: `${'(?:|){1000}'.repeat(9)}b`, text: manyKinds(50_000), verdict: 'too costly' },
  ])('/$pattern/: $verdict', ({ pattern, text, verdict }) => {
    const begun = process.cpuUsage();
    expect(matches(pattern, text)).toBe(verdict);
    expect(process.cpuUsage(begun).user / 1000).toBeLessThan(10_000);
  });
});

describe('is refused where Go refuses it', () => {
  test.each([
    { pattern: '(', reason: 'missing closing )' },
    { pattern: 'a)', reason: 'unexpected )' },
    { pattern: '[a', reason: 'missing closing ]' },
    { pattern: '[z-a]', reason: 'a range in a class runs backwards' },
    { pattern: '*a', reason: 'nothing before the * to repeat' },
    { pattern: 'a**', reason: 'a repetition is repeated' },
    { pattern: 'a{1001}', reason: 'a count is above 1000' },
    { pattern: '((a{20}){20}){20}', reason: 'counts inside of counts come to more than 1000' },
    { pattern: 'a{900}'.repeat(30), reason: 'the expression is too large' },
    { pattern: 'a{2,1}', reason: 'a count runs backwards' },
    { pattern: '(?=a)', reason: '(? must be followed by a name or flags; RE2 knows no lookaround' },
    { pattern: '(?<=a)b', reason: '(? must be followed by a name or flags; RE2 knows no lookaround' },
    { pattern: '(a)\\1', reason: 'RE2 knows no back references' },
    { pattern: '\\y', reason: '\\y is no escape of RE2' },
    { pattern: '\\', reason: 'the expression ends in a backslash' },
    { pattern: '[[:word1:]]', reason: 'there is no class [:word1:]' },
    { pattern: '[a\\', reason: 'the expression ends in a backslash' },
    { pattern: '(?i-)a', reason: 'bad flags after (?' },
    { pattern: '[[:nope:]]', reason: 'there is no class [:nope:]' },
    { pattern: '\\p{Klingon}', reason: 'the expression cannot be expressed here' },
    { pattern: `${'('.repeat(300)}${')'.repeat(300)}`, reason: 'the groups are nested too deeply' },
  ])('$pattern: $reason', ({ pattern, reason }) => {
    const compiled = compileRe2(pattern);
    expect(compiled.ok ? undefined : compiled.reason).toBe(reason);
  });
});
