// Finds filters of MCPRegistries that keep no entry of a source whose content is in a ConfigMap among the manifests.

import { entryFilter, keptNothing } from '#registry/catalogue/filter.ts';
import type { Problem } from '#std/problem.ts';
import type { View } from '../../kinds/kind.ts';
import type { LoadedResource } from '../read/load.ts';
import { problemOf } from '../read/problem-of.ts';
import { entriesReader } from './declared-entries.ts';

/** Returns one warning for each filter that keeps no entry. */
export function emptyFilters(
  loaded: readonly LoadedResource[],
  views: (namespace: string) => View,
): readonly Problem[] {
  const read = entriesReader();
  return loaded.flatMap((each) => {
    const { id, kind, defaulted } = each;
    if (kind === undefined || defaulted === undefined) return [];
    const view = views(id.namespace ?? '');
    return kind.sources(defaulted).flatMap((source, index): readonly Problem[] => {
      const filter = entryFilter(source.filter);
      // A malformed pattern is reported elsewhere, as an error.
      const message = filter.malformed.length > 0 ? undefined : keptNothing(filter, read(source, view) ?? []);
      if (message === undefined) return [];
      const pointer = `${source.at ?? `/spec/registries/${index}`}/filter`;
      return [problemOf(each, { code: 'registry-filter-keeps-nothing', severity: 'warning', pointer, message })];
    });
  });
}
