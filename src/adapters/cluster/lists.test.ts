// Tests the page sizes with which a list is read, for various numbers and lengths of objects.

import { expect, test } from 'vitest';
import {
  connect,
  failureOf,
  type Handle,
  type Received,
  serve,
  status,
  widget,
  widgets,
} from '../../../test/harness/api-server.ts';

/** Returns a handler that lists `count` widgets in pages. */
function pager(count: number, expire: (start: number, calls: number) => boolean): Handle {
  let calls = 0;
  return ({ query }) => {
    calls += 1;
    const start = Number(query.get('continue') ?? 0);
    if (expire(start, calls)) return status(410, 'Expired', 'The provided continue parameter is too old');
    const limit = Number(query.get('limit') ?? count);
    const end = Math.min(start + limit, count);
    const items = Array.from({ length: end - start }, (_, index) => ({ metadata: { name: `w${start + index}` } }));
    return { json: { kind: 'WidgetList', metadata: end < count ? { continue: String(end) } : {}, items } };
  };
}

function limitAndStart({ query }: Received): string {
  return `${query.get('limit') ?? ''} ${query.get('continue') ?? ''}`.trim();
}

test.each([
  { expire: () => false, asked: ['2000', '2000 2000', '2000 4000'], reason: 'three pages' },
  {
    expire: (start: number, calls: number) => start === 2000 && calls === 2,
    asked: ['2000', '2000 2000', '2000', '2000 2000', '2000 4000'],
    reason: 'a page expired once: the list starts again',
  },
  {
    expire: (start: number) => start === 4000,
    asked: ['2000', '2000 2000', '2000 4000', '2000', '2000 2000', '2000 4000', ''],
    reason: 'a page expires each time: the last try is in one piece',
  },
])('a list has every object once: $reason', async ({ expire, asked }) => {
  const { url, received } = await serve(pager(4800, expire));
  const cluster = await connect(url);
  const items = await cluster.list(widgets);
  expect(new Set(items.map(({ metadata }) => metadata.name)).size).toBe(4800);
  expect(items.length).toBe(4800);
  expect(items[7]).toEqual({ apiVersion: 'example.com/v2', kind: 'Widget', metadata: { name: 'w7' } });
  expect(received.map(limitAndStart)).toEqual(asked);
});

test.each([
  { characters: 4_000, asked: ['2000', '2000 2000'], reason: 'of usual size: two pages' },
  { characters: 8_000, asked: ['2000', '500', '500 500', '500 1000', '500 1500', '500 2000'], reason: 'of more' },
  {
    characters: 30_000,
    asked: ['2000', '500', '500 500', '500 1000', '500 1500', '500 2000'],
    reason: 'so large that 500 of them are more than a page may be, and read all the same',
  },
])('a page that is too large is read in smaller pages: objects $reason', async ({ characters, asked }) => {
  const { url, received } = await serve((request) => {
    const { json } = pager(2_100, () => false)(request) as { json: { items: { metadata: object }[] } };
    const note = 'x'.repeat(characters);
    const items = json.items.map((item) => ({ ...item, spec: { note } }));
    return { json: { ...json, items } };
  });
  const items = await (await connect(url)).list(widgets);
  expect(new Set(items.map(({ metadata }) => metadata.name)).size).toBe(2_100);
  expect(items.length).toBe(2_100);
  expect(received.map(limitAndStart)).toEqual(asked);
});

test('a list of a namespace is read, a null list is empty, and a list that keeps expiring fails', async () => {
  const { url, received } = await serve(({ path }) => {
    if (path.includes('/gone/')) return status(410, 'Expired', 'too old');
    if (path.includes('/null/')) return { json: { metadata: {}, items: null } };
    return { json: { metadata: {}, items: [widget] } };
  });
  const cluster = await connect(url);
  expect(await cluster.list(widgets, 'null')).toEqual([]);
  expect(await cluster.list(widgets, 'ns')).toEqual([widget]);
  expect((await failureOf(() => cluster.list(widgets, 'gone'))).code).toBe('cluster-gone');
  expect(received[0]?.path).toBe('/apis/example.com/v2/namespaces/null/widgets');
});
