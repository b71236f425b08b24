// Counts the versions of a source that match a query, grouped by tag, tier, status and transport. Pure.

import type { FacetCount, FacetQuery, Facets } from '#registry/catalogue/ports.ts';
import { baseTests, compareByCodePoint, type FacetName, facetTests, type Outlined } from './outline.ts';
import { hasWords, wordsOf } from './search.ts';

export function facetsOf(outlined: readonly Outlined[], query: FacetQuery): Facets {
  const words = wordsOf(query);
  const base = baseTests(query);
  const candidates = outlined.filter((each) => base.every((test) => test(each)) && hasWords(each.searched, words));
  const { tags, ...groups } = facetTests(query);
  const all = { tags, ...groups };
  const without = (own?: FacetName) => {
    const tests = Object.entries(all).flatMap(([name, test]) => (name === own || test === undefined ? [] : [test]));
    return tests.length === 0 ? candidates : candidates.filter((each) => tests.every((test) => test(each)));
  };
  const fitting = without();
  const of = (own: keyof typeof groups): readonly Outlined[] => (groups[own] === undefined ? fitting : without(own));
  return {
    total: fitting.length,
    tags: counts(fitting.flatMap((each) => each.tags)),
    tiers: counts(of('tiers').flatMap(({ tier }) => tier ?? [])),
    statuses: counts(of('statuses').map(({ status }) => status)),
    transports: counts(of('transports').flatMap((each) => each.transports)),
  };
}

function counts(values: readonly string[]): readonly FacetCount[] {
  const found = new Map<string, number>();
  for (const value of values) found.set(value, (found.get(value) ?? 0) + 1);
  return [...found]
    .map(([value, count]) => ({ value, count }))
    .sort((a, b) => b.count - a.count || compareByCodePoint(a.value, b.value));
}
