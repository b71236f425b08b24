// Regular expressions in rules, as RE2 reads them. Knows nothing about where texts come from.
// Source: Kubernetes CEL, "Kubernetes regex library".

import { compileRe2, type Re2 } from '../../../std/re2.ts';
import { fail, type Library, OURS } from './library.ts';

export const REGEX_LIBRARY: Library = {
  functions: {
    [`string.matches${OURS}(string): bool`]: matches,
    [`matches${OURS}(string, string): bool`]: matches,
    'string.find(string): string': (text: string, pattern: string) => expression(pattern).exec(text)?.[0] ?? '',
    'string.findAll(string): list<string>': (text: string, pattern: string) => findAll(text, pattern, -1n),
    'string.findAll(string, int): list<string>': findAll,
  },
};

/** Patterns are nearly always literals, so few are ever seen. */
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

function expression(pattern: string): RegExp {
  const re2 = regexOf(pattern);
  return re2.ok ? re2.regexp : fail(`invalid regular expression: ${re2.reason}`);
}

function matches(text: string, pattern: string): boolean {
  return expression(pattern).test(text);
}

function findAll(text: string, pattern: string, limit: bigint): string[] {
  const all = new RegExp(expression(pattern).source, 'gu');
  const found = [...text.matchAll(all)].map(([match]) => match);
  return limit < 0n ? found : found.slice(0, Number(limit));
}
