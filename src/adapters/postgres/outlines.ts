// Keeps an outline of each source current: its versions without their documents. Reads an outline completely once, then
// only later changes. A list is filtered in the outline. One statement then reads the documents of the list and the
// revision, which shows whether the outline was current.

import assert from 'node:assert/strict';
import type pg from 'pg';
import type { FacetQuery, Facets, ListPage, ListQuery, SourceKey } from '#registry/catalogue/ports.ts';
import { facetsOf } from './facets.ts';
import { findVersions, merged, type Outlined, positionOf } from './outline.ts';
import type { Pool } from './pool.ts';
import { readCatalogueEntries, readCatalogueRevision, readOutline } from './read.ts';

interface SourceOutline {
  /** The versions, sorted. */
  readonly outlined: readonly Outlined[];
  /** The outline includes at least this revision. */
  readonly revision: string;
  /** The latest `updatedAt` of all versions. */
  readonly newest: number;
}

export interface Outlines {
  list(key: SourceKey, query: ListQuery): Promise<ListPage>;
  facets(key: SourceKey, query?: FacetQuery): Promise<Facets>;
}

/** Maximum number of attempts. If the source changes during each attempt, everything is read in one snapshot. */
const TRIES = 3;

const LATEST: FacetQuery = { version: 'latest', includeDeleted: false };

const NOTHING: SourceOutline = { revision: '', newest: 0, outlined: [] };

export function createOutlines(pool: Pool): Outlines {
  const kept = new Map<string, SourceOutline>();
  const loading = new Map<string, Promise<SourceOutline>>();

  /** Loads the outline. Concurrent callers share one load, whose result may be older than they need. */
  function load(key: SourceKey, id: string): Promise<SourceOutline> {
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

  /** Calls `read` until the outline that it used was current, and returns its result. */
  async function current<T>(key: SourceKey, read: OutlineQuery<T>): Promise<T> {
    const id = formatSourceKey(key);
    for (let run = 1; run <= TRIES; run += 1) {
      const outline = kept.get(id) ?? (await load(key, id));
      const { revision, value } = await pool.use((client) => read(client, outline));
      if (revision === outline.revision && value !== undefined) return value;
      // A version is missing although the revision is equal, so the database was replaced, such as by a backup.
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

type OutlineQuery<T> = (client: pg.Client, outline: SourceOutline) => Promise<OutlineResult<T>>;

interface OutlineResult<T> {
  readonly revision: string;
  /** undefined if a version of the outline does not exist in the database. */
  readonly value: T | undefined;
}

/**
 * Updates an outline. Reads the revision before the changes. If a change is written between these two reads, the next
 * update reads the change again without effect.
 */
async function upToDate(client: pg.Client, key: SourceKey, before: SourceOutline): Promise<SourceOutline> {
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
