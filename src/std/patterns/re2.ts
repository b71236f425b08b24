// Compiles regular expressions with Go's meaning (RE2), and matches them within limits of size and time.

import type { RE2JS } from 're2js';
import { re2js } from './package.ts';

interface Span {
  /** In UTF-16 units. */
  readonly start: number;
  readonly end: number;
}

/** Matches anywhere in the text, as in Go. Results are undefined if the match would exceed the time limit. */
export interface Matcher {
  test(text: string): boolean | undefined;
  /** Returns the leftmost match, with the length that Go prefers. Returns null if no match exists. */
  find(text: string, from?: number): Span | null | undefined;
}

export type Re2 = { readonly ok: true; readonly matcher: Matcher } | { readonly ok: false; readonly reason: string };

/**
 * Maximum number of instructions of a program: far more than expressions in schemas need. Go permits 1.4 million, which
 * take seconds to compile.
 */
const MAX_SIZE = 20_000;
/**
 * Maximum product of a program's instructions and a text's UTF-16 units. The slowest tested pattern takes 70 ns per
 * unit of this product (Node 24).
 */
const MAX_WORK = 20_000_000;

/** Returns a reason if Go would refuse the pattern, or if the pattern is too large. */
export function compileRe2(pattern: string): Re2 {
  if (sizeBound(pattern) > MAX_SIZE) return { ok: false, reason: 'the expression is too large' };
  const { RE2JS, RE2JSException } = re2js();
  try {
    return { ok: true, matcher: matcherOf(RE2JS.compile(pattern)) };
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    return { ok: false, reason: error.message.replace(/^error parsing regexp: /, '') };
  }
}

function matcherOf(expression: RE2JS): Matcher {
  const size = expression.programSize();
  const costsTooMuch = (units: number) => size * units > MAX_WORK;
  const results = new Map<string, boolean>();
  return {
    test(text) {
      const known = results.get(text);
      if (known !== undefined) return known;
      if (costsTooMuch(text.length)) return undefined;
      const result = expression.test(text);
      if (text.length <= MAX_KEPT_TEXT) {
        if (results.size === MAX_RESULTS) results.clear();
        results.set(text, result);
      }
      return result;
    },
    find(text, from = 0) {
      if (costsTooMuch(text.length - from)) return undefined;
      const matcher = expression.matcher(text);
      return matcher.find(from) ? { start: matcher.start(), end: matcher.end() } : null;
    },
  };
}

/**
 * Maximum number of cached results. Manifests repeat names and images. A cached result takes 0.02 µs, a new match 0.4
 * to 1.2 µs.
 */
const MAX_RESULTS = 1000;
const MAX_KEPT_TEXT = 256;

/** Matches quoted texts, escapes, classes, counts, and single characters. */
const TOKENS = /\\Q.*?(?:\\E|$)|\\.|\[\^?\]?(?:\[:\^?\w+:\]|\\.|[^\]\\])*\]|\{(?<least>\d+)(?:,(?<most>\d*))?\}|./gsu;

/**
 * Returns an upper bound of the number of characters and classes in a pattern, multiplied by their repetition counts.
 */
function sizeBound(pattern: string): number {
  const groups = [{ size: 0, last: 0 }];
  let group = { size: 0, last: 0 };
  for (const { 0: token, groups: count } of pattern.matchAll(TOKENS)) {
    if (token === '(') {
      groups.push(group);
      group = { size: 0, last: 0 };
    } else if (token === ')') {
      const outer = groups.pop() ?? { size: 0, last: 0 };
      group = { size: outer.size + group.size + 1, last: group.size + 1 };
    } else if (count?.least !== undefined) {
      const repeats = Math.max(1, Number(count.most || count.least));
      group = { size: group.size + group.last * (repeats - 1), last: group.last * repeats };
    } else {
      group = { size: group.size + token.length, last: token.startsWith('[') ? 1 : token.length };
    }
  }
  return groups.reduce((sum, { size }) => sum + size, group.size);
}
