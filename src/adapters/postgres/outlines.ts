// Keeps the outlines of sources up to date: reads them once, then only later writes. A list is filtered in the outline,
// and its documents are read in one statement that also reports whether the outline was out of date.

import assert from 'node:assert/strict';
import type pg from 'pg';
import type { FacetQuery, Facets, ListPage, ListQuery, SourceKey } from '#registry/catalogue/ports.ts';
import { facetsOf } from './facets.ts';
import { findVersions, merged, type Outlined, positionOf } from './outline.ts';
import type { Pool } from './pool.ts';
import { readCatalogueEntries, readCatalogueRevision, readOutline } from './read.ts';

interface Kept {
  /** The versions in order. */
  readonly outlined: readonly Outlined[];
  /** The outline has this revision or a later one. */
  readonly revision: string;
  /** The latest of all `updatedAt`. */
  readonly newest: number;
}

export interface Outlines {
  list(key: SourceKey, query: ListQuery): Promise<ListPage>;
  facets(key: SourceKey, query?: FacetQuery): Promise<Facets>;
}

/** Attempts. If a source is written between the two statements each time, a snapshot then reads everything. */
const TRIES = 3;

const LATEST: FacetQuery = { version: 'latest', includeDeleted: false };

const NOTHING: Kept = { revision: '', newest: 0, outlined: [] };

export function createOutlines(pool: Pool): Outlines {
  const kept = new Map<string, Kept>();
  const loading = new Map<string, Promise<Kept>>();

  /** Loads the outline. Callers that arrive meanwhile get the same outline, which may be older than they need. */
  function load(key: SourceKey, id: string): Promise<Kept> {
    const running = loading.get(id);
    if (running !== undefined) return running;
    const own = pool
      .transaction((client) => upToDate(client, key, kept.get(id) ?? NOTHING))
      .then((outline) => {
        kept.set(id, outline);
        return outline;
      })
      .finally(() => loading.delete(id));
    loading.set(id, own);
    return own;
  }

  /** Returns the result of `read` for an outline that turns out to be current. */
  async function current<T>(key: SourceKey, read: Reading<T>): Promise<T> {
    const id = formatSourceKey(key);
    for (let run = 1; run <= TRIES; run += 1) {
      const outline = kept.get(id) ?? (await load(key, id));
      const { revision, value } = await pool.use((client) => read(client, outline));
      if (revision === outline.revision && value !== undefined) return value;
      // The revision is equal, but the version cannot be found, so the database was replaced, for example by a backup.
      if (revision === outline.revision) kept.delete(id);
      await load(key, id);
    }
    return pool.snapshot(async (client) => {
      const { value } = await read(client, await upToDate(client, key, NOTHING));
      assert(value !== undefined, 'a snapshot is consistent');
      return value;
    });
  }

  return {
    list: (key, query) =>
      current(key, async (client, outline) => {
        const { ids, more } = findVersions(outline.outlined, query);
        const { revision, entries, found } = await readCatalogueEntries(client, key, ids);
        const last = more || entries.length < found ? ids[entries.length - 1] : undefined;
        const page = { revision, entries, ...(last && { next: positionOf(last, query.sort) }) };
        return { revision, value: found === ids.length ? page : undefined };
      }),
    facets: (key, query = LATEST) =>
      current(key, async (client, outline) => {
        const revision = await readCatalogueRevision(client, key);
        return { revision, value: revision === outline.revision ? facetsOf(outline.outlined, query) : undefined };
      }),
  };
}

type Reading<T> = (client: pg.Client, outline: Kept) => Promise<Checked<T>>;

interface Checked<T> {
  /** Revision of the database. */
  readonly revision: string;
  /** Undefined if a version of the outline does not exist. */
  readonly value: T | undefined;
}

/** Reads the revision first: later writes are read twice, which does no harm. */
async function upToDate(client: pg.Client, key: SourceKey, before: Kept): Promise<Kept> {
  const revision = await readCatalogueRevision(client, key);
  if (revision === before.revision) return before;
  const [sourceId = '', count] = revision.split('.', 2);
  if (count === undefined) return { ...NOTHING, revision };
  const [idBefore, countBefore] = before.revision.split('.', 2);
  const isLater = idBefore === sourceId && Number(countBefore) < Number(count);
  const changes = await readOutline(client, sourceId, isLater ? before.newest : undefined);
  const newest = changes.reduce((latest, { updatedAt }) => Math.max(latest, updatedAt), isLater ? before.newest : 0);
  return { revision, newest, outlined: isLater ? merged(before.outlined, changes) : changes };
}

function formatSourceKey({ namespace, registry, source }: SourceKey): string {
  return JSON.stringify([namespace, registry, source]);
}
