// The outlines of sources, kept up to date: read once, then only what was written since. Lists are found in them and read
// from the database, in one statement that also says whether the outline was out of date.

import type pg from 'pg';
import type { Facets, ListPage, ListQuery, SourceKey } from '../../catalogue/ports.ts';
import { facetsOf, find, merged, type Outline, outlineFrom } from './outline.ts';
import type { Pool } from './pool.ts';
import { entriesOf, outlineOf, revisionOf } from './read.ts';

interface Kept extends Outline {
  /** It is of this revision or a later one. */
  readonly revision: string;
  /** Of all `updatedAt`. */
  readonly newest: number;
}

export interface Outlines {
  list(key: SourceKey, query: ListQuery): Promise<ListPage>;
  facets(key: SourceKey): Promise<Facets>;
}

/** A source that is written more often than it can be read is served as it was a moment ago. */
const TRIES = 3;

const NOTHING: Kept = { revision: '', newest: 0, ...outlineFrom([]) };

export function createOutlines(pool: Pool): Outlines {
  const kept = new Map<string, Kept>();
  const loading = new Map<string, Promise<Kept>>();

  /** Those who come while it is loaded get the same one, which may be older than they need. */
  function load(key: SourceKey, id: string): Promise<Kept> {
    const running = loading.get(id);
    if (running !== undefined) return running;
    const own = pool
      .use((client) => upToDate(client, key, kept.get(id) ?? NOTHING))
      .then((outline) => {
        kept.set(id, outline);
        return outline;
      })
      .finally(() => loading.delete(id));
    loading.set(id, own);
    return own;
  }

  return {
    async list(key, query) {
      const id = idOf(key);
      for (let run = 1; ; run += 1) {
        const outline = kept.get(id) ?? (await load(key, id));
        const { ids, more } = find(outline, query);
        const { revision, entries } = await pool.use((client) => entriesOf(client, key, ids));
        if (revision === outline.revision || run === TRIES) return { entries, more };
        await load(key, id);
      }
    },
    async facets(key) {
      const id = idOf(key);
      const known = kept.get(id);
      const isCurrent = known !== undefined && (await pool.use((client) => revisionOf(client, key))) === known.revision;
      return facetsOf(isCurrent ? known : await load(key, id));
    },
  };
}

/** The revision goes first: what is written after it is read comes twice, which does no harm. */
async function upToDate(client: pg.Client, key: SourceKey, before: Kept): Promise<Kept> {
  const revision = await revisionOf(client, key);
  if (revision === before.revision) return before;
  const [sourceId = ''] = revision.split('.', 1);
  const isSame = before.revision.startsWith(`${sourceId}.`);
  if (!revision.includes('.')) return { ...NOTHING, revision };
  const changes = await outlineOf(client, sourceId, isSame ? before.newest : undefined);
  const newest = changes.reduce((latest, { updatedAt }) => Math.max(latest, updatedAt), isSame ? before.newest : 0);
  return { revision, newest, ...outlineFrom(isSame ? merged(before.outlined, changes) : changes) };
}

function idOf({ namespace, registry, source }: SourceKey): string {
  return JSON.stringify([namespace, registry, source]);
}
