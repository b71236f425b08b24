// Tests the requests of the Kubernetes client and its results: kinds, objects, writes.

import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import type { Exchange } from '#reconciler/run/ports.ts';
import {
  connect,
  DISCOVERY,
  failureOf,
  first,
  type Reply,
  serve,
  status,
  widget,
  widgets,
} from '../../../test/harness/api-server.ts';

test('an object is applied verbatim, with field manager and force, and without a search for duplicate keys', async () => {
  const { url, received } = await serve(({ body }) => ({ json: JSON.parse(body) }));
  const cluster = await connect(url);
  expect(await cluster.apply(widget, { force: true })).toEqual(widget);
  await cluster.apply(widget, { force: false, dryRun: true, subresource: 'status' });
  expect(received.map(({ method, path, query, body }) => [method, path, String(query), body])).toEqual([
    [
      'PATCH',
      '/apis/example.com/v2/namespaces/ns/widgets/w',
      'fieldManager=skep-test&force=true&fieldValidation=Ignore',
      JSON.stringify(widget),
    ],
    [
      'PATCH',
      '/apis/example.com/v2/namespaces/ns/widgets/w/status',
      'fieldManager=skep-test&force=false&fieldValidation=Ignore&dryRun=All',
      JSON.stringify(widget),
    ],
  ]);
  expect(received[0]?.headers).toMatchObject({
    'content-type': 'application/apply-patch+yaml',
    authorization: 'Bearer secret-token',
    'user-agent': 'skep/1.2.3',
    'accept-encoding': 'gzip',
  });
});

test('characters that YAML would read differently from JSON are escaped in an apply', async () => {
  const { url, received } = await serve(({ body }) => ({ json: JSON.parse(body) }));
  const cluster = await connect(url);
  const text = 'a\u007fb\u0080c\u0085d\u009fe\u2028f\u2029g\ufeffh\uffff é 𝄞 "\\\n';
  const object = { ...widget, spec: { [text]: text } };
  expect(await cluster.apply(object, { force: true })).toEqual(object);
  const [body] = received.map((request) => request.body);
  expect(body).not.toMatch(/[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/);
  expect(body).toContain('c\\u0085d');
  expect(body).toContain(' é 𝄞 ');
});

test('only requests as another user have an impersonation header', async () => {
  const { url, received } = await serve(({ body }) => ({ json: body === '' ? widget : JSON.parse(body) }));
  const cluster = await connect(url);
  const as = 'system:serviceaccount:home:fleet-sync';
  await cluster.apply(widget, { force: true, as });
  await cluster.apply(widget, { force: true, dryRun: true, as });
  await cluster.remove({ ...widget, ...widget.metadata }, 'uid-1', as);
  await cluster.apply(widget, { force: true });
  const writes = received.filter(({ method }) => method !== 'GET');
  expect(writes.map(({ headers }) => headers['impersonate-user'])).toEqual([as, as, as, undefined]);
});

test('requests contain the current trace', async () => {
  const { url, received } = await serve(({ body }) => ({ json: JSON.parse(body) }));
  let parent: string | undefined = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
  const cluster = await connect(url, { traceParent: () => parent });
  await cluster.apply(widget, { force: true });
  expect(received[0]?.headers.traceparent).toBe(parent);
  parent = undefined;
  await cluster.apply(widget, { force: true });
  expect(received.at(-1)?.headers).not.toHaveProperty('traceparent');
});

test("paths keep case and special characters of names, and the server's own path", async () => {
  const { url, received } = await serve(() => ({ status: 404, text: '' }));
  const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', name: 'System:My/Role' };
  await (await connect(url)).get(role);
  expect(received[0]?.path).toBe('/apis/rbac.authorization.k8s.io/v1/clusterroles/System%3AMy%2FRole');
  const below = await serve(({ path }) =>
    path.startsWith('/k8s/c1/api') ? { json: DISCOVERY[path.slice('/k8s/c1'.length)] } : { status: 404, text: '' },
  );
  expect((await (await connect(`${below.url}/k8s/c1/`)).resources()).length).toBe(6);
  expect(below.received.map(({ path }) => path).sort()).toEqual(['/k8s/c1/api', '/k8s/c1/apis']);
});

test('discovery lists each kind in the preferred version, and finds a kind in every version', async () => {
  const { url, received } = await serve(() => ({ json: { ...widget, apiVersion: 'example.com/v1' } }));
  const cluster = await connect(url);
  const kinds = await cluster.resources();
  expect(kinds.map(({ apiVersion, kind, namespaced }) => `${apiVersion} ${kind} ${namespaced}`)).toEqual([
    'v1 ConfigMap true',
    'v1 Secret true',
    'v1 Namespace false',
    'rbac.authorization.k8s.io/v1 ClusterRole false',
    'example.com/v2 Widget true',
    'example.com/v1 Gadget true',
  ]);
  await cluster.get({ apiVersion: 'example.com/v1', kind: 'Widget', namespace: 'ns', name: 'w' });
  expect(received.map(({ path }) => path)).toEqual(['/apis/example.com/v1/namespaces/ns/widgets/w']);
  expect(cluster.requests()).toBe(3);
  cluster.refresh();
  await cluster.resources();
  expect(cluster.requests()).toBe(5);
});

test('without aggregated discovery, each group is read, and an unavailable group affects no other group', async () => {
  const list = (groupVersion: string, ...resources: unknown[]) => ({
    json: { kind: 'APIResourceList', groupVersion, resources },
  });
  const answers: Record<string, Reply> = {
    '/x/api': { json: { kind: 'APIVersions', versions: ['v1'] } },
    '/x/apis': {
      json: {
        kind: 'APIGroupList',
        groups: [
          {
            versions: [{ groupVersion: 'example.com/v1' }, { groupVersion: 'example.com/v2' }],
            preferredVersion: { groupVersion: 'example.com/v2' },
          },
          { versions: [{ groupVersion: 'down.io/v1' }], preferredVersion: { groupVersion: 'down.io/v1' } },
        ],
      },
    },
    '/x/api/v1': list(
      'v1',
      { name: 'pods', kind: 'Pod', namespaced: true, verbs: ['list'] },
      { name: 'pods/log', kind: 'Pod', namespaced: true, verbs: ['get'] },
    ),
    '/x/apis/example.com/v1': list('example.com/v1', { name: 'widgets', kind: 'Widget', namespaced: true, verbs: [] }),
    '/x/apis/example.com/v2': list('example.com/v2', { name: 'widgets', kind: 'Widget', namespaced: true, verbs: [] }),
    '/x/apis/down.io/v1': status(503, 'ServiceUnavailable', 'the server is currently unable to handle the request'),
  };
  const { url } = await serve(({ path }) => answers[path] ?? { status: 404, text: '' });
  const kinds = await (await connect(`${url}/x`)).resources();
  expect(kinds.map(({ apiVersion, kind, plural }) => `${apiVersion} ${kind} ${plural}`)).toEqual([
    'v1 Pod pods',
    'example.com/v2 Widget widgets',
  ]);
});

test('an unknown kind and a missing namespace are refused before a request is sent', async () => {
  const { url, received } = await serve(() => ({}));
  const cluster = await connect(url);
  const rows = [
    { id: { apiVersion: 'example.com/v3', kind: 'Widget', namespace: 'ns', name: 'w' }, code: 'cluster-unknown-kind' },
    { id: { apiVersion: 'example.com/v2', kind: 'Widget', name: 'w' }, code: 'cluster-invalid' },
  ];
  for (const { id, code } of rows) expect((await failureOf(() => cluster.get(id))).code).toBe(code);
  expect(received).toEqual([]);
});

test('a compressed response is read', async () => {
  const text = gzipSync(JSON.stringify({ metadata: {}, items: [widget] }));
  const { url } = await serve(() => ({ text, headers: { 'content-encoding': 'gzip' } }));
  expect(await (await connect(url)).list(widgets)).toEqual([widget]);
});

test('many requests share few connections', async () => {
  const { url, connections } = await serve(() => ({ json: widget }));
  const cluster = await connect(url, { concurrency: 3 });
  await Promise.all(Array.from({ length: 60 }, () => cluster.apply(widget, { force: false })));
  expect(cluster.requests()).toBe(62);
  expect(connections()).toBeLessThanOrEqual(5);
});

test('an object is deleted in the foreground with its uid, and deleting a missing object succeeds', async () => {
  const { url, received } = await serve(
    first({ json: status(200, undefined, '').json }, { status: 404, text: '' }, status(409, 'Conflict', 'uid')),
  );
  const cluster = await connect(url);
  const id = { apiVersion: 'example.com/v2', kind: 'Widget', namespace: 'ns', name: 'w' };
  await cluster.remove(id, 'uid-1');
  await cluster.remove(id, 'uid-1');
  expect((await failureOf(() => cluster.remove(id, 'uid-1'))).code).toBe('cluster-conflict');
  expect(JSON.parse(received[0]?.body ?? '')).toEqual({
    apiVersion: 'v1',
    kind: 'DeleteOptions',
    propagationPolicy: 'Foreground',
    preconditions: { uid: 'uid-1' },
  });
});

test('requests for a lease do not wait for other requests', async () => {
  const { url } = await serve(({ method }) => (method === 'PATCH' ? 'silence' : { json: widget }));
  const cluster = await connect(url, { concurrency: 1 });
  await cluster.resources();
  const stuck = [1, 2, 3].map(() => cluster.apply(widget, { force: false }).catch(() => undefined));
  expect(await cluster.replace(widget)).toEqual(widget);
  await cluster.close();
  await Promise.all(stuck);
});

test('reported requests say which of them are for a lease', async () => {
  const { url } = await serve(({ body }) => ({ json: body === '' ? widget : JSON.parse(body) }));
  const reported: string[] = [];
  const observe = ({ method, urgent }: Exchange) => reported.push(`${method}${urgent ? ' urgent' : ''}`);
  const cluster = await connect(url, { observe });
  await cluster.replace(widget);
  reported.splice(0, reported.length - 1);
  await cluster.get({ ...widget, ...widget.metadata });
  await cluster.apply(widget, { force: true });
  expect(reported).toEqual(['PUT urgent', 'GET', 'PATCH']);
});
