// The Kubernetes client against TLS servers that answer, stall, drop and refuse as told: what is sent, what is sent again,
// and what errors say.

import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createProxy } from 'node:http';
import { createServer } from 'node:https';
import { type AddressInfo, connect as connectSocket, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, expect, test } from 'vitest';
import { createAuthority, createServerCertificate } from '../../devcluster/identity/certificate.ts';
import type { KubeObject } from '../../kube/object.ts';
import { systemClock } from '../../main/clock.ts';
import type { Clock } from '../../reconcile/ports.ts';
import { Failure } from '../../std/failure.ts';
import { type ClusterOptions, type ConnectedCluster, connectCluster } from './connect.ts';

const cleanups: (() => unknown)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const DAY_MS = 86_400_000;
const validity = { notBefore: Date.now() - DAY_MS, notAfter: Date.now() + DAY_MS };
const authority = createAuthority('test-ca', validity);
const server = createServerCertificate(authority, 'test-ca', ['127.0.0.1'], validity);

interface Received {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly body: string;
  readonly headers: Readonly<Record<string, unknown>>;
}

interface Reply {
  readonly status?: number;
  readonly json?: unknown;
  readonly text?: string | Buffer;
  readonly headers?: Readonly<Record<string, string>>;
}

/** `drop` closes the connection instead of answering, `silence` never answers. */
type Handle = (request: Received) => Reply | 'drop' | 'silence';

interface TestServer {
  readonly url: string;
  /** What came, discovery left out. */
  readonly received: Received[];
  readonly connections: () => number;
}

async function serve(handle: Handle): Promise<TestServer> {
  const received: Received[] = [];
  const sockets = new Set<Socket>();
  const listener = createServer({ cert: server.certificate, key: server.privateKey }, async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { pathname: path, searchParams: query } = new URL(request.url ?? '/', 'https://server');
    const { method = '', headers } = request;
    const whole = { method, path, query, body: Buffer.concat(chunks).toString(), headers };
    const discovery = DISCOVERY[path];
    if (discovery === undefined) received.push(whole);
    const reply = discovery === undefined ? handle(whole) : { json: discovery };
    if (reply === 'silence') return;
    if (reply === 'drop') return response.destroy();
    response.writeHead(reply.status ?? 200, { 'content-type': 'application/json', ...reply.headers });
    response.end(reply.text ?? JSON.stringify(reply.json ?? {}));
  });
  listener.on('secureConnection', (socket) => sockets.add(socket));
  await new Promise<void>((done) => listener.listen(0, '127.0.0.1', done));
  cleanups.push(() => {
    listener.closeAllConnections();
    for (const socket of sockets) socket.destroy();
    return new Promise((done) => listener.close(done));
  });
  const { port } = listener.address() as AddressInfo;
  return { url: `https://127.0.0.1:${port}`, received, connections: () => sockets.size };
}

function version(name: string, resources: readonly (readonly [kind: string, plural: string, scope: string])[]) {
  return {
    version: name,
    resources: resources.map(([kind, resource, scope]) => ({
      resource,
      scope,
      responseKind: { kind },
      verbs: ['get', 'list'],
    })),
  };
}

/** Aggregated discovery of a small server. */
const DISCOVERY: Readonly<Record<string, unknown>> = {
  '/api': {
    kind: 'APIGroupDiscoveryList',
    items: [
      {
        versions: [
          version('v1', [
            ['ConfigMap', 'configmaps', 'Namespaced'],
            ['Secret', 'secrets', 'Namespaced'],
            ['Namespace', 'namespaces', 'Cluster'],
          ]),
        ],
      },
    ],
  },
  '/apis': {
    kind: 'APIGroupDiscoveryList',
    items: [
      {
        metadata: { name: 'rbac.authorization.k8s.io' },
        versions: [version('v1', [['ClusterRole', 'clusterroles', 'Cluster']])],
      },
      {
        metadata: { name: 'example.com' },
        versions: [
          version('v2', [['Widget', 'widgets', 'Namespaced']]),
          version('v1', [
            ['Widget', 'widgets', 'Namespaced'],
            ['Gadget', 'gadgets', 'Namespaced'],
          ]),
        ],
      },
    ],
  },
};

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'skep-cluster-'));
  cleanups.push(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

interface KubeconfigParts {
  readonly user?: Readonly<Record<string, unknown>>;
  readonly cluster?: Readonly<Record<string, unknown>>;
  readonly context?: Readonly<Record<string, unknown>>;
}

function kubeconfig(url: string, parts: KubeconfigParts = {}): string {
  const ca = Buffer.from(authority.certificate).toString('base64');
  const path = join(folder(), 'kubeconfig');
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'one',
    clusters: [{ name: 'c', cluster: { server: url, 'certificate-authority-data': ca, ...parts.cluster } }],
    users: [{ name: 'u', user: parts.user ?? { token: 'secret-token' } }],
    contexts: [
      { name: 'one', context: { cluster: 'c', user: 'u', ...parts.context } },
      { name: 'two', context: { cluster: 'c', user: 'u', namespace: 'second' } },
    ],
  };
  writeFileSync(path, JSON.stringify(config));
  return path;
}

/** Does not wait, and remembers how long it should have. */
function hurriedClock(): Clock & { readonly slept: number[] } {
  const slept: number[] = [];
  return { ...systemClock, slept, sleep: async (ms) => void slept.push(Math.round(ms)) };
}

async function connect(
  url: string,
  options: Partial<ClusterOptions> & KubeconfigParts = {},
): Promise<ConnectedCluster> {
  const { user, cluster, context: _, ...rest } = options;
  const path = options.kubeconfig ?? kubeconfig(url, { ...(user && { user }), ...(cluster && { cluster }) });
  const connected = await connectCluster({
    kubeconfig: path,
    fieldManager: 'skep-test',
    concurrency: 4,
    version: '1.2.3',
    clock: hurriedClock(),
    ...rest,
  });
  cleanups.push(() => connected.close());
  return connected;
}

async function failureOf(run: () => Promise<unknown>): Promise<Failure> {
  const answer = await run().catch((error: unknown) => error);
  if (answer instanceof Failure) return answer;
  throw new Error(`no Failure but ${JSON.stringify(answer)}`);
}

function status(code: number, reason: string | undefined, message: string, details: unknown = {}): Reply {
  return {
    status: code,
    json: { kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, message, details },
  };
}

const widget: KubeObject = {
  apiVersion: 'example.com/v2',
  kind: 'Widget',
  metadata: { name: 'w', namespace: 'ns' },
  spec: { futureField: { deep: [1, null, 'x'] } },
};
const widgets = { apiVersion: 'example.com/v2', kind: 'Widget', plural: 'widgets', namespaced: true, verbs: [] };
const secret: KubeObject = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 's', namespace: 'ns' },
  data: { p: 'aHVudGVyMg==' },
};

test('an object is applied verbatim, with field manager, force and strict validation', async () => {
  const { url, received } = await serve(({ body }) => ({ json: JSON.parse(body) }));
  const cluster = await connect(url);
  expect(await cluster.apply(widget, { force: true })).toEqual(widget);
  await cluster.apply(widget, { force: false, dryRun: true, subresource: 'status' });
  expect(received.map(({ method, path, query, body }) => [method, path, String(query), body])).toEqual([
    [
      'PATCH',
      '/apis/example.com/v2/namespaces/ns/widgets/w',
      'fieldManager=skep-test&force=true&fieldValidation=Strict',
      JSON.stringify(widget),
    ],
    [
      'PATCH',
      '/apis/example.com/v2/namespaces/ns/widgets/w/status',
      'fieldManager=skep-test&force=false&fieldValidation=Strict&dryRun=All',
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

test('names keep their case and their special characters, a server may have a path', async () => {
  const { url, received } = await serve(() => ({ status: 404, text: '' }));
  const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', name: 'System:My/Role' };
  await (await connect(url)).get(role);
  expect(received[0]?.path).toBe('/apis/rbac.authorization.k8s.io/v1/clusterroles/System%3AMy%2FRole');
  const below = await serve(({ path }) =>
    path.startsWith('/k8s/c1/api') ? { json: DISCOVERY[path.slice('/k8s/c1'.length)] } : { status: 404, text: '' },
  );
  expect((await (await connect(`${below.url}/k8s/c1/`)).resources()).length).toBe(6);
});

test('discovery gives each kind in the version that the server prefers, and finds it in every one', async () => {
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

test('a server without aggregated discovery is asked group by group, and a group that is down takes no other with it', async () => {
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

test('a kind that is not served and an object without its namespace are refused before anything is sent', async () => {
  const { url, received } = await serve(() => ({}));
  const cluster = await connect(url);
  const rows = [
    { id: { apiVersion: 'example.com/v3', kind: 'Widget', namespace: 'ns', name: 'w' }, code: 'cluster-unknown-kind' },
    { id: { apiVersion: 'example.com/v2', kind: 'Widget', name: 'w' }, code: 'cluster-invalid' },
  ];
  for (const { id, code } of rows) expect((await failureOf(() => cluster.get(id))).code).toBe(code);
  expect(received).toEqual([]);
});

/** A list server that hands out `count` widgets, `limit` at a time. */
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

test.each([
  { expire: () => false, asked: ['500', '500 500', '500 1000'], reason: 'three pages' },
  {
    expire: (start: number, calls: number) => start === 500 && calls === 2,
    asked: ['500', '500 500', '500', '500 500', '500 1000'],
    reason: 'a page expired once: the list starts again',
  },
  {
    expire: (start: number) => start === 1000,
    asked: ['500', '500 500', '500 1000', '500', '500 500', '500 1000', ''],
    reason: 'a page expires each time: the last try is in one piece',
  },
])('a list has every object once: $reason', async ({ expire, asked }) => {
  const { url, received } = await serve(pager(1200, expire));
  const cluster = await connect(url);
  const items = await cluster.list(widgets);
  expect(new Set(items.map(({ metadata }) => metadata.name)).size).toBe(1200);
  expect(items.length).toBe(1200);
  expect(items[7]).toEqual({ apiVersion: 'example.com/v2', kind: 'Widget', metadata: { name: 'w7' } });
  expect(received.map(({ query }) => `${query.get('limit') ?? ''} ${query.get('continue') ?? ''}`.trim())).toEqual(
    asked,
  );
});

test('a list may be of one namespace, null, or expire for good', async () => {
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

test('a compressed answer is read', async () => {
  const text = gzipSync(JSON.stringify({ metadata: {}, items: [widget] }));
  const { url } = await serve(() => ({ text, headers: { 'content-encoding': 'gzip' } }));
  expect(await (await connect(url)).list(widgets)).toEqual([widget]);
});

test('a proxy of the kubeconfig is used, one that is not spoken is refused', async () => {
  const { url } = await serve(() => ({ json: widget }));
  const asked: (string | undefined)[] = [];
  const proxy = createProxy().on('connect', (request, client) => {
    asked.push(request.url);
    const upstream = connectSocket(Number(new URL(url).port), '127.0.0.1', () => {
      client.write('HTTP/1.1 200 OK\r\n\r\n');
      upstream.pipe(client).pipe(upstream);
    });
    for (const socket of [client, upstream]) {
      socket.on('error', () => undefined);
      cleanups.push(() => socket.destroy());
    }
  });
  await new Promise<void>((done) => proxy.listen(0, '127.0.0.1', done));
  cleanups.push(() => proxy.close());
  const proxyUrl = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const cluster = await connect(url, { cluster: { 'proxy-url': proxyUrl } });
  expect(await cluster.apply(widget, { force: false })).toEqual(widget);
  expect(asked).toContain(url.slice('https://'.length));
  const socks = await connect(url, { cluster: { 'proxy-url': 'socks5://127.0.0.1:1' } });
  expect((await failureOf(() => socks.resources())).code).toBe('cluster-config-invalid');
});

test('many requests share few connections', async () => {
  const { url, connections } = await serve(() => ({ json: widget }));
  const cluster = await connect(url, { concurrency: 3 });
  await Promise.all(Array.from({ length: 60 }, () => cluster.apply(widget, { force: false })));
  expect(cluster.requests()).toBe(62);
  expect(connections()).toBeLessThanOrEqual(5);
});

/** Answers the first ones with these, and the widget after that. */
function first(...replies: (Reply | 'drop' | 'silence')[]): Handle {
  return () => replies.shift() ?? { json: widget };
}

const busy = status(429, 'TooManyRequests', 'slow down');
const hiccup = status(500, undefined, 'etcdserver: leader changed');

test.each<{
  reply: Reply | 'drop';
  call: 'apply' | 'remove' | 'list' | 'get' | 'create' | 'replace';
  sent: number;
  reason: string;
}>([
  { reply: busy, call: 'apply', sent: 2, reason: 'nothing was done' },
  { reply: busy, call: 'create', sent: 2, reason: 'nothing was done' },
  { reply: status(503, 'ServiceUnavailable', 'starting'), call: 'apply', sent: 2, reason: 'twice is as good as once' },
  { reply: status(504, 'Timeout', 'took too long'), call: 'remove', sent: 2, reason: 'twice is as good as once' },
  { reply: status(500, 'ServerTimeout', 'x'), call: 'get', sent: 2, reason: 'the server says so' },
  { reply: hiccup, call: 'apply', sent: 2, reason: 'the storage elects a leader' },
  { reply: { status: 502, text: '<html>' }, call: 'get', sent: 2, reason: 'a proxy in between' },
  { reply: 'drop', call: 'apply', sent: 2, reason: 'twice is as good as once' },
  { reply: 'drop', call: 'remove', sent: 2, reason: 'the uid is a precondition' },
  { reply: status(503, 'ServiceUnavailable', 'starting'), call: 'create', sent: 1, reason: 'it may have been created' },
  { reply: hiccup, call: 'replace', sent: 1, reason: 'it may have been replaced' },
  { reply: 'drop', call: 'create', sent: 1, reason: 'it may have been created' },
  { reply: 'drop', call: 'replace', sent: 1, reason: 'it may have been replaced' },
  { reply: status(500, 'InternalError', 'failed calling webhook'), call: 'apply', sent: 1, reason: 'unknown trouble' },
  { reply: status(422, 'Invalid', 'no'), call: 'apply', sent: 1, reason: 'the object is wrong' },
])('$call is sent $sent times after $reply.status$reply.json.message: $reason', async ({ reply, call, sent }) => {
  const { url, received } = await serve(first(reply));
  const cluster = await connect(url);
  const id = { apiVersion: 'example.com/v2', kind: 'Widget', namespace: 'ns', name: 'w' };
  const calls = {
    apply: () => cluster.apply(widget, { force: false }),
    remove: () => cluster.remove(id, 'uid'),
    list: () => cluster.list(widgets),
    get: () => cluster.get(id),
    create: () => cluster.create(widget),
    replace: () => cluster.replace(widget),
  };
  const outcome = await calls[call]().then(
    () => 'done',
    () => 'failed',
  );
  expect([received.length, outcome]).toEqual([sent, sent === 2 ? 'done' : 'failed']);
});

test('waiting grows, obeys Retry-After, and ends', async () => {
  const clock = hurriedClock();
  const patient = await serve(first({ ...busy, headers: { 'retry-after': '3' } }, hiccup, hiccup));
  await (await connect(patient.url, { clock })).apply(widget, { force: false });
  const [told = 0, second = 0, third = 0] = clock.slept;
  expect([told, second > 250 && second < 550, third > 550 && third < 1_050]).toEqual([3000, true, true]);
  const endless = await serve(() => busy);
  const failure = await failureOf(async () => (await connect(endless.url)).apply(widget, { force: false }));
  expect([failure.code, failure.retryable, endless.received.length]).toEqual(['cluster-busy', true, 6]);
  const tomorrow = await serve(() => ({ ...busy, headers: { 'retry-after': '3600' } }));
  await failureOf(async () => (await connect(tomorrow.url)).apply(widget, { force: false }));
  expect(tomorrow.received.length).toBe(1);
});

test('a server that is not there is unreachable after a few attempts, one that is silent after its time', async () => {
  const { url } = await serve(() => 'silence');
  const silent = await failureOf(async () => (await connect(url, { timeoutMs: 100 })).list(widgets));
  expect([silent.code, silent.retryable, silent.message]).toEqual([
    'cluster-unreachable',
    true,
    `${url}/apis/example.com/v2/widgets: no answer within 100 ms`,
  ]);
  const urgent = await failureOf(async () => (await connect(url, { urgentTimeoutMs: 50 })).replace(widget));
  expect(urgent.message).toContain('no answer within 50 ms');
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
  const clock = hurriedClock();
  const cluster = await connect(url, { clock });
  const refused = await failureOf(() => cluster.resources());
  expect([refused.code, refused.message]).toEqual(['cluster-unreachable', `${url}/api: connection refused`]);
  expect(cluster.requests()).toBe(12);
});

test('a certificate that is not trusted is said at once', async () => {
  const { url } = await serve(() => ({}));
  const other = createAuthority('other-ca', validity);
  const cluster = { 'certificate-authority-data': Buffer.from(other.certificate).toString('base64') };
  const connected = await connect(url, { cluster });
  const failure = await failureOf(() => connected.resources());
  expect([failure.code, failure.retryable]).toEqual(['cluster-unreachable', false]);
  expect(failure.message).toContain('no trusted TLS connection');
});

test.each([
  { reply: status(401, 'Unauthorized', 'Unauthorized'), code: 'cluster-unauthorized', says: 'Unauthorized' },
  { reply: status(403, 'Forbidden', 'widgets is forbidden'), code: 'cluster-forbidden', says: 'widgets is forbidden' },
  { reply: status(404, 'NotFound', 'namespaces "ns" not found'), code: 'cluster-not-found', says: 'namespaces "ns"' },
  { reply: status(409, 'Conflict', 'changed'), code: 'cluster-conflict', says: 'changed' },
  { reply: status(400, 'BadRequest', 'unknown field'), code: 'cluster-invalid', says: 'unknown field' },
  { reply: status(413, undefined, 'too large'), code: 'cluster-invalid', says: 'too large' },
  {
    reply: status(500, undefined, 'failed to create typed patch object (ns/w): .spec.x: field not declared in schema'),
    code: 'cluster-invalid',
    says: 'field not declared',
  },
  {
    reply: status(422, 'Invalid', 'uid', {
      causes: [{ field: 'metadata.uid', reason: 'FieldValueInvalid', message: 'x' }],
    }),
    code: 'cluster-conflict',
    says: 'uid',
  },
  { reply: status(500, 'InternalError', 'panic'), code: 'cluster-error', says: 'panic' },
  {
    reply: { status: 404, text: '404 page not found\n' },
    code: 'cluster-not-found',
    says: 'status 404: 404 page not found',
  },
  { reply: { status: 418, text: '' }, code: 'cluster-error', says: 'status 418' },
  { reply: { status: 301, text: '' }, code: 'cluster-error', says: 'status 301' },
  { reply: { text: '<html>' }, code: 'cluster-error', says: 'no JSON object' },
  { reply: { text: '[]' }, code: 'cluster-error', says: 'no JSON object' },
  { reply: { json: { kind: 'Widget' } }, code: 'cluster-error', says: 'no object' },
])('$reply.status is $code', async ({ reply, code, says }) => {
  const { url } = await serve(() => reply);
  const failure = await failureOf(async () => (await connect(url)).apply(widget, { force: false }));
  const place = `${url}/apis/example.com/v2/namespaces/ns/widgets/w`;
  expect([failure.code, failure.message]).toEqual([code, expect.stringContaining(`${place}: `)]);
  expect(failure.message).toContain(says);
  expect(failure.data).toMatchObject({ url: place });
});

test('a conflict carries who owns what', async () => {
  const causes = [{ reason: 'FieldManagerConflict', field: '.spec.size', message: 'conflict with "kubectl"' }];
  const { url } = await serve(() => status(409, 'Conflict', 'Apply failed with 1 conflict', { causes }));
  const failure = await failureOf(async () => (await connect(url)).apply(widget, { force: false }));
  expect(failure.data).toMatchObject({ status: 409, reason: 'Conflict', causes });
});

test('what the server says about the content of a Secret is not passed on, who owns it is', async () => {
  const causes = [
    { reason: 'FieldValueInvalid', field: 'data[p]', message: 'Invalid value: "hunter2"' },
    { reason: 'FieldManagerConflict', field: '.data.p', message: 'conflict with "kubectl"' },
  ];
  for (const code of [400, 403, 422, 500]) {
    const { url } = await serve(() => status(code, 'Invalid', 'Secret "s": "hunter2" is no good', { causes }));
    const failure = await failureOf(async () => (await connect(url)).apply(secret, { force: false }));
    const whole = `${failure.message} ${JSON.stringify(failure.data)} ${failure.stack} ${String(failure.cause)}`;
    expect(whole).not.toContain('hunter2');
    expect(whole).toContain('conflict with');
    expect(failure.message).toContain(`${code} Invalid at data[p], .data.p`);
  }
  const gone = await serve(() => status(404, 'NotFound', 'namespaces "ns" not found'));
  const missing = await failureOf(async () => (await connect(gone.url)).apply(secret, { force: false }));
  expect(missing.message).toContain('namespaces "ns" not found');
});

test('an object is deleted in the foreground with its uid, and one that is gone is fine', async () => {
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

test('what keeps a lease does not queue behind other requests', async () => {
  const { url } = await serve(({ method }) => (method === 'PATCH' ? 'silence' : { json: widget }));
  const cluster = await connect(url, { concurrency: 1 });
  await cluster.resources();
  const stuck = [1, 2, 3].map(() => cluster.apply(widget, { force: false }).catch(() => undefined));
  expect(await cluster.replace(widget)).toEqual(widget);
  await cluster.close();
  await Promise.all(stuck);
});

test('after the fence fell nothing is written, not even what waited or is repeated', async () => {
  let fallen = false;
  const { url, received } = await serve(({ body }) => {
    fallen = true;
    return body.includes('"busy"') ? busy : { json: widget };
  });
  const cluster = await connect(url, { concurrency: 1 });
  await cluster.resources();
  cluster.fence(() => {
    if (fallen) throw new Failure('lock-lost', 'the lease ran out');
  });
  const named = (name: string) => ({ ...widget, metadata: { ...widget.metadata, name } });
  const outcomes = await Promise.allSettled([
    cluster.apply(named('busy'), { force: false }),
    cluster.apply(named('queued'), { force: false }),
    cluster.remove({ apiVersion: 'example.com/v2', kind: 'Widget', namespace: 'ns', name: 'removed' }, 'uid'),
  ]);
  expect(outcomes.map((outcome) => (outcome.status === 'rejected' ? outcome.reason.code : 'done'))).toEqual([
    'lock-lost',
    'lock-lost',
    'lock-lost',
  ]);
  expect(received.length).toBe(1);
  await cluster.apply(named('dry'), { force: false, dryRun: true });
  cluster.fence(undefined);
  await cluster.apply(named('after'), { force: false });
  expect(received.length).toBe(3);
});

/** Answers 401 to other tokens than this one. */
function expecting(token: () => string): Handle {
  return ({ headers }) =>
    headers.authorization === `Bearer ${token()}` ? { json: widget } : status(401, 'Unauthorized', 'Unauthorized');
}

test('a token in a file is read again when it is refused', async () => {
  const tokenFile = join(folder(), 'token');
  writeFileSync(tokenFile, 'old\n');
  let valid = 'old';
  const { url, received, connections } = await serve(expecting(() => valid));
  const cluster = await connect(url, { user: { 'auth-provider': { name: 'tokenFile', config: { tokenFile } } } });
  await cluster.apply(widget, { force: false });
  valid = 'new';
  writeFileSync(tokenFile, 'new\n');
  await Promise.all(Array.from({ length: 4 }, () => cluster.apply(widget, { force: false })));
  expect(received.filter(({ headers }) => headers.authorization === 'Bearer old').length).toBeLessThanOrEqual(5);
  expect(connections()).toBeLessThanOrEqual(6);
  valid = 'neither';
  const failure = await failureOf(() => cluster.apply(widget, { force: false }));
  expect([failure.code, failure.message]).toEqual(['cluster-unauthorized', expect.stringContaining('Unauthorized')]);
  expect(received.filter(({ headers }) => headers.authorization === 'Bearer new').length).toBe(6);
});

function execUser(script: string): Record<string, unknown> {
  const exec = {
    apiVersion: 'client.authentication.k8s.io/v1',
    command: process.execPath,
    args: ['-e', script],
    interactiveMode: 'Never',
  };
  return { exec };
}

test('a credentials command runs once, and once more when its token is refused', async () => {
  const log = join(folder(), 'runs');
  const script = `
    require('fs').appendFileSync(${JSON.stringify(log)}, 'x');
    const token = 'token-' + require('fs').readFileSync(${JSON.stringify(log)}).length;
    console.log(JSON.stringify({ kind: 'ExecCredential', status: { token } }));`;
  let valid = 'token-1';
  const { url } = await serve(expecting(() => valid));
  const cluster = await connect(url, { user: execUser(script) });
  await cluster.apply(widget, { force: false });
  await cluster.apply(widget, { force: false });
  expect(readFileSync(log, 'utf8')).toBe('x');
  valid = 'token-2';
  await Promise.all(Array.from({ length: 4 }, () => cluster.apply(widget, { force: false })));
  expect(readFileSync(log, 'utf8')).toBe('xx');
});

test('a credentials command that fails is named with what it says', async () => {
  const { url } = await serve(() => ({}));
  const cluster = await connect(url, {
    user: execUser("console.error('log in first\\nsecond line'); process.exit(3)"),
  });
  const failure = await failureOf(() => cluster.resources());
  expect([failure.code, failure.message]).toEqual([
    'cluster-credentials',
    'credentials of user "u" cannot be had: log in first',
  ]);
});

const DOCUMENT = { openapi: '3.0.0', components: { schemas: { Widget: { type: 'object' } } } };

/** An OpenAPI server whose document changes its hash. */
function openApi(hash: () => string): Handle {
  return ({ path, query }) => {
    const name = 'apis/example.com/v2';
    const current = `/openapi/v3/${name}?hash=${hash()}`;
    if (path === '/openapi/v3') return { json: { paths: { [name]: { serverRelativeURL: current } } } };
    if (query.get('hash') !== hash()) return { status: 301, headers: { location: current }, text: '' };
    return { json: { ...DOCUMENT, info: { title: hash() } } };
  };
}

test('an OpenAPI document is read once per content, and kept between processes', async () => {
  let hash = 'A';
  const cacheDir = join(folder(), 'cache');
  const { url, received } = await serve(openApi(() => hash));
  const paths = () => received.splice(0).map(({ path, query }) => `${path} ${query.get('hash') ?? ''}`.trim());
  const cluster = await connect(url, { cacheDir });
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
  await (await connect(url, { cacheDir })).schema('example.com/v2');
  expect(paths()).toEqual(['/openapi/v3']);
  for (const name of readdirSync(cacheDir)) writeFileSync(join(cacheDir, name), '{"half":');
  await (await connect(url, { cacheDir })).schema('example.com/v2');
  expect(paths()).toEqual(['/openapi/v3', '/openapi/v3/apis/example.com/v2 B']);
});

test('a document that changed after the index was read is found under its new hash', async () => {
  let hash = 'A';
  const { url, received } = await serve((request) => {
    const reply = openApi(() => hash)(request);
    if (request.path === '/openapi/v3') hash = 'B';
    return reply;
  });
  const document = await (await connect(url)).schema('example.com/v2');
  expect(document).toMatchObject({ info: { title: 'B' } });
  expect(received.length).toBe(4);
});

test('a server without OpenAPI v3 has no schemas', async () => {
  const { url } = await serve(() => ({ status: 404, text: '404 page not found' }));
  expect(await (await connect(url)).schema('v1')).toBeUndefined();
});

test('the context says where to look and where home is', async () => {
  const url = 'https://127.0.0.1:1';
  const path = kubeconfig(url, { context: { namespace: 'first' } });
  expect((await connect(url, { kubeconfig: path })).homeNamespace()).toBe('first');
  const second = await connectCluster({
    kubeconfig: path,
    context: 'two',
    fieldManager: 'x',
    concurrency: 1,
    version: '0',
    clock: systemClock,
  });
  expect([second.homeNamespace(), second.server()]).toEqual(['second', url]);
  expect((await connect(url)).homeNamespace()).toBe('default');
});

test.each([
  { text: undefined, context: undefined, says: 'cannot be read', reason: 'no such file' },
  { text: '', context: undefined, says: 'is no kubeconfig', reason: 'nothing' },
  { text: '{"half', context: undefined, says: 'is no kubeconfig', reason: 'broken YAML' },
  { text: 'kind: Config', context: undefined, says: 'has no context ""', reason: 'no contexts' },
  { text: undefined, context: 'three', says: 'has no context "three"', reason: 'an unknown context' },
  { cluster: { server: 'http://127.0.0.1:1' }, says: 'is not TLS', reason: 'plain HTTP' },
  { cluster: { server: 'nonsense' }, says: 'no http or https server', reason: 'no URL' },
])('a kubeconfig is refused: $reason', async ({ text, context, says, cluster }) => {
  const path =
    context === undefined && cluster === undefined
      ? join(folder(), 'kubeconfig')
      : kubeconfig('https://127.0.0.1:1', { ...(cluster && { cluster }) });
  if (text !== undefined) writeFileSync(path, text);
  const options = { fieldManager: 'x', concurrency: 1, version: '0', clock: systemClock, kubeconfig: path };
  const failure = await failureOf(() => connectCluster({ ...options, ...(context && { context }) }));
  expect([failure.code, failure.message]).toEqual(['cluster-config-invalid', expect.stringContaining(says)]);
});
