// Tests how the store serves readers and writers of a catalogue, with a real PostgreSQL. In one file, because the tests
// share one database, the same few tables, and the functions that write entries and states.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { SourceState } from '#contracts/catalogue-state.ts';
import type { CatalogueEntry, StoredEntry } from '#registry/catalogue/entry.ts';
import type { ListQuery, SourceKey } from '#registry/catalogue/ports.ts';
import { Failure } from '#std/failure.ts';
import type { JsonObject } from '#std/json.ts';
import { createTestDatabase, type TestDatabase } from '../../../test/harness/database.ts';
import { connect } from './connect.ts';
import { openPool } from './pool.ts';
import { createStore, type Store } from './store.ts';

let database: TestDatabase;
let store: Store;
let key: SourceKey;
let count = 0;

beforeAll(async () => {
  database = await createTestDatabase();
  store = createStore(openPool(database.app));
});
beforeEach(() => {
  count += 1;
  key = { namespace: 'team', registry: `registry-${count}`, source: 'main' };
});
afterAll(async () => {
  await store?.close();
  await database?.drop();
});

const T1 = '2026-01-01T00:00:00.000Z';
const T2 = '2026-01-02T00:00:00.000Z';
const T3 = '2026-01-03T00:00:00.000Z';

function entry(name: string, more: Partial<CatalogueEntry> = {}): CatalogueEntry {
  const { version = '1.0.0', description = `About ${name}`, title } = more;
  return {
    name: `io.acme/${name}`,
    version,
    document: { name: `io.acme/${name}`, description, version, ...(title === undefined ? {} : { title }) },
    description,
    tags: [],
    status: 'active',
    transports: [],
    images: [],
    ...more,
  };
}

function state(more: Partial<SourceState> = {}): SourceState {
  return { phase: 'Complete', message: '', attemptCount: 0, serverCount: 0, rejectedCount: 0, ...more };
}

const ALL: ListQuery = { limit: 100, includeDeleted: true };
const LIVE: ListQuery = { limit: 100, includeDeleted: false };

async function ids(query: ListQuery): Promise<string[]> {
  const { entries } = await store.list(key, query);
  return entries.map(({ name, version, status, isLatest }) => {
    const marks = `${status === 'deleted' ? ' deleted' : ''}${isLatest ? ' latest' : ''}`;
    return `${name.slice('io.acme/'.length)} ${version}${marks}`;
  });
}

/** Returns the physical rows. An unchanged row keeps its xmin and ctid. */
function rows(): Promise<{ name: string; xmin: string; ctid: string; updated_at: Date }[]> {
  return database.sql(
    `select e.name, e.xmin::text, e.ctid::text, e.updated_at from catalogue_entry e
     join catalogue_source s on s.id = e.source_id where s.registry = $1 order by e.name, e.version`,
    [key.registry],
  );
}

async function failureOf(promise: Promise<unknown>): Promise<Failure> {
  const outcome: unknown = await promise.then(
    (value) => `resolved: ${JSON.stringify(value)}`,
    (error: unknown) => error,
  );
  expect(outcome).toBeInstanceOf(Failure);
  return outcome as Failure;
}

describe('written entries are read', () => {
  test('one by one, with the members of the document in their order', async () => {
    const document = {
      z: 1,
      name: 'io.acme/full',
      a: { '10': true, b: ['ü', '\u0000 escaped', '\ud800'], c: null },
      n: 1.5e300,
    };
    const full = entry('full', {
      document,
      title: 'Full',
      tags: ['a', 'b "quoted", {braced}', ''],
      status: 'deprecated',
      tier: 'Official',
      transports: ['stdio', 'sse'],
      images: ['images.example.com/full:1'],
      publishedAt: '2020-02-02T02:02:02.123Z',
    });
    expect(await store.replace(key, [full], state(), () => T1)).toEqual({
      created: 1,
      updated: 0,
      removed: 0,
      unchanged: 0,
      held: 0,
    });
    const { entries } = await store.list(key, LIVE);
    const { name, version, status, publishedAt } = full;
    expect(entries).toEqual([
      {
        ...{ name, version, status, publishedAt },
        document: JSON.stringify(document),
        isLatest: true,
        statusChangedAt: publishedAt,
        updatedAt: T1,
      },
    ]);
    const [row] = await database.sql(
      `select title, description, tags, tier, transports, images from catalogue_entry e
       join catalogue_source s on s.id = e.source_id where s.registry = $1`,
      [key.registry],
    );
    const { title, description, tags, tier, transports, images } = full;
    expect(row).toEqual({ title, description, tags, tier, transports, images });
  });

  test('the status has its time and its reason', async () => {
    async function status(): Promise<unknown> {
      const found = await store.version(key, 'io.acme/a', '1.0.0', true);
      return [found?.status, found?.statusChangedAt, found?.statusMessage];
    }
    await store.replace(key, [entry('a', { publishedAt: T1 })], state(), () => T1);
    expect(await status()).toEqual(['active', T1, undefined]);
    const deprecated = entry('a', { publishedAt: T1, status: 'deprecated', statusMessage: 'Use b' });
    await store.replace(key, [deprecated], state(), () => T2);
    expect(await status()).toEqual(['deprecated', T2, 'Use b']);
    await store.replace(key, [{ ...deprecated, title: 'New' }], state(), () => T3);
    expect(await status()).toEqual(['deprecated', T2, 'Use b']);
    await store.replace(key, [{ ...deprecated, statusChangedAt: T1 }], state(), () => T3);
    expect(await status()).toEqual(['deprecated', T1, 'Use b']);
    await store.replace(key, [], state(), () => '2026-01-04T00:00:00.000Z');
    expect(await status()).toEqual(['deleted', '2026-01-04T00:00:00.000Z', undefined]);
  });

  test('an entry without a publication time is published at its first sync, and later syncs keep this time', async () => {
    await store.replace(key, [entry('a')], state(), () => T1);
    await store.replace(key, [entry('a', { title: 'New' })], state(), () => T2);
    expect(await store.version(key, 'io.acme/a', 'latest', false)).toMatchObject({
      document: expect.stringContaining('"title":"New"'),
      publishedAt: T1,
      updatedAt: T2,
    });
  });

  test('with the sync state of each source', async () => {
    const full = state({
      phase: 'Failed',
      message: 'odd \u0000 text',
      lastAttempt: T2,
      attemptCount: 3,
      lastSyncTime: T1,
      lastSyncHash: 'abc',
      filterHash: 'def',
      declarationHash: 'ghi',
      serverCount: 5,
      rejectedCount: 2,
      trigger: 'now',
    });
    await store.record(key, full);
    await store.record({ ...key, source: 'bare' }, state());
    expect(await store.states(key)).toEqual({ bare: state(), main: { ...full, message: 'odd \ufffd text' } });
    expect(await store.states({ namespace: 'other', registry: key.registry })).toEqual({});
  });

  test('in large numbers', async () => {
    const many = Array.from({ length: 1234 }, (_, index) => entry(`s${String(index).padStart(4, '0')}`));
    expect((await store.replace(key, many, state(), () => T1)).created).toBe(1234);
    expect((await store.replace(key, many.slice(1), state(), () => T2)).removed).toBe(1);
    const [row] = await database.sql<{ n: string }>('select count(*) as n from catalogue_entry where status = $1', [
      'active',
    ]);
    expect(Number(row?.n)).toBeGreaterThanOrEqual(1233);
  });
});

describe('only changes are written', () => {
  test('equal entries write no row and keep times and revision', async () => {
    const entries = [entry('a'), entry('b'), entry('b', { version: '2.0.0' })];
    await store.replace(key, entries, state(), () => T1);
    const before = { rows: await rows(), revision: await store.revision(key) };
    const written = await store.replace(key, structuredClone(entries).reverse(), state({ lastAttempt: T2 }), () => T2);
    expect(written).toEqual({ created: 0, updated: 0, removed: 0, unchanged: 3, held: 0 });
    expect({ rows: await rows(), revision: await store.revision(key) }).toEqual(before);
    expect((await store.states(key)).main?.lastAttempt).toBe(T2);
  });

  test('a different order of members is not a change', async () => {
    await store.replace(key, [entry('a', { document: { x: 1, y: 2 } })], state(), () => T1);
    const before = await rows();
    await store.replace(key, [entry('a', { document: { y: 2, x: 1 } })], state(), () => T2);
    expect(await rows()).toEqual(before);
  });

  test('the upstream mark of the latest version is not a change if the version was already the latest', async () => {
    await store.replace(key, [entry('a')], state(), () => T1);
    const before = await rows();
    await store.replace(key, [entry('a', { isLatest: true })], state(), () => T2);
    expect(await rows()).toEqual(before);
  });

  test('a change of an entry does not write the rows of other entries', async () => {
    await store.replace(key, [entry('a'), entry('b')], state(), () => T1);
    const [a] = await rows();
    const revision = await store.revision(key);
    const written = await store.replace(key, [entry('a'), entry('b', { title: 'New' })], state(), () => T2);
    expect(written).toEqual({ created: 0, updated: 1, removed: 0, unchanged: 1, held: 0 });
    expect((await rows())[0]).toEqual(a);
    expect(await store.revision(key)).not.toBe(revision);
    expect(await ids({ ...LIVE, updatedSince: T1 })).toEqual(['b 1.0.0 latest']);
  });

  test('recording a state changes neither rows nor revision', async () => {
    await store.replace(key, [entry('a')], state(), () => T1);
    const before = { rows: await rows(), revision: await store.revision(key) };
    await store.record(key, state({ phase: 'Failed', message: 'unreachable' }));
    expect({ rows: await rows(), revision: await store.revision(key) }).toEqual(before);
  });

  test('a page ends before its documents exceed the size limit, and the next page continues', async () => {
    const large = Array.from({ length: 30 }, (_, at) => {
      const made = entry(`large-${String(at).padStart(2, '0')}`);
      return { ...made, document: { ...made.document, pad: 'x'.repeat(250_000) } };
    });
    await store.replace(key, large, state(), () => T1);
    const names: string[] = [];
    let pages = 0;
    let after: ListQuery['after'];
    do {
      pages += 1;
      const page = await store.list(key, { ...LIVE, ...(after === undefined ? {} : { after }) });
      expect(page.entries.reduce((sum, { document }) => sum + document.length, 0)).toBeLessThan(4.2 * 1024 * 1024);
      names.push(...page.entries.map(({ name }) => name));
      after = page.next;
    } while (after !== undefined);
    expect({ pages, names }).toEqual({ pages: 2, names: large.map(({ name }) => name) });
  });

  test('the time of a change is the end of the write, when readers begin to see the change', async () => {
    const times = [T1, T2, T3];
    await store.replace(key, [entry('a')], state(), () => times.shift() ?? T3);
    expect(await ids({ ...LIVE, updatedSince: T2 })).toEqual(['a 1.0.0 latest']);
    expect(await store.version(key, 'io.acme/a', 'latest', false)).toMatchObject({ updatedAt: T3 });
  });

  test('times increase even if the clock of the writer is behind', async () => {
    await store.replace(key, [entry('a')], state(), () => T2);
    await store.replace(key, [entry('a', { title: 'New' })], state(), () => T1);
    expect(await ids({ ...LIVE, updatedSince: T2 })).toEqual(['a 1.0.0 latest']);
  });
});

describe('a removed version becomes a tombstone', () => {
  test('that is listed only on request, and becomes active again when the version returns', async () => {
    await store.replace(key, [entry('a'), entry('b')], state(), () => T1);
    expect((await store.replace(key, [entry('b')], state(), () => T2)).removed).toBe(1);
    expect(await ids(LIVE)).toEqual(['b 1.0.0 latest']);
    expect(await ids({ ...ALL, updatedSince: T1 })).toEqual(['a 1.0.0 deleted latest']);
    expect(await store.version(key, 'io.acme/a', '1.0.0', false)).toBeUndefined();
    expect(await store.version(key, 'io.acme/a', 'latest', false)).toBeUndefined();
    expect(await store.version(key, 'io.acme/a', 'latest', true)).toMatchObject({ status: 'deleted', isLatest: true });
    expect(await ids({ ...ALL, version: 'latest', updatedSince: T1 })).toEqual(['a 1.0.0 deleted latest']);
    expect((await store.facets(key)).statuses).toEqual([{ value: 'active', count: 1 }]);
    expect(await store.versions(key, 'io.acme/a', false)).toEqual([]);
    expect(await store.versions(key, 'io.acme/a', true)).toMatchObject([{ status: 'deleted', updatedAt: T2 }]);

    const again = await rows();
    expect((await store.replace(key, [entry('b')], state(), () => T3)).removed).toBe(0);
    expect(await rows()).toEqual(again);

    expect((await store.replace(key, [entry('a'), entry('b')], state(), () => T3)).created).toBe(1);
    expect(await store.version(key, 'io.acme/a', 'latest', false)).toMatchObject({ publishedAt: T1, updatedAt: T3 });
  });

  test('and the latest version remains the latest after all versions are removed', async () => {
    const [old, recent] = [entry('a', { version: '1.0.0' }), entry('a', { version: '2.0.0' })];
    await store.replace(key, [old, recent], state(), () => T1);
    await store.replace(key, [old], state(), () => T2);
    expect(await ids(ALL)).toEqual(['a 1.0.0 latest', 'a 2.0.0 deleted']);
    await store.replace(key, [], state(), () => T2);
    expect(await ids(ALL)).toEqual(['a 1.0.0 deleted latest', 'a 2.0.0 deleted']);
    const before = await rows();
    await store.replace(key, [], state(), () => T3);
    expect(await rows()).toEqual(before);
    await store.replace(key, [recent], state(), () => T3);
    expect(await ids(ALL)).toEqual(['a 1.0.0 deleted', 'a 2.0.0 latest']);
  });

  test('an empty content removes all versions', async () => {
    await store.replace(key, [entry('a'), entry('b')], state(), () => T1);
    expect((await store.replace(key, [], state(), () => T2)).removed).toBe(2);
    expect(await ids(LIVE)).toEqual([]);
  });

  test('a held version is kept unchanged', async () => {
    await store.replace(key, [entry('a'), entry('b'), entry('c')], state(), () => T1);
    const before = await rows();
    const written = await store.replace(
      key,
      [entry('c')],
      state(),
      () => T2,
      (name) => name === 'io.acme/a',
    );
    expect(written).toEqual({ created: 0, updated: 0, removed: 1, unchanged: 1, held: 1 });
    expect(await ids(LIVE)).toEqual(['a 1.0.0 latest', 'c 1.0.0 latest']);
    expect((await rows())[0]).toEqual(before[0]);
  });

  test('a version that the source marks as deleted is also a tombstone', async () => {
    await store.replace(key, [entry('a', { status: 'deleted' }), entry('a', { version: '0.9.0' })], state(), () => T1);
    expect(await ids(ALL)).toEqual(['a 0.9.0 latest', 'a 1.0.0 deleted']);
    await store.replace(key, [entry('a', { status: 'deleted' })], state(), () => T2);
    expect(await ids(ALL)).toEqual(['a 0.9.0 deleted latest', 'a 1.0.0 deleted']);
  });

  test('removed sources keep no data', async () => {
    const other = { ...key, source: 'other' };
    await store.replace(key, [entry('a')], state(), () => T1);
    await store.replace(other, [entry('a')], state(), () => T1);
    const revision = await store.revision(key);
    await store.retain(key, ['other']);
    expect(await ids(ALL)).toEqual([]);
    expect(Object.keys(await store.states(key))).toEqual(['other']);
    expect(await rows()).toHaveLength(1);
    await store.replace(key, [entry('a')], state(), () => T1);
    expect(await store.revision(key)).not.toBe(revision);
    await store.retain(key, []);
    expect(await rows()).toEqual([]);
  });
});

describe('one version of each server is the latest', () => {
  test('and changes when versions are added or removed, as does the time of the affected versions', async () => {
    await store.replace(key, [entry('a', { version: '1.9.0' })], state(), () => T1);
    const written = await store.replace(
      key,
      [entry('a', { version: '1.9.0' }), entry('a', { version: '1.10.0' })],
      state(),
      () => T2,
    );
    expect(written).toEqual({ created: 1, updated: 1, removed: 0, unchanged: 0, held: 0 });
    expect(await ids(ALL)).toEqual(['a 1.10.0 latest', 'a 1.9.0']);
    expect(await ids({ ...ALL, version: 'latest' })).toEqual(['a 1.10.0 latest']);
    expect((await store.version(key, 'io.acme/a', 'latest', false))?.version).toBe('1.10.0');

    await store.replace(key, [entry('a', { version: '1.9.0' })], state(), () => T3);
    expect(await ids(ALL)).toEqual(['a 1.10.0 deleted', 'a 1.9.0 latest']);
    expect(await ids({ ...LIVE, version: 'latest', updatedSince: T2 })).toEqual(['a 1.9.0 latest']);
  });

  test('the upstream mark takes precedence, even if it changes', async () => {
    const versions = (latest: string) =>
      ['1.0.0', '2.0.0', '3.0.0'].map((version) => entry('a', { version, isLatest: version === latest }));
    await store.replace(key, versions('1.0.0'), state(), () => T1);
    expect(await ids(ALL)).toEqual(['a 1.0.0 latest', 'a 2.0.0', 'a 3.0.0']);
    await store.replace(key, versions('2.0.0'), state(), () => T2);
    expect(await ids(ALL)).toEqual(['a 1.0.0', 'a 2.0.0 latest', 'a 3.0.0']);
  });

  test('held versions and their upstream marks are considered', async () => {
    await store.replace(
      key,
      [entry('a', { isLatest: true }), entry('a', { version: '2.0.0', isLatest: false })],
      state(),
      () => T1,
    );
    await store.replace(
      key,
      [entry('a', { version: '2.0.0', isLatest: false })],
      state(),
      () => T2,
      () => true,
    );
    expect(await ids(ALL)).toEqual(['a 1.0.0 latest', 'a 2.0.0']);
    await store.replace(
      key,
      [entry('a', { version: '2.0.0', isLatest: true })],
      state(),
      () => T3,
      (name) => name !== '',
    );
    expect(await ids(ALL)).toEqual(['a 1.0.0', 'a 2.0.0 latest'].toSorted());
  });

  test('and is the version that was added last if versions are not numbers', async () => {
    await store.replace(key, [entry('a', { version: 'zebra' })], state(), () => T1);
    await store.replace(key, [entry('a', { version: 'zebra' }), entry('a', { version: 'apple' })], state(), () => T2);
    expect(await ids(ALL)).toEqual(['a apple latest', 'a zebra']);
  });
});

describe('pages', () => {
  /** Reads all pages, of one entry each. */
  async function walk(query: Omit<ListQuery, 'limit'>, between: () => Promise<unknown> = async () => undefined) {
    const seen: string[] = [];
    let after: ListQuery['after'];
    for (;;) {
      const page = await store.list(key, { ...query, limit: 1, ...(after === undefined ? {} : { after }) });
      const last = page.entries.at(-1);
      if (last !== undefined) seen.push(`${last.name.slice('io.acme/'.length)} ${last.version}`);
      if (page.next === undefined) return seen;
      after = page.next;
      await between();
    }
  }

  test('are sorted by code point, and report whether more pages follow', async () => {
    const names = ['b', 'B', 'a-b', 'a.b', 'a_b', 'ab', 'a'];
    const entries = [
      ...names.map((name) => entry(name)),
      entry('a', { version: '1.10.0' }),
      entry('a', { version: '1.2.0' }),
    ];
    await store.replace(key, entries, state(), () => T1);
    const expected = [
      'B 1.0.0',
      'a 1.0.0',
      'a 1.10.0',
      'a 1.2.0',
      'a-b 1.0.0',
      'a.b 1.0.0',
      'a_b 1.0.0',
      'ab 1.0.0',
      'b 1.0.0',
    ];
    expect(await walk(LIVE)).toEqual(expected);
    expect((await store.list(key, { ...LIVE, limit: 9 })).next).toBeUndefined();
    expect((await store.list(key, { ...LIVE, limit: 8 })).next).toBeDefined();
  });

  test('neither skip nor repeat permanent versions while other versions are added, changed and removed', async () => {
    const stable = ['c', 'f', 'j', 'p'].map((name) => entry(name));
    await store.replace(key, [...stable, entry('a'), entry('e'), entry('h')], state(), () => T1);
    let round = 0;
    const seen = await walk(LIVE, async () => {
      round += 1;
      const moving = ['b', 'd', 'g', 'i', 'k'].map((name) => entry(name, { title: `Round ${round}` }));
      await store.replace(key, [...stable, ...moving.slice(round % 3)], state(), () => T2);
    });
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen).toEqual(expect.arrayContaining(stable.map(({ name }) => `${name.slice('io.acme/'.length)} 1.0.0`)));
    expect(seen).toEqual(seen.toSorted());
  });

  test('contain only versions of their source, registry and namespace', async () => {
    await store.replace(key, [entry('mine')], state(), () => T1);
    for (const other of [{ source: 'x' }, { registry: 'x' }, { namespace: 'x' }]) {
      await store.replace({ ...key, ...other }, [entry('other')], state(), () => T1);
    }
    expect(await ids(ALL)).toEqual(['mine 1.0.0 latest']);
  });
});

describe('the outline in memory', () => {
  test('includes the writes of every process: added, changed, removed and restored versions', async () => {
    const other = createStore(openPool(database.app));
    await store.replace(key, [entry('a'), entry('c')], state(), () => T1);
    expect(await ids(LIVE)).toEqual(['a 1.0.0 latest', 'c 1.0.0 latest']);
    await other.replace(key, [entry('b'), entry('c', { description: 'Other', tags: ['new'] })], state(), () => T2);
    expect(await ids(LIVE)).toEqual(['b 1.0.0 latest', 'c 1.0.0 latest']);
    expect(await ids(ALL)).toEqual(['a 1.0.0 deleted latest', 'b 1.0.0 latest', 'c 1.0.0 latest']);
    expect(await ids({ ...LIVE, search: 'other', tags: ['new'] })).toEqual(['c 1.0.0 latest']);
    expect((await store.facets(key)).tags).toEqual([{ value: 'new', count: 1 }]);
    await other.replace(key, [entry('a'), entry('a', { version: '2.0.0' })], state(), () => T3);
    expect(await ids(LIVE)).toEqual(['a 1.0.0', 'a 2.0.0 latest']);
    expect((await store.facets(key)).tags).toEqual([]);
    await other.close();
  });

  test('has another revision if the database was restored and reaches the same counter again', async () => {
    await store.replace(key, [entry('a')], state(), () => T1);
    await store.replace(key, [entry('a', { title: 'One' })], state(), () => T2);
    const lost = await store.revision(key);
    await database.sql('update catalogue_source set revision = revision - 1 where registry = $1', [key.registry]);
    await store.replace(key, [entry('a', { title: 'Two' })], state(), () => T2);
    expect(await store.revision(key)).not.toBe(lost);
    expect(lost.split('.').slice(0, 2)).toEqual((await store.revision(key)).split('.').slice(0, 2));
  });

  test('is read again if the source was removed and declared again, or if the database was replaced by an earlier copy', async () => {
    await store.replace(key, [entry('a')], state(), () => T1);
    const [{ id = '' } = {}] = await database.sql<{ id: string }>(
      'select id from catalogue_source where registry = $1',
      [key.registry],
    );
    await store.replace(key, [entry('b')], state(), () => T2);
    expect(await ids(LIVE)).toEqual(['b 1.0.0 latest']);
    await database.sql('update catalogue_source set revision = 0 where id = $1', [id]);
    await database.sql("delete from catalogue_entry where source_id = $1 and name like '%/b'", [id]);
    await database.sql("update catalogue_entry set status = 'active', is_latest = true where source_id = $1", [id]);
    expect(await ids(LIVE)).toEqual(['a 1.0.0 latest']);
    // The counter is equal, but a version is missing, so the database has another history.
    await database.sql('delete from catalogue_entry where source_id = $1', [id]);
    expect(await ids(LIVE)).toEqual([]);
    await store.retain(key, []);
    expect(await ids(LIVE)).toEqual([]);
    await store.replace(key, [entry('c')], state(), () => T1);
    expect(await ids(LIVE)).toEqual(['c 1.0.0 latest']);
  });

  function generation(number: number) {
    return ['a', 'b', 'c', 'd'].map((name) =>
      entry(name, { version: `${number % 3}.0.0`, title: `Generation ${number}` }),
    );
  }

  /** Returns the number of generations and of entries in a page. */
  async function look(reader: Pick<Store, 'list'>) {
    const { entries } = await reader.list(key, LIVE);
    return { entries: entries.length, generations: new Set(entries.map(titleOf)).size };
  }

  test('gives complete pages of one revision while another process writes continuously', async () => {
    const other = createStore(openPool(database.app));
    await other.replace(key, generation(0), state(), () => T1);
    let writing = true;
    const writer = (async () => {
      for (let number = 1; writing; number += 1) await other.replace(key, generation(number), state(), () => T1);
    })();
    try {
      for (let read = 0; read < 100; read += 1) expect(await look(store)).toEqual({ entries: 4, generations: 1 });
    } finally {
      writing = false;
      await writer;
      await other.close();
    }
  });

  test('gives complete pages even if a write precedes every read', async () => {
    const pool = openPool(database.app);
    let number = 0;
    async function useAfterWrite<T>(work: Parameters<typeof pool.use<T>>[0]): Promise<T> {
      number += 1;
      await store.replace(key, generation(number), state(), () => T1);
      return pool.use(work);
    }
    const reader = createStore({ ...pool, use: useAfterWrite });
    for (let read = 0; read < 5; read += 1) expect(await look(reader)).toEqual({ entries: 4, generations: 1 });
    await reader.close();
  });
});

function titleOf({ document }: StoredEntry): string {
  return JSON.parse(document).title;
}

describe('a search', () => {
  beforeEach(async () => {
    const entries = [
      entry('clock', { title: 'Uhr ÄÖÜ', description: 'Tells 100% of the time' }),
      entry('under_score', { description: 'C:\\path and ｆｕｌｌ width' }),
      entry('percent', { description: 'STRASSE İstanbul' }),
      entry('decomposed', { description: 'cafe\u0301' }),
    ];
    await store.replace(key, entries, state(), () => T1);
  });

  test.each([
    { search: 'clock', found: ['clock'], reason: 'looks into names' },
    { search: 'ACME/cl', found: ['clock'], reason: 'does not mind case, and looks at whole names' },
    { search: 'uhr äöü', found: ['clock'], reason: 'looks into titles, in every script' },
    { search: 'strasse', found: ['percent'], reason: 'looks into descriptions' },
    { search: '100%', found: ['clock'], reason: 'a percent sign is a character' },
    { search: '%', found: ['clock'], reason: 'and no wildcard' },
    { search: 'r_s', found: ['under_score'], reason: 'an underscore is a character' },
    { search: 'c_ock', found: [], reason: 'and no wildcard' },
    { search: 'c:\\p', found: ['under_score'], reason: 'a backslash is a character' },
    { search: 'caf\u00e9', found: ['decomposed'], reason: 'composed and decomposed letters are the same' },
    { search: 'clockuhr', found: [], reason: 'does not run from the name into the title' },
    { search: "'; drop table catalogue_entry; --", found: [], reason: 'is no SQL' },
    { search: '\0', found: [], reason: 'a character that cannot be stored is not found' },
    { search: '', found: ['clock', 'decomposed', 'percent', 'under_score'], reason: 'for nothing finds all' },
  ])('for "$search": $reason', async ({ search, found }) => {
    const { entries } = await store.list(key, { ...LIVE, search });
    expect(entries.map(({ name }) => name.slice('io.acme/'.length))).toEqual(found);
  });
});

describe('values of publishers', () => {
  function published(name: string, block: JsonObject, tags: readonly string[] = []): CatalogueEntry {
    const _meta = { 'io.modelcontextprotocol.registry/publisher-provided': { 'io.acme': { main: block } } };
    const plain = entry(name, { tags });
    return { ...plain, document: { ...plain.document, _meta } };
  }

  beforeEach(async () => {
    const entries = [
      published('clock', { tools: ['now', 'Convert_zone'], metadata: { stars: 7, pulls: 10 } }, ['time']),
      published('mail', { tool_definitions: [{ name: 'send' }], metadata: { last_updated: '2031-01-01T00:00:00Z' } }),
      published('odd', { tools: [null, 7], metadata: { stars: 'many', pulls: -1, last_updated: 'lately' } }),
      entry('plain'),
    ];
    await store.replace(key, entries, state(), () => T1);
  });

  test.each([
    { search: 'convert_ZONE', found: ['clock'], reason: 'the name of a tool' },
    { search: 'send', found: ['mail'], reason: 'the name of a tool that is described' },
    { search: 'zone time clo', found: ['clock'], reason: 'words of a tool, a tag and the name, in any order' },
    { search: 'zone mail', found: [], reason: 'all words' },
    { search: '   ', found: ['clock', 'mail', 'odd', 'plain'], reason: 'no word' },
  ])('can be searched: "$search" finds $found, by $reason', async ({ search, found }) => {
    const { entries } = await store.list(key, { ...LIVE, search });
    expect(entries.map(({ name }) => name.slice('io.acme/'.length))).toEqual(found);
    expect((await store.facets(key, { search, includeDeleted: false })).total).toBe(found.length);
  });

  test.each([
    { sort: 'stars' as const, first: 'io.acme/clock' },
    { sort: 'pulls' as const, first: 'io.acme/clock' },
    { sort: 'changed' as const, first: 'io.acme/mail' },
  ])('sort lists: $sort', async ({ sort, first }) => {
    const { entries } = await store.list(key, { ...LIVE, sort });
    expect(entries.map(({ name }) => name)).toHaveLength(4);
    expect(entries[0]?.name).toBe(first);
  });
});

describe('other queries', () => {
  test('by time: strictly later, with any time zone, even in the year 0', async () => {
    await store.replace(key, [entry('a')], state(), () => T1);
    expect(await ids({ ...LIVE, updatedSince: T1 })).toEqual([]);
    expect(await ids({ ...LIVE, updatedSince: '2026-01-01T00:59:59.999+01:00' })).toEqual(['a 1.0.0 latest']);
    expect(await ids({ ...LIVE, updatedSince: '0000-01-01T00:00:00Z' })).toEqual(['a 1.0.0 latest']);
  });

  test('by version, for all servers', async () => {
    await store.replace(key, [entry('a'), entry('b', { version: '2.0.0' }), entry('c')], state(), () => T1);
    expect(await ids({ ...LIVE, version: '1.0.0' })).toEqual(['a 1.0.0 latest', 'c 1.0.0 latest']);
  });

  test('the versions of a server, by publication time, then by version, highest first', async () => {
    const entries = [
      entry('a', { version: '1.0.0', publishedAt: T3 }),
      entry('a', { version: '1.2.0', publishedAt: T1 }),
      entry('a', { version: '1.9.0', publishedAt: T1 }),
      entry('a', { version: '1.10.0', publishedAt: T1 }),
      entry('ab'),
    ];
    await store.replace(key, entries, state(), () => T3);
    const versions = await store.versions(key, 'io.acme/a', false);
    expect(versions.map(({ version }) => version)).toEqual(['1.0.0', '1.10.0', '1.9.0', '1.2.0']);
    expect(await store.versions(key, 'io.acme/none', true)).toEqual([]);
    expect(await store.versions(key, 'io.acme/a\0', true)).toEqual([]);
    expect(await store.version(key, 'io.acme/a', '1.9.0', false)).toMatchObject({ version: '1.9.0', isLatest: false });
    expect(await store.version(key, 'io.acme/a', '7', false)).toBeUndefined();
  });

  test('the images of all sources of a registry that are not deleted', async () => {
    await store.replace(
      key,
      [entry('a', { images: ['a:1', 'a:2'] }), entry('b', { images: ['b:1'] })],
      state(),
      () => T1,
    );
    await store.replace({ ...key, source: 'other' }, [entry('a', { images: ['a:2', 'c:1'] })], state(), () => T1);
    await store.replace(key, [entry('a', { images: ['a:1', 'a:2'] })], state(), () => T2);
    expect([...(await store.images(key))].sort()).toEqual(['a:1', 'a:2', 'c:1']);
  });

  test('documents of entries with images that may contain a provenance', async () => {
    const document = { name: 'io.acme/a', _meta: { any: { 'a:1': { provenance: { cert_issuer: 'x' } } } } };
    const [built, plain] = [entry('a', { document, images: ['a:1'] }), entry('b', { images: ['b:1'] })];
    const remote = entry('c', { document: { ...document, name: 'io.acme/c' } });
    await store.replace(key, [built, plain, remote], state(), () => T1);
    expect((await store.provenance(key)).map((text) => JSON.parse(text))).toEqual([document]);
    await store.replace(key, [plain], state(), () => T2);
    expect(await store.provenance(key)).toEqual([]);
  });

  test('the revision of a source that was never synced', async () => {
    expect(await store.revision(key)).toBe('0');
    await store.ping();
  });
});

describe('writers of one source wait for each other', () => {
  test('so that two concurrent writes end with the complete content of one write', async () => {
    const second = createStore(openPool(database.app));
    const contents = ['x', 'y'].map((title) => Array.from({ length: 40 }, (_, index) => entry(`s${index}`, { title })));
    for (let round = 0; round < 5; round += 1) {
      await Promise.all([
        store.replace(key, contents[0]!, state({ message: 'x' }), () => T1),
        second.replace(key, contents[1]!, state({ message: 'y' }), () => T2),
      ]);
      const titles = new Set((await store.list(key, LIVE)).entries.map(({ document }) => JSON.parse(document).title));
      expect([...titles]).toEqual([(await store.states(key)).main?.message]);
    }
    await second.close();
  });

  test('but not for writers of other sources', async () => {
    const holder = await connect(database.app);
    await holder.client.query('begin');
    const name = JSON.stringify(['skep', key.namespace, key.registry, key.source]);
    await holder.client.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [name]);
    await store.replace({ ...key, source: 'free' }, [entry('a')], state(), () => T1);
    const waiting = store.replace(key, [entry('a')], state(), () => T1);
    await expect.poll(async () => (await database.sql('select 1 from pg_locks where not granted')).length).toBe(1);
    await holder.client.query('commit');
    expect((await waiting).created).toBe(1);
    await holder.client.end();
  });
});

describe('the application user', () => {
  test.each([
    'create table x ()',
    'alter table catalogue_entry add column x int',
    'drop table catalogue_entry',
    'truncate catalogue_entry',
    'create index on catalogue_entry (tier)',
    'create schema x',
    'delete from skep_migrations',
  ])('may not: %s', async (sql) => {
    const pool = openPool(database.app);
    const failure = await failureOf(pool.use((client) => client.query(sql)));
    await pool.close();
    expect(failure.code).toBe('database-forbidden');
  });
});

describe('errors of the database', () => {
  test('a connection that is lost in a transaction rolls it back, and the next attempt succeeds', async () => {
    await store.replace(key, [entry('a')], state({ message: 'before' }), () => T1);
    const before = await rows();
    // A trigger lets the transaction close its own connection after the rows are written.
    await database.sql(`create function cut() returns trigger language plpgsql security definer as
      $$ begin perform pg_terminate_backend(pg_backend_pid()); return new; end $$`);
    await database.sql('create trigger cut after insert on catalogue_entry for each statement execute function cut()');
    const failure = await failureOf(store.replace(key, [entry('b')], state({ message: 'after' }), () => T2));
    await database.sql('drop function cut cascade');
    expect(failure.code).toBe('database-unreachable');
    expect(failure.retryable).toBe(true);
    expect(await rows()).toEqual(before);
    expect((await store.states(key)).main?.message).toBe('before');
    expect((await store.replace(key, [entry('b')], state(), () => T2)).removed).toBe(1);
  });

  test('a database without our tables is not migrated', async () => {
    const empty = await createTestDatabase('empty');
    const bare = createStore(openPool(empty.app));
    const failures = await Promise.all([
      failureOf(bare.list(key, LIVE)),
      failureOf(bare.replace(key, [], state(), () => T1)),
      failureOf(bare.states(key)),
    ]);
    await bare.close();
    await empty.drop();
    expect(failures.map(({ code }) => code)).toEqual(Array(3).fill('database-not-migrated'));
    expect(failures[0]?.message).toContain(`@127.0.0.1:${empty.app.port}/${empty.app.database}: `);
  });
});
