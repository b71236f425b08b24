// Compiles regular expressions with the meaning that they have in Go (RE2), and matches them within limits of size and time.

import type { RE2JS } from 're2js';
import { re2js } from './package.ts';

interface Span {
  /** Positions count UTF-16 units. */
  readonly start: number;
  readonly end: number;
}

/** Matches without anchors, as in Go. Results are undefined if matching the text would exceed the limits. */
export interface Matcher {
  test(text: string): boolean | undefined;
  /** Returns the leftmost match, and among several matches there the one that Go prefers. Returns null without a match. */
  find(text: string, from?: number): Span | null | undefined;
}

export type Re2 = { readonly ok: true; readonly matcher: Matcher } | { readonly ok: false; readonly reason: string };

/** Instructions of one program: far above expressions in schemas. Go permits 1.4 million, which take seconds to compile. */
const MAX_SIZE = 20_000;
/** Instructions times UTF-16 units of one text. The slowest pattern of the tests takes 70 ns for each (Node 24). */
const MAX_WORK = 20_000_000;

/** Returns a refusal with a reason if Go would refuse the pattern, or if it is too large. */
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

/** Results that are kept. Manifests repeat names and images: a kept result takes 0.02 µs, a new match 0.4 to 1.2 µs. */
const MAX_RESULTS = 1000;
const MAX_KEPT_TEXT = 256;

/** Quoted texts, escapes, classes, counts, and single characters. */
const TOKENS = /\\Q.*?(?:\\E|$)|\\.|\[\^?\]?(?:\[:\^?\w+:\]|\\.|[^\]\\])*\]|\{(?<least>\d+)(?:,(?<most>\d*))?\}|./gsu;

/** Returns an upper bound of the characters and classes of a pattern, each as often as counts repeat it. */
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
