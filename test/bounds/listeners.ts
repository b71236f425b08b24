// The listeners of the program, each with the routes that it answers, taken from the program itself: a route that is new is one
// that the test walks.

import type { FastifyInstance } from 'fastify';
import { pino } from 'pino';
import { createOutbound } from '#adapters/http/outbound.ts';
import type { DatabaseAddress } from '#adapters/postgres/connect.ts';
import { openPool } from '#adapters/postgres/pool.ts';
import { createStore } from '#adapters/postgres/store.ts';
import { readRegistryConfig } from '#contracts/registry/config-read.ts';
import type { RunConfig } from '#contracts/run-config.ts';
import type { VmcpConfig } from '#contracts/vmcp-config.ts';
import { issuerRoutes } from '#gateway/issuer/routes.ts';
import { issuerSettings } from '#gateway/issuer/settings.ts';
import { plainRoutes } from '#gateway/proxy/plain-answers.ts';
import { frontOf, limitsOf, resourceOf } from '#gateway/proxy/settings.ts';
import { MESSAGES_PATH, SSE_PATH } from '#gateway/proxy/sse/routes.ts';
import { proxyClock } from '#hosts/proxy/clock.ts';
import { startProxy } from '#hosts/proxy/proxy.ts';
import { startVirtualServer } from '#hosts/virtual-server/vmcp.ts';
import { createWatchedFiles } from '#hosts/watched-files.ts';
import { buildApp } from '#registry/service/app.ts';
import { createServiceMetrics } from '#registry/service/metrics.ts';
import { controlApp } from '../reconciler/control/control-app.ts';

/** Settings of a listener. They are passed to its process as JSON. */
export type Start =
  | { readonly kind: 'proxy'; readonly config: RunConfig; readonly environment?: Readonly<Record<string, string>> }
  | { readonly kind: 'virtual server'; readonly config: VmcpConfig }
  | { readonly kind: 'registry service'; readonly database: DatabaseAddress }
  | { readonly kind: 'control listener'; readonly secret: string };

interface Route {
  readonly method: 'GET' | 'POST';
  /** Parameters have values. */
  readonly path: string;
  /** Bytes of a body. */
  readonly bodyBytes: number;
}

export interface Listening {
  readonly url: string;
  readonly routes: readonly Route[];
  /** Bytes of a head. */
  readonly headBytes: number;
}

const SILENT = pino({ level: 'silent' });

export function listen(start: Start): Promise<Listening> {
  switch (start.kind) {
    case 'proxy':
      return listenProxy(start.config, start.environment ?? {});
    case 'virtual server':
      return listenVirtual(start.config);
    case 'registry service':
      return listenRegistry(start.database);
    case 'control listener':
      return listenControl(start.secret);
  }
}

/** The largest head that the listener of proxies and virtual servers takes. */
const PROXY_HEAD_BYTES = 32 * 1024;
const ISSUER_BODY_BYTES = 64 * 1024;

async function listenProxy(config: RunConfig, environment: Readonly<Record<string, string>>): Promise<Listening> {
  const running = await startProxy({
    config,
    environment,
    files: createWatchedFiles(),
    logger: SILENT,
    writeAudit: () => undefined,
  });
  const { origin } = new URL(running.url);
  return {
    url: origin,
    headBytes: PROXY_HEAD_BYTES,
    routes: [...plainOf(config), ...issuerOf(config), ...mcpOf(config)],
  };
}

const HEALTH = {
  unready: () => undefined,
  report: () => ({}),
  observed: () => undefined,
  drain: () => undefined,
  stop: () => undefined,
};

function plainOf(config: RunConfig): readonly Route[] {
  const resource = resourceOf(config, undefined);
  const metricsText = config.telemetry_config?.enable_prometheus_metrics_path === true ? () => '' : undefined;
  return [...plainRoutes({ health: HEALTH, resource, metricsText }).keys()].map((path) => ({
    method: 'GET',
    path,
    bodyBytes: 0,
  }));
}

function issuerOf({ embedded_auth_server_config: config }: RunConfig): readonly Route[] {
  if (config === undefined) return [];
  const routes = issuerRoutes({ settings: issuerSettings(config, 'aud'), ports: { clock: proxyClock } });
  return [...routes].flatMap(([path, { methods }]) =>
    (['GET', 'POST'] as const).flatMap((method) =>
      methods[method] === undefined ? [] : [{ method, path, bodyBytes: method === 'POST' ? ISSUER_BODY_BYTES : 0 }],
    ),
  );
}

function mcpOf(config: RunConfig): readonly Route[] {
  const { requestBytes } = limitsOf(config);
  if (frontOf(config) === 'sse')
    return [
      { method: 'GET', path: SSE_PATH, bodyBytes: 0 },
      { method: 'POST', path: MESSAGES_PATH, bodyBytes: requestBytes },
    ];
  return [
    { method: 'GET', path: '/mcp', bodyBytes: 0 },
    { method: 'POST', path: '/mcp', bodyBytes: requestBytes },
  ];
}

async function listenVirtual(config: VmcpConfig): Promise<Listening> {
  const running = await startVirtualServer({
    config,
    place: { host: '127.0.0.1', port: 0, namespace: 'tests' },
    environment: {},
    files: createWatchedFiles(),
    logger: SILENT,
    writeAudit: () => undefined,
  });
  const documents = ['/health', '/readyz', '/status', '/api/backends/health'];
  return {
    url: new URL(running.url).origin,
    headBytes: PROXY_HEAD_BYTES,
    routes: [
      ...documents.map((path): Route => ({ method: 'GET', path, bodyBytes: 0 })),
      { method: 'GET', path: '/mcp', bodyBytes: 0 },
      { method: 'POST', path: '/mcp', bodyBytes: 4 * 1024 * 1024 },
    ],
  };
}

const REGISTRY = `registryName: catalogue
namespace: fleet
registries:
  - {name: tools, file: {path: tools.json}, syncPolicy: {interval: 1h}}
auth: {mode: anonymous}
`;

async function listenRegistry(database: DatabaseAddress): Promise<Listening> {
  const read = readRegistryConfig(REGISTRY, 'config.yaml');
  if ('problems' in read) throw new Error(JSON.stringify(read.problems));
  const outbound = createOutbound({ allowPrivate: [], version: 'test' });
  let ids = 0;
  const app = await buildApp({
    config: read.config,
    catalogue: createStore(openPool(database)),
    auth: {
      fetch: outbound.request,
      files: { read: async () => '' },
      clock: { now: () => Date.now(), monotonic: () => performance.now() },
    },
    logger: SILENT,
    version: { version: '1', commit: 'abc', build_date: 'unknown', node_version: 'v24', platform: 'linux/amd64' },
    newRequestId() {
      ids += 1;
      return `r${ids}`;
    },
    metrics: createServiceMetrics('1', []),
  });
  return listenFastify(app, read.config.limits.headerBytes);
}

/** Default of Node.js. */
const NODE_HEAD_BYTES = 16 * 1024;

function listenControl(secret: string): Promise<Listening> {
  const app = controlApp({
    hooks: {
      sources: [{ name: 'fleet', repository: 'https://git.example.com/fleet.git' }],
      now: () => Date.now(),
      monotonic: () => performance.now(),
      counted: () => undefined,
      secrets: { values: async () => [secret] },
    },
    tokens: { values: async () => [secret] },
    snapshot: () => '{}',
  });
  return listenFastify(app, NODE_HEAD_BYTES);
}

const BODY_BYTES = 64 * 1024;

async function listenFastify(app: FastifyInstance, headBytes: number): Promise<Listening> {
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  return { url, headBytes, routes: routesIn(app.printRoutes({ commonPrefix: false, includeHooks: false })) };
}

/** Out of Fastify's picture of its routes: each line is a path below that of a line with less space before it. */
function routesIn(picture: string): readonly Route[] {
  const above: { readonly indent: number; readonly path: string }[] = [];
  return picture.split('\n').flatMap((line): readonly Route[] => {
    const match = /^(?<space>[│ ]*)[├└]── (?<path>\S*)(?: \((?<methods>[^)]*)\))?/u.exec(line);
    if (match?.groups === undefined) return [];
    const { space = '', path = '', methods = '' } = match.groups;
    while ((above.at(-1)?.indent ?? -1) >= space.length) above.pop();
    const whole = `${above.at(-1)?.path ?? ''}${path}`;
    above.push({ indent: space.length, path: whole });
    const own = methods.split(', ');
    return (['GET', 'POST'] as const).flatMap((method) =>
      own.includes(method) ? [{ method, path: valued(whole), bodyBytes: method === 'POST' ? BODY_BYTES : 0 }] : [],
    );
  });
}

function valued(path: string): string {
  return path
    .replaceAll(':registry', 'tools')
    .replaceAll(/:[a-z]+/g, 'a')
    .replaceAll('*', 'a');
}
