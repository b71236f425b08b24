// Tests that each OpenAPI document is read once per content.

import { expect, test } from 'vitest';
import { connect, type Handle, serve } from '../../../test/harness/api-server.ts';

const DOCUMENT = { openapi: '3.0.0', components: { schemas: { Widget: { type: 'object' } } } };

/** Returns an OpenAPI server whose document has the hash that `hash` returns. */
function openApi(hash: () => string): Handle {
  return ({ path, query }) => {
    const name = 'apis/example.com/v2';
    const current = `/openapi/v3/${name}?hash=${hash()}`;
    if (path === '/openapi/v3') return { json: { paths: { [name]: { serverRelativeURL: current } } } };
    if (query.get('hash') !== hash()) return { status: 301, headers: { location: current }, text: '' };
    return { json: { ...DOCUMENT, info: { title: hash() } } };
  };
}

test('an OpenAPI document is read once per content', async () => {
  let hash = 'A';
  const { url, received } = await serve(openApi(() => hash));
  const paths = () => received.splice(0).map(({ path, query }) => `${path} ${query.get('hash') ?? ''}`.trim());
  const cluster = await connect(url);
  expect(await cluster.schema('example.com/v2')).toMatchObject({ components: DOCUMENT.components });
  await cluster.schema('example.com/v2');
  expect(await cluster.schema('example.com/v9')).toBeUndefined();
  expect(paths()).toEqual(['/openapi/v3', '/openapi/v3/apis/example.com/v2 A']);
  cluster.refresh();
  await cluster.schema('example.com/v2');
  expect(paths()).toEqual(['/openapi/v3']);
  hash = 'B';
  cluster.refresh();
  await cluster.schema('example.com/v2');
  expect(paths()).toEqual(['/openapi/v3', '/openapi/v3/apis/example.com/v2 B']);
});

test('a changed document is read in its current form, even if the index has its old hash', async () => {
  const current = openApi(() => 'B');
  const { url, received } = await serve((request) => {
    const indexed = openApi(() => 'A');
    if (request.path === '/openapi/v3') return indexed(request);
    return request.query.has('hash') ? current(request) : { json: { ...DOCUMENT, info: { title: 'B' } } };
  });
  const document = await (await connect(url)).schema('example.com/v2');
  expect(document).toMatchObject({ info: { title: 'B' } });
  expect(received.length).toBe(3);
});

test('kinds that were removed after the index was read have no document', async () => {
  const { url } = await serve((request) =>
    request.path === '/openapi/v3' ? openApi(() => 'A')(request) : { status: 404, text: '404 page not found' },
  );
  expect(await (await connect(url)).schema('example.com/v2')).toBeUndefined();
});

test('a document that was missing, or read without its hash, is read again with the next index', async () => {
  let hash = 'B';
  const { url, received } = await serve((request) => {
    if (request.path === '/openapi/v3') return openApi(() => 'A')(request);
    if (hash === '') return { status: 404, text: '404 page not found' };
    const plain = { json: { ...DOCUMENT, info: { title: hash } } };
    return request.query.has('hash') ? openApi(() => hash)(request) : plain;
  });
  const cluster = await connect(url);
  const read = () => cluster.schema('example.com/v2');
  const both = await Promise.all([read(), read()]);
  expect(both).toMatchObject([{ info: { title: 'B' } }, { info: { title: 'B' } }]);
  expect(received.length).toBe(3);
  hash = '';
  cluster.refresh();
  expect(await read()).toBeUndefined();
  hash = 'A';
  cluster.refresh();
  expect(await read()).toMatchObject({ info: { title: 'A' } });
});

test('a document that is redirected even without a hash is an error', async () => {
  const { url } = await serve((request) =>
    request.path === '/openapi/v3'
      ? openApi(() => 'A')(request)
      : { status: 301, headers: { location: '/' }, text: '' },
  );
  await expect((await connect(url)).schema('example.com/v2')).rejects.toMatchObject({ code: 'cluster-error' });
});

test('a server without OpenAPI v3 has no schemas', async () => {
  const { url } = await serve(() => ({ status: 404, text: '404 page not found' }));
  expect(await (await connect(url)).schema('v1')).toBeUndefined();
});
