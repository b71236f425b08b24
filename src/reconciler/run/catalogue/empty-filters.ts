// Finds filters of MCPRegistries that no entry of their source passes. Only sources in ConfigMaps of the manifests are
// checked.

import { entryFilter, keptNothing } from '#registry/catalogue/filter.ts';
import type { Problem } from '#std/problem.ts';
import type { View } from '../../kinds/kind.ts';
import type { LoadedResource } from '../read/load.ts';
import { problemOf } from '../read/problem-of.ts';
import { entriesReader } from './declared-entries.ts';

/** Returns one warning for each filter that no entry passes. */
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
      // Validation of the manifest reports a malformed pattern as an error.
      const message = filter.malformed.length > 0 ? undefined : keptNothing(filter, read(source, view) ?? []);
      if (message === undefined) return [];
      const pointer = `${source.at ?? `/spec/registries/${index}`}/filter`;
      return [problemOf(each, { code: 'registry-filter-keeps-nothing', severity: 'warning', pointer, message })];
    });
  });
}
