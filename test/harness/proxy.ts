// Starts a TLS proxy in front of an API server that forwards, drops, refuses or delays each request as a test decides.
// It can also close all connections, as a client that dies does. It records all requests.

import { readFileSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { Agent, request } from 'undici';
import { createAuthority, createServerCertificate } from '#kubernetes/devcluster/identity/certificate.ts';
import type { TestCluster } from './cluster.ts';

export interface Passing {
  /** Number of the request, counted from 1. */
  readonly number: number;
  readonly method: string;
  /** Method and resource, such as `PATCH mcpservers/status` or `GET leases`. Dry runs have a `?`: `PATCH? roles`. */
  readonly label: string;
  /** Path with query. */
  readonly url: string;
  readonly body: string;
  readonly isWrite: boolean;
  readonly isDryRun: boolean;
}

/**
 * What happens to a request. `lose` closes its connection before or after the server has handled the request. `end`
 * also closes all other connections and refuses new ones. `hold` forwards the request after the promise has resolved.
 */
export type Fate =
  | 'pass'
  | { readonly lose: 'before' | 'after' }
  | { readonly end: 'before' | 'after' }
  | Refusal
  | { readonly hold: Promise<unknown> };

interface Refusal {
  readonly status: number;
  readonly retryAfterSeconds?: number;
  /** Message of the refusal. Defaults to a short text. */
  readonly message?: string;
}

export interface Seen extends Passing {
  /** Time in milliseconds of a monotonic clock. */
  readonly at: number;
  /** Status of the response. undefined before the response. */
  status: number | undefined;
  /** Body of the response if its status is 403. */
  forbidden?: string;
}

export interface TestProxy {
  readonly kubeconfigPath: string;
  readonly seen: readonly Seen[];
  /** Returns the maximum number of counted requests that were in progress at the same time. */
  readonly most: () => number;
  /** Returns true after an `end`. */
  readonly ended: () => boolean;
  /** Closes the proxy. Resolves when the server has handled all forwarded requests. */
  close(): Promise<void>;
}

const DAY_MS = 86_400_000;
const validity = { notBefore: Date.now() - DAY_MS, notAfter: Date.now() + DAY_MS };
const authority = createAuthority('test-proxy', validity);
const identity = createServerCertificate(authority, 'test-proxy', ['127.0.0.1'], validity);
let proxies = 0;

/** `counts` selects the requests that `most` counts. Watches are never counted. */
export async function startProxy(
  cluster: Pick<TestCluster, 'authority' | 'kubeconfigPath' | 'url'>,
  decide: (passing: Passing) => Fate,
  counts: (passing: Passing) => boolean = () => true,
): Promise<TestProxy> {
  const upstream = new Agent({ connect: { ca: cluster.authority }, connections: null });
  const seen: Seen[] = [];
  const passedOn = new Set<Promise<unknown>>();
  let [running, most, ended] = [0, 0, false];
  const server = createServer({ cert: identity.certificate, key: identity.privateKey }, (message, response) => {
    void handle(message, response);
  });

  async function handle(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of message) chunks.push(chunk);
    } catch {
      // The client disconnected before it had sent the whole request, so no request is recorded.
      return;
    }
    if (ended) return void response.destroy();
    const passing = describe(message, Buffer.concat(chunks), seen.length + 1);
    const entry: Seen = { ...passing, at: performance.now(), status: undefined };
    seen.push(entry);
    const isWatch = new URL(passing.url, cluster.url).searchParams.get('watch') === 'true';
    const counted = !isWatch && counts(passing) ? 1 : 0;
    running += counted;
    most = Math.max(most, running);
    try {
      if (isWatch && decide(entry) === 'pass') await passWatch(entry, message, response);
      else await meet(entry, message, response);
    } catch {
      // The API server has closed the connection.
      response.destroy();
    } finally {
      running -= counted;
    }
  }

  async function meet(entry: Seen, message: IncomingMessage, response: ServerResponse): Promise<void> {
    const fate = decide(entry);
    if (fate === 'pass') return answer(entry, response, pass(entry, message));
    if ('status' in fate) return refuse(entry, response, fate);
    if ('hold' in fate) {
      await fate.hold;
      return answer(entry, response, pass(entry, message));
    }
    const when = 'lose' in fate ? fate.lose : fate.end;
    const done = when === 'after' ? pass(entry, message) : undefined;
    if ('end' in fate) end();
    await done;
    response.destroy();
  }

  /** Forwards the events of a watch until the client or the server closes the connection. */
  async function passWatch(entry: Seen, { headers }: IncomingMessage, response: ServerResponse): Promise<void> {
    const client = new AbortController();
    response.on('close', () => client.abort());
    const { statusCode, body } = await request(`${cluster.url}${entry.url}`, {
      dispatcher: upstream,
      headers: passedHeaders(headers),
      signal: client.signal,
      bodyTimeout: 0,
    });
    entry.status = statusCode;
    response.writeHead(statusCode, { 'content-type': 'application/json' });
    response.flushHeaders();
    await pipeline(body, response);
  }

  function pass(entry: Seen, { headers }: IncomingMessage) {
    const sent = request(`${cluster.url}${entry.url}`, {
      dispatcher: upstream,
      method: entry.method as 'GET',
      headers: passedHeaders(headers),
      body: entry.body === '' ? null : entry.body,
    }).then(async ({ statusCode, headers: answered, body }) => {
      return { statusCode, answered, bytes: await body.bytes() };
    });
    passedOn.add(sent);
    return sent.finally(() => passedOn.delete(sent));
  }

  async function answer(entry: Seen, response: ServerResponse, sent: ReturnType<typeof pass>): Promise<void> {
    const { statusCode, answered, bytes } = await sent;
    if (ended) return void response.destroy();
    const { connection: _c, 'transfer-encoding': _t, 'keep-alive': _k, ...headers } = answered;
    entry.status = statusCode;
    if (statusCode === 403) entry.forbidden = Buffer.from(bytes).toString();
    response.writeHead(statusCode, headers).end(bytes);
  }

  /** Closes all connections and refuses new connections. */
  function end(): void {
    ended = true;
    server.close();
    server.closeAllConnections();
  }

  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return {
    kubeconfigPath: writeKubeconfig(cluster, server),
    seen,
    most: () => most,
    ended: () => ended,
    async close() {
      end();
      await Promise.all([...passedOn].map((sent) => sent.catch(() => undefined)));
      await upstream.close();
    },
  };
}

function passedHeaders(headers: IncomingMessage['headers']): Record<string, string> {
  const { host: _h, connection: _c, 'content-length': _l, 'transfer-encoding': _t, ...passed } = headers;
  return passed as Record<string, string>;
}

function refuse(entry: Seen, response: ServerResponse, refusal: Refusal): void {
  const { status, retryAfterSeconds, message = 'a fault' } = refusal;
  const wait = retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) };
  entry.status = status;
  response.writeHead(status, { 'content-type': 'application/json', ...wait });
  const details = { causes: [{ reason: 'FieldValueInvalid', field: 'data', message }] };
  response.end(JSON.stringify({ kind: 'Status', apiVersion: 'v1', status: 'Failure', code: status, message, details }));
}

function writeKubeconfig(cluster: Pick<TestCluster, 'kubeconfigPath'>, server: Server): string {
  const { port } = server.address() as AddressInfo;
  const config = JSON.parse(readFileSync(cluster.kubeconfigPath, 'utf8'));
  config.clusters[0].cluster.server = `https://127.0.0.1:${port}`;
  config.clusters[0].cluster['certificate-authority-data'] = Buffer.from(authority.certificate).toString('base64');
  proxies += 1;
  const path = join(dirname(cluster.kubeconfigPath), `proxy-${proxies}.kubeconfig`);
  writeFileSync(path, JSON.stringify(config), { mode: 0o600 });
  return path;
}

const PLACE = /^\/(?:api\/v1|apis\/[^/]+\/[^/]+)\/(?:namespaces\/[^/]+\/)?([^/]+)(?:\/[^/]+(?:\/([^/]+))?)?$/;

function describe({ method = 'GET', url = '/' }: IncomingMessage, body: Buffer, number: number): Passing {
  const { pathname, searchParams } = new URL(url, 'https://server');
  const [, plural = 'other', below] = PLACE.exec(pathname) ?? [];
  const isDryRun = searchParams.has('dryRun');
  const isWrite = method !== 'GET' && !isDryRun;
  const label = `${method}${isDryRun ? '?' : ''} ${plural}${below === undefined ? '' : `/${below}`}`;
  return { number, method, label, url, body: body.toString(), isWrite, isDryRun };
}
