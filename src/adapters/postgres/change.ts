// Computes the writes after which the stored rows of a source equal a list of entries. Pure.

import type { CatalogueEntry } from '#registry/catalogue/entry.ts';
import type { Hold, WriteCounts } from '#registry/catalogue/ports.ts';
import { digest, sha256 } from '#std/hash.ts';
import { latestOf } from '#std/versions.ts';

/** Fields of a stored version that are needed for the comparison. Times are RFC 3339 with milliseconds, in UTC. */
export interface Stored {
  readonly name: string;
  readonly version: string;
  readonly status: CatalogueEntry['status'];
  readonly contentHash: string;
  readonly textHash: string;
  readonly publishedAt: string;
  readonly upstreamLatest: boolean | undefined;
  readonly isLatest: boolean;
}

export interface VersionRow {
  readonly entry: CatalogueEntry;
  readonly contentHash: string;
  readonly textHash: string;
  readonly publishedAt: string;
  readonly isLatest: boolean;
}

interface VersionId {
  readonly name: string;
  readonly version: string;
}

export interface SourceChange {
  /** New versions, and versions whose content, status or latest flag changed. */
  readonly upserts: readonly VersionRow[];
  /** Versions that become tombstones. */
  readonly retired: readonly VersionId[];
  /** Stored versions that the list of entries lacks and whose latest flag changes. */
  readonly flips: readonly (VersionId & { readonly isLatest: boolean })[];
  readonly written: WriteCounts;
}

type Fate = 'created' | 'updated' | 'unchanged';

export function changeOf(
  stored: readonly Stored[],
  entries: readonly CatalogueEntry[],
  hold: Hold,
  now: string,
): SourceChange {
  const before = new Map(stored.map((row) => [entryKey(row), row]));
  const incoming = entries.map((entry) => {
    const known = before.get(entryKey(entry));
    return { entry, ...hashesOf(entry, known), publishedAt: entry.publishedAt ?? known?.publishedAt ?? now };
  });
  const present = new Set(entries.map(entryKey));
  const others = stored.filter((row) => !present.has(entryKey(row)));
  const missing = others.filter(({ status }) => status !== 'deleted');
  const held = missing.filter(({ name, version }) => hold(name, version));
  const retired = missing.filter(({ name, version }) => !hold(name, version));
  const isHeld = new Set(held);
  const latest = latestIds(
    [...incoming.filter(isLive).map(candidateOf), ...held.map((row) => ({ ...row, isLatest: row.upstreamLatest }))],
    [
      ...incoming
        .filter((row) => !isLive(row))
        .map((row) => ({ ...candidateOf(row), isLatest: before.get(entryKey(row.entry))?.isLatest })),
      ...others.filter((row) => !isHeld.has(row)),
    ],
  );
  const rows = incoming.map((row): VersionRow => ({ ...row, isLatest: latest.has(entryKey(row.entry)) }));
  const fates = rows.map((row) => fateOf(row, before.get(entryKey(row.entry))));
  return {
    upserts: rows.filter((_row, index) => fates[index] !== 'unchanged'),
    retired,
    flips: others
      .map((row) => ({ name: row.name, version: row.version, isLatest: latest.has(entryKey(row)), was: row.isLatest }))
      .filter(({ isLatest, was }) => isLatest !== was),
    written: {
      created: count(fates, 'created'),
      updated: count(fates, 'updated'),
      unchanged: count(fates, 'unchanged'),
      removed: retired.length,
      held: held.length,
    },
  };
}

export function isEmpty({ upserts, retired, flips }: SourceChange): boolean {
  return upserts.length + retired.length + flips.length === 0;
}

/**
 * Returns the hashes of an entry, without the upstream flag for the latest version. Content hashes of two entries are
 * equal if their served content is equal. An equal text hash shows that an entry is unchanged, without sorting its
 * members.
 */
function hashesOf(entry: CatalogueEntry, known: Stored | undefined): Pick<VersionRow, 'contentHash' | 'textHash'> {
  const { isLatest: _, ...content } = entry;
  const textHash = sha256(JSON.stringify(content));
  return { textHash, contentHash: known?.textHash === textHash ? known.contentHash : digest(content) };
}

function fateOf(row: VersionRow, stored: Stored | undefined): Fate {
  if (stored === undefined) return 'created';
  const { status } = row.entry;
  if (stored.status === 'deleted' && status !== 'deleted') return 'created';
  const same = stored.contentHash === row.contentHash && stored.status === status && stored.isLatest === row.isLatest;
  return same ? 'unchanged' : 'updated';
}

function isLive({ entry }: Pick<VersionRow, 'entry'>): boolean {
  return entry.status !== 'deleted';
}

interface Candidate extends VersionId {
  readonly isLatest: boolean | undefined;
  readonly publishedAt: string;
}

function candidateOf({ entry, publishedAt }: Pick<VersionRow, 'entry' | 'publishedAt'>): Candidate {
  return { name: entry.name, version: entry.version, isLatest: entry.isLatest, publishedAt };
}

/** Returns one latest version per name: a live version, or a deleted version if no version is live. */
function latestIds(live: readonly Candidate[], gone: readonly Candidate[]): ReadonlySet<string> {
  const byName = new Map([...Map.groupBy(gone, ({ name }) => name), ...Map.groupBy(live, ({ name }) => name)]);
  return new Set(
    [...byName.values()].flatMap((versions) => {
      const latest = latestOf(versions);
      return latest === undefined ? [] : [entryKey(latest)];
    }),
  );
}

/** Returns a unique key, because names contain no blanks. */
function entryKey({ name, version }: VersionId): string {
  return `${name} ${version}`;
}

function count(fates: readonly Fate[], fate: Fate): number {
  return fates.filter((each) => each === fate).length;
}
