// The registry service over a real PostgreSQL that tests can fill, and take away.

import { connect, createServer, type Socket } from 'node:net';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { Ajv, type ValidateFunction } from 'ajv';
import type { FastifyInstance, InjectOptions } from 'fastify';
import { pino } from 'pino';
import { createOutbound } from '#adapters/http/outbound.ts';
import { openPool } from '#adapters/postgres/pool.ts';
import { createStore, type Store } from '#adapters/postgres/store.ts';
import { readRegistryConfig } from '#contracts/registry/config-read.ts';
import type { CatalogueEntry } from '#registry/catalogue/entry.ts';
import type { SourceKey } from '#registry/catalogue/ports.ts';
import { buildApp } from '#registry/service/app.ts';
import { createServiceMetrics, type ServiceMetrics } from '#registry/service/metrics.ts';
import { formatProblem } from '#std/problem.ts';
import { createTestDatabase } from '../../harness/database.ts';

export const KEY: SourceKey = { namespace: 'fleet', registry: 'catalogue', source: 'tools' };

const CONFIG = `registryName: catalogue
namespace: fleet
registries:
  - {name: tools, file: {path: tools.json}, syncPolicy: {interval: 1h30m}}
  - {name: empty, file: {path: empty.json}}
  - {name: "with/slash", file: {path: slash.json}}
  - {name: nothing, managed: {}}
`;

const UNPACK: Readonly<Record<string, (packed: Buffer) => Buffer>> = { gzip: gunzipSync, br: brotliDecompressSync };

export interface Service {
  readonly app: FastifyInstance;
  readonly store: Store;
  readonly metrics: ServiceMetrics;
  /** Makes the entries the whole content of the registry `tools`. */
  fill(entries: readonly CatalogueEntry[], now: string): Promise<void>;
  get(url: string, headers?: Record<string, string>): Promise<Answer>;
  send(options: InjectOptions): Promise<Answer>;
  logs(): string;
  /** Runs a statement with all rights. */
  sql(text: string): Promise<object[]>;
  /** Cuts every connection to the database and refuses new ones, until `restoreDatabase`. */
  loseDatabase(): Promise<void>;
  restoreDatabase(): Promise<void>;
  close(): Promise<void>;
}

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: what came over the wire; tests look at it piece by piece.
  readonly json: any;
}

/** `auth`, `more`: sections of the configuration. */
export async function openService(auth = 'auth: {mode: anonymous}', more = ''): Promise<Service> {
  const database = await createTestDatabase();
  const proxy = await startProxy(database.app.host, database.app.port);
  const pool = openPool({ ...database.app, host: '127.0.0.1', port: proxy.port });
  const store = createStore(pool);
  const outbound = createOutbound({ allowPrivate: [], version: 'test' });
  const lines: string[] = [];
  const read = readRegistryConfig(`${CONFIG}${auth}\n${more}\n`, 'config.yaml');
  if ('problems' in read) throw new Error(read.problems.map(formatProblem).join('\n'));
  let ids = 0;
  const metrics = createServiceMetrics('1.2.3', []);
  const app = await buildApp({
    config: read.config,
    catalogue: store,
    auth: {
      fetch: outbound.request,
      files: { read: async (path) => readConfigured(path) },
      clock: { now: () => Date.now(), monotonic: () => performance.now() },
    },
    logger: pino({ level: 'debug' }, { write: (line) => lines.push(line) }),
    version: { version: '1.2.3', commit: 'abc', build_date: 'unknown', node_version: 'v24', platform: 'linux/amd64' },
    newRequestId: () => {
      ids += 1;
      return `generated-${ids}`;
    },
    metrics,
  });
  await app.ready();
  const documented = documentedAnswers(app);

  async function send(options: InjectOptions): Promise<Answer> {
    const response = await app.inject(options);
    const unpack = UNPACK[String(response.headers['content-encoding'])];
    const text = unpack === undefined ? response.body : unpack(response.rawPayload).toString();
    const isJson = String(response.headers['content-type']).startsWith('application/json') && text !== '';
    const answer: Answer = {
      status: response.statusCode,
      headers: response.headers as Answer['headers'],
      text,
      json: isJson ? JSON.parse(text) : undefined,
    };
    documented(String(options.url), (options.method ?? 'GET').toLowerCase(), answer);
    return answer;
  }

  return {
    app,
    store,
    metrics,
    send,
    get: (url, headers = {}) => send({ method: 'GET', url, headers }),
    async fill(entries, now) {
      const state = {
        phase: 'Complete',
        message: '',
        attemptCount: 0,
        serverCount: entries.length,
        rejectedCount: 0,
      } as const;
      await store.replace(KEY, entries, state, () => now);
    },
    logs: () => lines.join(''),
    sql: (text) => database.sql(text),
    loseDatabase: proxy.stop,
    restoreDatabase: proxy.start,
    async close() {
      await app.close();
      await outbound.close();
      await store.close();
      await proxy.stop();
      await database.drop();
    },
  };
}

export const SYNC_TOKEN = 'for-syncs-only';

function readConfigured(path: string): string {
  if (path !== 'sync-token') throw new Error('no such file is configured');
  return `${SYNC_TOKEN}\n`;
}

/** Throws where an answer is not what the OpenAPI document says of its path and status. */
function documentedAnswers(app: FastifyInstance): (url: string, method: string, answer: Answer) => void {
  const document: OpenApi = JSON.parse(JSON.stringify(app.swagger()));
  const ajv = new Ajv({ strict: false, validateFormats: false });
  const validators = new Map<string, ValidateFunction>();
  return (url, method, { status, json }) => {
    const path = Object.keys(document.paths).find((template) => matches(template, url.split('?', 1)[0] ?? ''));
    const responses = path === undefined ? undefined : document.paths[path]?.[method]?.responses;
    if (responses === undefined || json === undefined) return;
    const schema = (responses[status] ?? responses.default)?.content?.['application/json']?.schema;
    if (schema === undefined) throw new Error(`${url}: status ${status} is not documented for ${path}`);
    const key = `${method} ${path} ${status}`;
    const validate = validators.get(key) ?? ajv.compile(schema);
    validators.set(key, validate);
    if (!validate(json)) throw new Error(`${key}: ${ajv.errorsText(validate.errors)}`);
  };
}

interface OpenApi {
  readonly paths: Readonly<
    Record<
      string,
      {
        readonly [method: string]:
          | undefined
          | {
              readonly responses: Readonly<
                Record<string, { readonly content?: Readonly<Record<string, { schema: object }>> }>
              >;
            };
      }
    >
  >;
}

function matches(template: string, path: string): boolean {
  const expected = template.split('/');
  const actual = path.split('/');
  return (
    expected.length === actual.length &&
    expected.every((segment, index) => segment.startsWith('{') || segment === actual[index])
  );
}

interface Proxy {
  readonly port: number;
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** Between the service and PostgreSQL, so that a test can pull the cable. */
async function startProxy(host: string, port: number): Promise<Proxy> {
  const sockets = new Set<Socket>();
  const server = createServer((incoming) => {
    const outgoing = connect({ host, port });
    for (const socket of [incoming, outgoing]) {
      sockets.add(socket);
      socket.on('error', () => socket.destroy());
      socket.on('close', () => {
        sockets.delete(socket);
        incoming.destroy();
        outgoing.destroy();
      });
    }
    incoming.pipe(outgoing).pipe(incoming);
  });
  function listen(at: number): Promise<number> {
    return new Promise((resolve) => {
      server.listen(at, '127.0.0.1', () => {
        const address = server.address();
        resolve(typeof address === 'object' && address !== null ? address.port : 0);
      });
    });
  }
  const own = await listen(0);
  return {
    port: own,
    async start() {
      await listen(own);
    },
    stop: () =>
      new Promise((resolve) => {
        if (!server.listening) return resolve();
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}
