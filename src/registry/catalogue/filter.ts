// Decides by a filter which entries of a source are kept.

import type { Filter } from '#contracts/registry/source.ts';
import { globMatches, parseGlob } from '#std/patterns/glob.ts';
import type { CatalogueEntry } from './entry.ts';

/** A filter that is parsed once for many entries. */
export interface EntryFilter {
  /** Malformed name patterns. If not empty, the filter accepts no entry. */
  readonly malformed: readonly string[];
  /** Returns whether the filter accepts the name. The tags may still exclude the entry. */
  acceptsName(name: string): boolean;
  accepts(entry: Pick<CatalogueEntry, 'name' | 'tags'>): boolean;
}

/**
 * Parses a filter. An entry is kept if the filter accepts its name and tags. An exclude pattern has precedence. A
 * non-empty include list requires a match.
 */
export function entryFilter(filter: Filter): EntryFilter {
  const { names, tags } = filter;
  const malformed = [...names.include, ...names.exclude].filter((pattern) => parseGlob(pattern) === undefined);
  const included = names.include.flatMap((pattern) => parseGlob(pattern) ?? []);
  const excluded = names.exclude.flatMap((pattern) => parseGlob(pattern) ?? []);
  const hasName = (globs: typeof included, name: string) => globs.some((glob) => globMatches(glob, name));
  const hasTag = (listed: readonly string[], own: readonly string[]) => listed.some((tag) => own.includes(tag));

  function acceptsName(name: string): boolean {
    if (malformed.length > 0 || hasName(excluded, name)) return false;
    return names.include.length === 0 || hasName(included, name);
  }

  function acceptsTags(own: readonly string[]): boolean {
    if (hasTag(tags.exclude, own)) return false;
    return tags.include.length === 0 || hasTag(tags.include, own);
  }

  return {
    malformed,
    acceptsName,
    accepts: (entry) => acceptsName(entry.name) && acceptsTags(entry.tags),
  };
}

/** Returns a message if entries exist and the filter accepts none of them. */
export function keptNothing(filter: EntryFilter, entries: readonly CatalogueEntry[]): string | undefined {
  const [first] = entries;
  if (first === undefined || entries.some((entry) => filter.accepts(entry))) return undefined;
  const count = entries.length === 1 ? 'does not keep the only entry' : `keeps none of ${entries.length} entries`;
  return `the filter ${count}; patterns see names as they are served, such as "${first.name}"`;
}
