// Implements regular expressions with the syntax of RE2. Source: Kubernetes CEL, "Kubernetes regex library".

import type { Matcher } from '#std/patterns/re2.ts';
import { compileRe2, type Re2 } from '#std/patterns/re2.ts';
import { spend } from '../cost.ts';
import { fail, type Library, OURS } from './library.ts';

export const REGEX_LIBRARY: Library = {
  functions: {
    [`string.matches${OURS}(string): bool`]: matchesPattern,
    [`matches${OURS}(string, string): bool`]: matchesPattern,
    'string.find(string): string': (text: string, pattern: string) => findAll(text, pattern, 1n)[0] ?? '',
    'string.findAll(string): list<string>': (text: string, pattern: string) => findAll(text, pattern, -1n),
    'string.findAll(string, int): list<string>': findAll,
  },
};

/** Maximum number of cached patterns. Patterns are nearly always literals, so few are different. */
const MAX_CACHED = 500;
const compiled = new Map<string, Re2>();

export function regexOf(pattern: string): Re2 {
  const cached = compiled.get(pattern);
  if (cached !== undefined) return cached;
  if (compiled.size >= MAX_CACHED) compiled.clear();
  const fresh = compileRe2(pattern);
  compiled.set(pattern, fresh);
  return fresh;
}

function matcherOf(pattern: string): Matcher {
  const re2 = regexOf(pattern);
  return re2.ok ? re2.matcher : fail(`invalid regular expression: ${re2.reason}`);
}

function matchesPattern(text: string, pattern: string): boolean {
  return matcherOf(pattern).test(text) ?? fail(TOO_COSTLY);
}

/** Cost of a search for the position of a match. A test for a match costs less. */
const UNITS_PER_CHARACTER = 10;

const TOO_COSTLY = 'the text is too long for its regular expression';

/** Works like Go's `FindAllString`: an empty match right after another match is left out. */
function findAll(text: string, pattern: string, limit: bigint): string[] {
  const matcher = matcherOf(pattern);
  const found: string[] = [];
  let end = -1;
  for (let from = 0; from <= text.length && (limit < 0n || found.length < limit); ) {
    spend((text.length - from) * UNITS_PER_CHARACTER);
    const span = matcher.find(text, from);
    if (span === undefined) fail(TOO_COSTLY);
    if (span === null) break;
    const empty = span.end === from;
    if (!empty || span.start !== end) found.push(text.slice(span.start, span.end));
    from = empty ? from + ((text.codePointAt(from) ?? 0) > 0xffff ? 2 : 1) : span.end;
    end = span.end;
  }
  return found;
}
