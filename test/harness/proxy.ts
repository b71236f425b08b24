// A TLS proxy in front of an API server that does with each request what a test tells: passes it on, loses it, refuses
// it, keeps it for a while, or ends everything, as the death of a client's process does. It measures what it sees.

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
  /** Counts all requests, from 1. */
  readonly number: number;
  readonly method: string;
  /** `PATCH mcpservers/status`, `GET leases`, `PATCH? roles` for a dry run. */
  readonly label: string;
  /** With query. */
  readonly url: string;
  readonly body: string;
  readonly isWrite: boolean;
  readonly isDryRun: boolean;
}

/**
 * `lose`: the connection ends, before or after the server has done it. `end`: the same for everything that is under way
 * and all that ever comes, and the request itself reaches the server only `after`. `hold`: is passed on once the promise
 * resolves.
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
  /** What the server says; short where it is not given. */
  readonly message?: string;
}

export interface Seen extends Passing {
  /** Milliseconds of one monotonic clock. */
  readonly at: number;
  /** What was answered; undefined while nothing was. */
  status: number | undefined;
  /** What the server said, where it has forbidden it. */
  forbidden?: string;
}

export interface TestProxy {
  readonly kubeconfigPath: string;
  readonly seen: readonly Seen[];
  /** Requests that chosen ones were under way at once, at most. */
  readonly most: () => number;
  /** True once `end` has struck. */
  readonly ended: () => boolean;
  /** Resolves when the server has done what was passed on. */
  close(): Promise<void>;
}

const DAY_MS = 86_400_000;
const validity = { notBefore: Date.now() - DAY_MS, notAfter: Date.now() + DAY_MS };
const authority = createAuthority('test-proxy', validity);
const identity = createServerCertificate(authority, 'test-proxy', ['127.0.0.1'], validity);
let proxies = 0;

/** `counts`: which requests `most` is about. */
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
      // The client went away while it was sending: nothing was asked.
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
      // The server behind has gone.
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

  /** Passes events on as they come, until either side ends. */
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

  /** As a process ends: its sockets close, and no one connects any more. */
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
