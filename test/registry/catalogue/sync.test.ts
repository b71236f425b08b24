// When a source is synced and what a sync does to the store: over a real PostgreSQL, with sources that say what the
// test wants them to say.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openPool } from '#adapters/postgres/pool.ts';
import { createStore, type Store } from '#adapters/postgres/store.ts';
import type { SourceState } from '#contracts/catalogue-state.ts';
import type { RegistrySource } from '#contracts/registry/source.ts';
import { declarationHash, due } from '#registry/catalogue/due.ts';
import type { Content, SourceKey } from '#registry/catalogue/ports.ts';
import { type SyncOutcome, syncSource } from '#registry/catalogue/sync.ts';
import { Failure } from '#std/failure.ts';
import { sha256 } from '#std/hash.ts';
import { formatProblem } from '#std/problem.ts';
import { createTestDatabase, type TestDatabase } from '../../harness/database.ts';

const NEVER = new AbortController().signal;
const T0 = Date.parse('2026-01-01T00:00:00.000Z');
const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

function sourceOf(more: Partial<RegistrySource> = {}): RegistrySource {
  return {
    name: 'main',
    format: 'toolhive',
    origin: { type: 'configMap', name: 'catalogue', key: 'registry.json' },
    filter: { names: { include: [], exclude: [] }, tags: { include: [], exclude: [] } },
    ...more,
  };
}

function onlyNames(include: string[]): Partial<RegistrySource> {
  return { filter: { names: { include, exclude: [] }, tags: { include: [], exclude: [] } } };
}

describe('a source is due', () => {
  const source = sourceOf({ intervalMs: HOUR });
  const at = (ms: number) => new Date(T0 + ms).toISOString();
  const done: SourceState = {
    phase: 'Complete',
    message: '',
    attemptCount: 0,
    serverCount: 1,
    rejectedCount: 0,
    lastAttempt: at(0),
    declarationHash: declarationHash(source),
    trigger: 'first',
  };
  const failed = (attemptCount: number): SourceState => ({ ...done, phase: 'Failed', attemptCount });

  test.each<{
    state: SourceState | undefined;
    source?: RegistrySource;
    trigger?: string;
    after: number;
    is: string;
    reason: string;
  }>([
    { state: undefined, after: 0, is: 'never-synced', reason: 'that never synced' },
    { state: { ...done, lastAttempt: 'garbage' }, after: 0, is: 'never-synced', reason: 'whose state is unreadable' },
    { state: done, after: HOUR - 1, is: 'not before 3600000', reason: 'before its interval has passed' },
    { state: done, after: HOUR, is: 'interval', reason: 'when its interval has passed' },
    { state: done, after: -5 * MINUTE, is: 'interval', reason: 'when the clock was set back' },
    { state: done, source: sourceOf(), after: 100 * HOUR, is: 'not again', reason: 'without an interval' },
    {
      state: done,
      source: { ...source, intervalMs: 2 * HOUR },
      after: HOUR,
      is: 'not before 7200000',
      reason: 'with another interval',
    },
    {
      state: done,
      trigger: 'first',
      after: 1,
      is: 'not before 3600000',
      reason: 'when the trigger is the processed one',
    },
    { state: done, trigger: 'second', after: 1, is: 'triggered', reason: 'when the trigger is another' },
    { state: { ...done, requests: 2, requestsServed: 1 }, after: 1, is: 'triggered', reason: 'when a client asked' },
    {
      state: { ...done, requests: 2, requestsServed: 2 },
      after: 1,
      is: 'not before 3600000',
      reason: 'no more when what clients asked for is done',
    },
    { state: failed(9), trigger: 'second', after: 1, is: 'triggered', reason: 'when triggered although it failed' },
    {
      state: done,
      source: sourceOf({ ...onlyNames(['x']), intervalMs: HOUR }),
      after: 1,
      is: 'declaration-changed',
      reason: 'with another filter',
    },
    {
      state: done,
      source: { ...source, format: 'upstream' },
      after: 1,
      is: 'declaration-changed',
      reason: 'with another format',
    },
    {
      state: failed(9),
      source: { ...source, origin: { type: 'configMap', name: 'other', key: 'x' } },
      after: 1,
      is: 'declaration-changed',
      reason: 'with another origin, although it failed',
    },
    { state: failed(1), after: 10 * SECOND - 1, is: 'not before 10000', reason: 'just after a failure' },
    { state: failed(1), after: 10 * SECOND, is: 'retry', reason: '10 s after the first failure' },
    { state: failed(2), after: 10 * SECOND, is: 'not before 20000', reason: 'only 10 s after the second' },
    { state: failed(4), after: 80 * SECOND, is: 'retry', reason: '80 s after the fourth' },
    {
      state: failed(50),
      after: 15 * MINUTE - 1,
      is: 'not before 900000',
      reason: 'less than 15 min after the fiftieth',
    },
    { state: failed(50), after: 15 * MINUTE, is: 'retry', reason: '15 min after the fiftieth' },
    {
      state: failed(1),
      source: sourceOf(),
      after: 10 * SECOND,
      is: 'retry',
      reason: 'without an interval, as long as it fails',
    },
    { state: { ...done, phase: 'Syncing' }, after: HOUR, is: 'retry', reason: 'when a sync was killed' },
  ])('$is: $reason', ({ state, source: own = source, trigger, after, is }) => {
    const decision = due(own, state, trigger, T0 + after);
    if (decision.due) expect(decision.reason).toBe(is);
    else expect(decision.dueAtMs === undefined ? 'not again' : `not before ${decision.dueAtMs - T0}`).toBe(is);
  });
});

let database: TestDatabase;
let store: Store;
let key: SourceKey;
let now: number;
let round = 0;

beforeAll(async () => {
  database = await createTestDatabase();
  store = createStore(openPool(database.app));
});
beforeEach(() => {
  round += 1;
  key = { namespace: 'team', registry: `registry-${round}`, source: 'main' };
  now = T0;
});
afterAll(async () => {
  await store?.close();
  await database?.drop();
});

function feed(servers: Readonly<Record<string, object>>): string {
  return JSON.stringify({ servers });
}

function server(description: string, more: object = {}): object {
  return { description, image: `images.example.com/${description}:1`, ...more };
}

function contentOf(text: string, location: string): Content {
  return { documents: [{ text, location }], extent: 'whole' };
}

/** One sync, a minute after the one before. */
async function sync(
  content: string | Failure,
  more: Partial<RegistrySource> = {},
  trigger?: string,
): Promise<SyncOutcome> {
  now += MINUTE;
  const read = async () => {
    if (content instanceof Failure) throw content;
    return contentOf(content, 'https://git.example.com/fleet.git registry.json@abc');
  };
  const { main } = await store.states(key);
  return await syncSource(
    { source: { read }, writer: store, now: () => now },
    { key, source: sourceOf(more), state: main, trigger, now, signal: NEVER },
  );
}

async function served(): Promise<string[]> {
  const { entries } = await store.list(key, { limit: 100, includeDeleted: false });
  return entries.map(({ name, document }) => `${name.split('/')[1]}: ${JSON.parse(document).description}`);
}

async function main(): Promise<SourceState | undefined> {
  return (await store.states(key)).main;
}

const lines = (outcome: SyncOutcome) => outcome.problems.map(formatProblem);

describe('a sync', () => {
  test('serves what the source says, and records how far it is', async () => {
    const text = feed({ a: server('alpha'), b: server('beta') });
    const outcome = await sync(text, {}, 'go');
    expect(outcome).toMatchObject({ result: 'synced', problems: [], written: { created: 2 } });
    expect(await served()).toEqual(['a: alpha', 'b: beta']);
    expect(await main()).toEqual(outcome.state);
    expect(outcome.state).toEqual({
      phase: 'Complete',
      message: '2 servers',
      attemptCount: 0,
      lastAttempt: new Date(now).toISOString(),
      lastSyncTime: new Date(now).toISOString(),
      lastSyncHash: sha256(text),
      filterHash: expect.stringMatching(/^[0-9a-f]{64}$/),
      declarationHash: declarationHash(sourceOf()),
      serverCount: 2,
      rejectedCount: 0,
      trigger: 'go',
    });
  });

  test('of unchanged content writes no entry, only when it was and what triggered it', async () => {
    const text = feed({ a: server('alpha') });
    const { state } = await sync(text);
    const revision = await store.revision(key);
    const outcome = await sync(text, {}, 'again');
    expect(outcome.result).toBe('unchanged');
    expect(outcome.written).toBeUndefined();
    expect(await main()).toEqual({ ...state, lastAttempt: new Date(now).toISOString(), trigger: 'again' });
    expect(await store.revision(key)).toBe(revision);
  });

  test('filters what is stored; the hash is of all', async () => {
    const text = feed({ a: server('alpha', { tags: ['x'] }), b: server('beta'), 'c-remote': server('gamma') });
    const first = await sync(text, onlyNames(['*-remote', '*/a']));
    expect(await served()).toEqual(['a: alpha', 'c-remote: gamma']);
    expect(first.state).toMatchObject({ serverCount: 2, lastSyncHash: sha256(text) });
    const second = await sync(text, onlyNames(['*/b']));
    expect(second).toMatchObject({ result: 'synced', written: { created: 1, removed: 2 } });
    expect(second.state.filterHash).not.toBe(first.state.filterHash);
    expect(await served()).toEqual(['b: beta']);
  });

  test('a filter that keeps nothing is a warning, and the message says so until the content changes', async () => {
    const text = feed({ gamma: server('third') });
    const more = onlyNames(['gamma']);
    const says =
      'the filter does not keep the only entry; patterns see names as they are served, such as "io.github.stacklok/gamma"';
    const outcome = await sync(text, more);
    expect(outcome).toMatchObject({ result: 'synced', state: { phase: 'Complete', message: `0 servers: ${says}` } });
    expect(lines(outcome)).toEqual([expect.stringContaining(`warning registry-filter-keeps-nothing: ${says}`)]);
    const again = await sync(text, more);
    expect(again).toMatchObject({ result: 'unchanged', state: { message: `0 servers: ${says}` } });
    expect((await sync(text, onlyNames(['*/gamma']))).state.message).toBe('1 server');
    const narrowed = await sync(text, more);
    expect(narrowed.state).toMatchObject({ serverCount: 1, message: expect.stringContaining(`${says} (since 20`) });
    expect((await sync(feed({}))).state.message).toMatch(/^the source is empty since/);
  });

  test('reads the same content anew when the format changed', async () => {
    const text = feed({ a: server('alpha') });
    await sync(text);
    const outcome = await sync(text, { format: 'upstream' });
    expect(outcome).toMatchObject({ result: 'failed', problems: [{ code: 'registry-wrong-shape' }] });
    expect(await served()).toEqual(['a: alpha']);
  });

  test('of an empty registry removes all once it is found empty again, at least one interval later', async () => {
    const source = { intervalMs: 2 * MINUTE };
    const first = await sync(feed({ a: server('alpha') }), source);
    const revision = await store.revision(key);
    const empty = await sync(feed({}), source);
    const since = new Date(now).toISOString();
    expect(empty).toMatchObject({ result: 'unchanged' });
    expect(empty.state).toEqual({
      ...first.state,
      lastAttempt: since,
      emptySince: since,
      message: `the source is empty since ${since}: the last 1 server stay until the next read finds the same, or a manual trigger`,
    });
    expect(await main()).toEqual(empty.state);
    expect(await sync(feed({}), source)).toMatchObject({ result: 'unchanged', state: { emptySince: since } });
    expect(await served()).toEqual(['a: alpha']);
    expect(await store.revision(key)).toBe(revision);
    const last = await sync(feed({}), source);
    expect(last).toMatchObject({ result: 'synced', state: { message: '0 servers' }, written: { removed: 1 } });
    expect(last.state.emptySince).toBeUndefined();
    expect(await served()).toEqual([]);
  });

  test('of a registry that was empty for a moment changes nothing', async () => {
    const source = { intervalMs: MINUTE };
    const { state } = await sync(feed({ a: server('alpha') }), source);
    await sync(feed({}), source);
    await sync(feed({ a: server('alpha') }), source);
    expect(await main()).toEqual({ ...state, lastAttempt: new Date(now).toISOString() });
    await sync(feed({}), source);
    expect(await served()).toEqual(['a: alpha']);
  });

  test('of an empty registry removes all at once where it is triggered by hand', async () => {
    await sync(feed({ a: server('alpha') }));
    expect(await sync(feed({}))).toMatchObject({
      state: { message: expect.stringMatching('stay until a manual trigger$') },
    });
    expect(await sync(feed({}), {}, 'now')).toMatchObject({ result: 'synced', written: { removed: 1 } });
    expect(await served()).toEqual([]);
  });

  test('waits as well where the filter lets nothing pass any more', async () => {
    await sync(feed({ a: server('alpha') }));
    expect(await sync(feed({ b: server('beta') }), onlyNames(['*/a']))).toMatchObject({ result: 'unchanged' });
    expect(await served()).toEqual(['a: alpha']);
  });

  test('tells of a change no time before that at which it is seen, however long the source takes to be read', async () => {
    await sync(feed({ a: server('alpha') }));
    const asked = new Date(now + 30 * MINUTE).toISOString();
    const { main: state } = await store.states(key);
    const begun = now;
    const read = async () => {
      now += HOUR;
      return contentOf(feed({ a: server('other') }), 'registry.json');
    };
    const request = { key, source: sourceOf(), state, trigger: undefined, now: begun, signal: NEVER };
    await syncSource({ source: { read }, writer: store, now: () => now }, request);
    const { entries } = await store.list(key, { limit: 10, includeDeleted: true, updatedSince: asked });
    expect(entries).toMatchObject([{ updatedAt: new Date(now).toISOString() }]);
  });
});

describe('what goes wrong loses nothing', () => {
  const good = feed({ a: server('alpha'), b: server('beta') });

  test.each<{
    name: string;
    content: string | Failure;
    more?: Partial<RegistrySource>;
    message: string;
    problems: string[];
  }>([
    {
      name: 'a source that cannot be read',
      content: new Failure('source-unreachable', 'https://git.example.com/fleet.git: connect ECONNREFUSED'),
      message: 'https://git.example.com/fleet.git: connect ECONNREFUSED',
      problems: [],
    },
    {
      name: 'a text that is no JSON',
      content: '{"servers": {\n  "a": oops}}',
      message: 'https://git.example.com/fleet.git registry.json@abc:2:8: not JSON: expected a value',
      problems: ['registry-not-json'],
    },
    {
      name: 'a text that is no registry',
      content: '[]',
      message:
        'https://git.example.com/fleet.git registry.json@abc:1:1: a registry file is a JSON object with a member "servers"',
      problems: ['registry-wrong-shape'],
    },
    {
      name: 'a registry in which nothing is valid',
      content: feed({ a: {}, b: {} }),
      message: 'https://git.example.com/fleet.git registry.json@abc:1:1: not one entry is valid',
      problems: ['registry-nothing-valid', 'registry-entry-invalid', 'registry-entry-invalid'],
    },
    {
      name: 'a malformed pattern',
      content: good,
      more: onlyNames(['io.*', '[']),
      message: 'malformed name pattern in the filter: "["',
      problems: ['registry-filter-malformed'],
    },
  ])('$name', async ({ content, more, message, problems }) => {
    const { state } = await sync(good);
    const revision = await store.revision(key);
    for (const attemptCount of [1, 2]) {
      const outcome = await sync(content, more, `try ${attemptCount}`);
      expect(outcome.result).toBe('failed');
      expect(outcome.problems.map(({ code }) => code)).toEqual(problems);
      expect(outcome.failure).toBe(content instanceof Failure ? content : undefined);
      expect(await main()).toEqual({
        ...state,
        phase: 'Failed',
        message,
        attemptCount,
        lastAttempt: new Date(now).toISOString(),
        declarationHash: declarationHash(sourceOf(more)),
        trigger: `try ${attemptCount}`,
      });
    }
    expect(await served()).toEqual(['a: alpha', 'b: beta']);
    expect(await store.revision(key)).toBe(revision);

    const recovered = await sync(good);
    expect(recovered.state).toMatchObject({ phase: 'Complete', message: '2 servers', attemptCount: 0 });
    expect(await store.revision(key)).toBe(revision);
  });

  test.each([
    ['a tag', { tags: ['ok', '\ud800'] }],
    ['a text', { repository_url: 'https://x.example/\udc00' }],
    ['the name of a member', { metadata: { '\ud83d': 1 } }],
  ])('half of a character in %s is one rejected entry, and says where', async (_what, broken) => {
    await sync(good);
    const outcome = await sync(feed({ a: server('changed'), b: server('beta'), c: server('gamma', broken) }));
    expect(outcome).toMatchObject({ result: 'synced', state: { message: '2 servers; 1 entry rejected' } });
    expect(lines(outcome).join()).toMatch(/\/servers\/c.* half of a character/);
    expect(await served()).toEqual(['a: changed', 'b: beta']);
  });

  test('characters that lists are written with are taken over as they are', async () => {
    const tags = ['a"b', 'c\\d', '{e,f}', 'NULL', ' g ', "h'i", 'üñ🙂', '\u0007'];
    expect(lines(await sync(feed({ a: server('alpha', { tags }) })))).toEqual([]);
    expect((await store.facets(key)).tags.map(({ value }) => value).toSorted()).toEqual(tags.toSorted());
  });

  test('an entry that is too large for a page is one rejected entry', async () => {
    const outcome = await sync(
      feed({ a: server('alpha'), b: server('beta', { metadata: { pad: 'x'.repeat(300_000) } }) }),
    );
    expect(lines(outcome).join()).toMatch(/\/servers\/b has 300\d+ bytes, which is more than the 262144 of one entry/);
    expect(await served()).toEqual(['a: alpha']);
  });

  test('what the database refuses of a source is recorded there, and other sources go on', async () => {
    await sync(good);
    await database.sql("alter table catalogue_entry add constraint refused check (description <> 'refused')");
    const outcome = await sync(feed({ a: server('refused') }));
    await database.sql('alter table catalogue_entry drop constraint refused');
    expect(outcome).toMatchObject({ result: 'failed', failure: { code: 'database-error' } });
    expect(await main()).toMatchObject({
      phase: 'Failed',
      attemptCount: 1,
      message: expect.stringContaining('refused'),
    });
    expect(await served()).toEqual(['a: alpha', 'b: beta']);
    expect(await sync(good)).toMatchObject({ state: { phase: 'Complete' } });
  });

  test('a first sync that fails is recorded too', async () => {
    await sync('', {});
    expect(await main()).toMatchObject({ phase: 'Failed', attemptCount: 1, serverCount: 0 });
  });

  test('a bug in a source is no failure of it', async () => {
    const read = async () => {
      throw new TypeError('a bug');
    };
    const request = { key, source: sourceOf(), state: undefined, trigger: undefined, now, signal: NEVER };
    await expect(syncSource({ source: { read }, writer: store, now: () => now }, request)).rejects.toThrow('a bug');
  });
});

describe('one broken entry', () => {
  test('is told with its place, counted, and the others are served', async () => {
    const outcome = await sync(feed({ a: server('alpha'), b: { description: 'no image' } }));
    expect(lines(outcome)).toEqual([
      'https://git.example.com/fleet.git registry.json@abc:1:78: warning registry-entry-invalid: /servers/b must have a member "image"',
    ]);
    expect(outcome.state).toMatchObject({
      phase: 'Complete',
      serverCount: 1,
      rejectedCount: 1,
      message: '1 server; 1 entry rejected',
    });
    expect(await served()).toEqual(['a: alpha']);
  });

  test('leaves what was served of it before, until it is mended or gone', async () => {
    await sync(feed({ a: server('alpha'), b: server('beta'), c: server('gamma') }));
    expect(await sync(feed({ a: server('alpha'), b: {} }))).toMatchObject({
      written: { held: 1, removed: 1, unchanged: 1 },
    });
    expect(await served()).toEqual(['a: alpha', 'b: beta']);
    await sync(feed({ a: server('alpha'), b: server('better') }));
    expect(await served()).toEqual(['a: alpha', 'b: better']);
    await sync(feed({ a: server('alpha') }));
    expect(await served()).toEqual(['a: alpha']);
  });

  test('does not keep what the filter now leaves out', async () => {
    await sync(feed({ a: server('alpha'), b: server('beta') }));
    await sync(feed({ a: server('alpha'), b: {} }), onlyNames(['*/a']));
    expect(await served()).toEqual(['a: alpha']);
  });

  test('that does not tell its name keeps all that would vanish', async () => {
    await sync(feed({ a: server('alpha'), b: server('beta') }));
    await sync(JSON.stringify({ servers: { a: server('alpha') }, groups: [{ nameless: true }] }));
    expect(await served()).toEqual(['a: alpha', 'b: beta']);
  });

  test('is told again as long as the content does not change', async () => {
    const text = feed({ a: server('alpha'), b: {} });
    const first = await sync(text);
    const second = await sync(text);
    expect(second).toMatchObject({ result: 'unchanged', problems: first.problems });
  });

  test('among hundreds does not drown the report', async () => {
    const broken = Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`b${index}`, {}]));
    const outcome = await sync(feed({ a: server('alpha'), ...broken }));
    expect(outcome.problems).toHaveLength(100);
    expect(outcome.state.rejectedCount).toBe(300);
  });

  test('that is a duplicate keeps nothing alive', async () => {
    const versions = (...list: string[]) =>
      JSON.stringify({ servers: list.map((version) => ({ name: 'io.acme/a', description: version, version })) });
    await sync(versions('1.0.0', '2.0.0'), { format: 'upstream' });
    const outcome = await sync(versions('1.0.0', '1.0.0'), { format: 'upstream' });
    expect(outcome.problems.map(({ code }) => code)).toEqual(['registry-entry-duplicate']);
    expect(await served()).toEqual(['a: 1.0.0']);
  });
});

test('a store that fails is the caller’s failure, and nothing changed', async () => {
  const text = feed({ a: server('alpha') });
  await sync(text);
  const broken = createStore(openPool({ ...database.app, port: 1 }));
  const request = { key, source: sourceOf(), state: undefined, trigger: undefined, now, signal: NEVER };
  const read = async () => contentOf(feed({}), 'x');
  await expect(syncSource({ source: { read }, writer: broken, now: () => now }, request)).rejects.toMatchObject({
    code: 'database-unreachable',
  });
  await broken.close();
  expect(await served()).toEqual(['a: alpha']);
});
