// Syncing a registry into the database, beside a bare insert of the same rows.

import assert from 'node:assert/strict';
import type pg from 'pg';
import { connect } from '#adapters/postgres/connect.ts';
import { openPool } from '#adapters/postgres/pool.ts';
import { createStore, type Store } from '#adapters/postgres/store.ts';
import type { SourceFormat } from '#contracts/registry/source.ts';
import { type SyncOutcome, syncSource } from '#registry/catalogue/sync.ts';
import { openBenchDatabase } from './database.ts';
import { registryOf } from './manifests.ts';
import { medians } from './measure.ts';
import type { Place } from './sections.ts';
import type { Report } from './table.ts';

const ENTRIES = 10_000;
const ROUNDS = 3;
export const REGISTRY = { namespace: 'fleet', registry: 'catalogue' };

export async function benchCatalogue({ folder }: Place): Promise<Report> {
  const database = await openBenchDatabase(folder);
  const store = createStore(openPool(database.app));
  const { client } = await connect(database.migrator);
  try {
    const text = JSON.stringify(registryOf(ENTRIES));
    const kept = await syncText(store, 'kept', text);
    const insert = await bareInsert(client, kept);
    let round = 0;
    const { first, unchanged, one, percent, bare } = await medians(ROUNDS, {
      first: async () => expectWritten(await syncText(store, `first-${round++}`, text), { created: ENTRIES }),
      unchanged: async () => expectWritten(await syncText(store, 'kept', text, kept), undefined),
      one: await inTurns(store, 'one', text, 1),
      percent: await inTurns(store, 'percent', text, ENTRIES / 100),
      bare: insert,
    });
    const written = await rowsOfLastWrite(client, 'percent');
    assert.equal(written, ENTRIES / 100);
    const against = 'insert ... select unnest';
    const row = (what: string, ours: number) => ({ name: `sync of ${ENTRIES} entries, ${what}`, ours, baseline: bare });
    const rows = [
      row('first', first),
      row('unchanged', unchanged),
      row('one changed', one),
      row(`1 % changed: ${written} rows written`, percent),
    ];
    return { rows: rows.map((each) => ({ ...each, unit: 'ms', against })), notices: [] };
  } finally {
    await client.end();
    await store.close();
    await database.stop();
  }
}

/** Syncs the text with so many descriptions changed, then as it was, and so on: each time so many entries change. */
async function inTurns(store: Store, source: string, text: string, updated: number): Promise<() => Promise<void>> {
  const changed = withChanges(text, updated);
  let last = await syncText(store, source, text);
  let isChanged = false;
  return async () => {
    isChanged = !isChanged;
    last = await syncText(store, source, isChanged ? changed : text, last);
    expectWritten(last, { created: 0, updated, removed: 0 });
  };
}

/** Evenly over the text. */
function withChanges(text: string, count: number): string {
  const [head = '', ...rest] = text.split(DESCRIPTION);
  const every = Math.floor(rest.length / count);
  return [head, ...rest.map((part, at) => (at % every === 0 && at / every < count ? `Now: ${part}` : part))].join(
    DESCRIPTION,
  );
}

const DESCRIPTION = '"description":"';

/** As PostgreSQL tells it: the rows that its newest transaction on them wrote. */
async function rowsOfLastWrite(client: pg.Client, source: string): Promise<number> {
  const { rows } = await client.query<{ count: string }>(
    `select count(*) from catalogue_entry e join catalogue_source s on s.id = e.source_id where s.source = $1
     group by e.xmin order by max(e.updated_at) desc limit 1`,
    [source],
  );
  return Number(rows[0]?.count);
}

/** As the reconciler does when the source is due. */
export function syncText(
  store: Store,
  source: string,
  text: string,
  before?: SyncOutcome,
  format: SourceFormat = 'toolhive',
): Promise<SyncOutcome> {
  const filter = { include: [], exclude: [] };
  return syncSource(
    {
      source: { read: async () => ({ documents: [{ text, location: 'registry.json' }], extent: 'whole' }) },
      writer: store,
      now: Date.now,
    },
    {
      key: { ...REGISTRY, source },
      source: {
        name: source,
        format,
        origin: { type: 'configMap', name: source, key: 'registry.json' },
        filter: { names: filter, tags: filter },
      },
      state: before?.state,
      trigger: undefined,
      now: Date.now(),
      signal: new AbortController().signal,
    },
  );
}

function expectWritten({ written, problems }: SyncOutcome, expected: object | undefined): void {
  assert.deepEqual(problems, []);
  if (expected === undefined) assert.equal(written, undefined);
  else assert.partialDeepStrictEqual(written, expected);
}

/** Inserts the rows that a sync made once more, into a table with the same columns and indexes, in one statement. */
async function bareInsert(client: pg.Client, { key }: SyncOutcome): Promise<() => Promise<void>> {
  await client.query('create table bare (like catalogue_entry including all)');
  const { rows: columns } = await client.query<{ name: string; type: string }>(
    `select attname as name, format_type(atttypid, atttypmod) as type from pg_attribute
     where attrelid = 'catalogue_entry'::regclass and attnum > 0 and not attisdropped and attname <> 'source_id'`,
  );
  const texts = columns.map(({ name }) => `e.${name}::text`).join(', ');
  const { rows } = await client.query<(string | null)[]>({
    text: `select ${texts} from catalogue_entry e join catalogue_source s on s.id = e.source_id where s.source = $1`,
    values: [key.source],
    rowMode: 'array',
  });
  assert.equal(rows.length, ENTRIES);
  const values = columns.map((_, column) => rows.map((row) => row[column]));
  const names = columns.map(({ name }) => name).join(', ');
  const casts = columns.map(({ name, type }) => `u.${name}::${type}`).join(', ');
  const arrays = columns.map((_, column) => `$${column + 2}::text[]`).join(', ');
  let source = 0;
  return async () => {
    source += 1;
    const statement = `insert into bare (source_id, ${names}) select $1, ${casts} from unnest(${arrays}) as u(${names})`;
    await client.query(statement, [source, ...values]);
  };
}
