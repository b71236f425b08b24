// Starts a TLS server that plays an API server with responses of the test, and connects clients to it. Closes servers
// and clients after each test of the importing file.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach } from 'vitest';
import { type ClusterOptions, type ConnectedCluster, connectCluster } from '#adapters/cluster/connect.ts';
import { systemClock } from '#hosts/clock.ts';
import { createAuthority, createServerCertificate } from '#kubernetes/devcluster/identity/certificate.ts';
import type { KubeObject } from '#kubernetes/rules/object.ts';
import type { Clock } from '#reconciler/run/ports.ts';
import { Failure } from '#std/failure.ts';

export const cleanups: (() => unknown)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const DAY_MS = 86_400_000;
export const validity = { notBefore: Date.now() - DAY_MS, notAfter: Date.now() + DAY_MS };
const authority = createAuthority('test-ca', validity);
const server = createServerCertificate(authority, 'test-ca', ['127.0.0.1'], validity);

export interface Received {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly body: string;
  readonly headers: Readonly<Record<string, unknown>>;
}

export interface Reply {
  readonly status?: number;
  readonly json?: unknown;
  readonly text?: string | Buffer;
  readonly headers?: Readonly<Record<string, string>>;
  /** If set, the server closes the connection after the text, before the end of the response. */
  readonly cut?: true;
}

/** Returns the response to a request. `drop`: the server closes the connection. `silence`: it never responds. */
export type Handle = (request: Received) => Reply | 'drop' | 'silence';

export interface TestServer {
  readonly url: string;
  /** Received requests, except requests for discovery. */
  readonly received: Received[];
  readonly connections: () => number;
}

export async function serve(handle: Handle): Promise<TestServer> {
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
    if (reply.cut === true) return response.write(reply.text ?? '', () => response.destroy());
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

/** Responses to discovery requests, by path. */
export const DISCOVERY: Readonly<Record<string, unknown>> = {
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

export function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'skep-cluster-'));
  cleanups.push(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

export interface KubeconfigParts {
  readonly user?: Readonly<Record<string, unknown>>;
  readonly cluster?: Readonly<Record<string, unknown>>;
  readonly context?: Readonly<Record<string, unknown>>;
}

export function kubeconfig(url: string, parts: KubeconfigParts = {}): string {
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

/** Returns a clock whose `sleep` returns at once. `slept` contains the requested milliseconds. */
export function hurriedClock(): Clock & { readonly slept: number[] } {
  const slept: number[] = [];
  return { ...systemClock, slept, sleep: async (ms) => void slept.push(Math.round(ms)) };
}

export async function connect(
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

export async function failureOf(run: () => Promise<unknown>): Promise<Failure> {
  const answer = await run().catch((error: unknown) => error);
  if (answer instanceof Failure) return answer;
  throw new Error(`no Failure but ${JSON.stringify(answer)}`);
}

export function status(code: number, reason: string | undefined, message: string, details: unknown = {}): Reply {
  return {
    status: code,
    json: { kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, message, details },
  };
}

export const widget: KubeObject = {
  apiVersion: 'example.com/v2',
  kind: 'Widget',
  metadata: { name: 'w', namespace: 'ns' },
  spec: { futureField: { deep: [1, null, 'x'] } },
};
export const widgets = { apiVersion: 'example.com/v2', kind: 'Widget', plural: 'widgets', namespaced: true, verbs: [] };
export const secret: KubeObject = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 's', namespace: 'ns' },
  data: { p: 'aHVudGVyMg==' },
};

/** Sends these replies to the first requests, one each, and the widget to all later requests. */
export function first(...replies: (Reply | 'drop' | 'silence')[]): Handle {
  return () => replies.shift() ?? { json: widget };
}

export const busy = status(429, 'TooManyRequests', 'slow down');
export const hiccup = status(500, undefined, 'etcdserver: leader changed');
