// Syncing a registry into the database, beside a bare insert of the same rows.

import assert from 'node:assert/strict';
import type pg from 'pg';
import { connect } from '../../src/adapters/postgres/connect.ts';
import { openPool } from '../../src/adapters/postgres/pool.ts';
import { createStore, type Store } from '../../src/adapters/postgres/store.ts';
import { type SyncOutcome, syncSource } from '../../src/catalogue/sync.ts';
import type { SourceFormat } from '../../src/contracts/registry-source.ts';
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
    const [text, changed] = texts();
    const kept = await syncText(store, 'kept', text);
    const insert = await bareInsert(client, kept);
    let round = 0;
    let last = await syncText(store, 'changing', text);
    const { first, unchanged, one, bare } = await medians(ROUNDS, {
      first: async () => expectWritten(await syncText(store, `first-${round++}`, text), { created: ENTRIES }),
      unchanged: async () => expectWritten(await syncText(store, 'kept', text, kept), undefined),
      one: async () => {
        last = await syncText(store, 'changing', round % 2 === 0 ? text : changed, last);
        expectWritten(last, { created: 0, updated: 1 });
      },
      bare: insert,
    });
    const against = 'insert ... select unnest';
    const row = (what: string, ours: number) => ({ name: `sync of ${ENTRIES} entries, ${what}`, ours, baseline: bare });
    const rows = [row('first', first), row('unchanged', unchanged), row('one changed', one)];
    return { rows: rows.map((each) => ({ ...each, unit: 'ms', against })), notices: [] };
  } finally {
    await client.end();
    await store.close();
    await database.stop();
  }
}

/** The registry, and the same with another description in the midst of it. */
function texts(): readonly [string, string] {
  const text = JSON.stringify(registryOf(ENTRIES));
  const at = text.indexOf('"description":"', text.length / 2) + '"description":"'.length;
  return [text, `${text.slice(0, at)}Now: ${text.slice(at)}`];
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

const COLUMNS = [
  ['name', 'text'],
  ['version', 'text'],
  ['document', 'json'],
  ['title', 'text'],
  ['description', 'text'],
  ['tags', 'text[]'],
  ['status', 'text'],
  ['tier', 'text'],
  ['transports', 'text[]'],
  ['images', 'text[]'],
  ['upstream_latest', 'boolean'],
  ['is_latest', 'boolean'],
  ['published_at', 'timestamptz'],
  ['updated_at', 'timestamptz'],
  ['content_hash', 'text'],
  ['search', 'text'],
] as const;

/** Inserts the rows that a sync made once more, into a table with the same columns and indexes, in one statement. */
async function bareInsert(client: pg.Client, { key }: SyncOutcome): Promise<() => Promise<void>> {
  await client.query('create table bare (like catalogue_entry including all)');
  const texts = COLUMNS.map(([name]) => `e.${name}::text`).join(', ');
  const { rows } = await client.query<(string | null)[]>({
    text: `select ${texts} from catalogue_entry e join catalogue_source s on s.id = e.source_id where s.source = $1`,
    values: [key.source],
    rowMode: 'array',
  });
  assert.equal(rows.length, ENTRIES);
  const values = COLUMNS.map((_, column) => rows.map((row) => row[column]));
  const names = COLUMNS.map(([name]) => name).join(', ');
  const casts = COLUMNS.map(([name, type]) => `u.${name}::${type}`).join(', ');
  const arrays = COLUMNS.map((_, column) => `$${column + 2}::text[]`).join(', ');
  let source = 0;
  return async () => {
    source += 1;
    const statement = `insert into bare (source_id, ${names}) select $1, ${casts} from unnest(${arrays}) as u(${names})`;
    await client.query(statement, [source, ...values]);
  };
}
