// Starts a TLS proxy in front of an API server that disturbs watches: closes them, delays or drops events and
// bookmarks, reports old versions as expired, or refuses all connections. It records all requests.

import { readFileSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Agent, createServer, request } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { createAuthority, createServerCertificate } from '#kubernetes/devcluster/identity/certificate.ts';
import type { TestCluster } from './cluster.ts';

export interface WatchProxy {
  readonly kubeconfigPath: string;
  /** Labels of the requests so far: `GET configmaps`, `LIST configmaps`, `WATCH configmaps`, `PATCH configmaps`. */
  readonly seen: readonly string[];
  /** Returns the resources that have open watches. */
  open(): readonly string[];
  /** Closes the connections of all watches. */
  cut(): void;
  /** Ends all watches. The next watch of each resource gets a 410, because its version is expired. */
  expire(): void;
  /** Delays events of the resource until the returned function is called. Without a resource, delays all events. */
  hold(resource?: string): () => void;
  /** Delays responses to requests with this label until `release` is called. */
  holdAnswers(label: string): HeldAnswers;
  /** Drops all later bookmarks. */
  loseBookmarks(): void;
  /** Drops the next event of this type and resource. */
  lose(type: string, resource: string): void;
  /** Closes all connections, and refuses new ones until the returned function is called. */
  down(): () => void;
  close(): Promise<void>;
}

export interface HeldAnswers {
  count(): number;
  release(): void;
}

const DAY_MS = 86_400_000;
const validity = { notBefore: Date.now() - DAY_MS, notAfter: Date.now() + DAY_MS };
const authority = createAuthority('watch-proxy', validity);
const identity = createServerCertificate(authority, 'watch-proxy', ['127.0.0.1'], validity);
const GONE = { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'Expired', code: 410, message: 'too old' };

interface Watch {
  readonly resource: string;
  readonly response: ServerResponse;
  readonly held: string[];
}

interface State {
  readonly seen: string[];
  readonly watches: Set<Watch>;
  /** Resources whose next watch gets a 410. */
  readonly expired: string[];
  readonly holds: Set<string>;
  /** Functions that send the delayed responses, by label. */
  readonly answers: Map<string, (() => void)[]>;
  readonly losses: { readonly type: string; readonly resource: string }[];
  hasBookmarks: boolean;
  isDown: boolean;
}

export async function startWatchProxy(cluster: Pick<TestCluster, 'authority' | 'kubeconfigPath' | 'url'>) {
  const agent = new Agent({ ca: cluster.authority, keepAlive: true });
  const sockets = new Set<Socket>();
  const state: State = {
    seen: [],
    watches: new Set(),
    expired: [],
    holds: new Set(),
    answers: new Map(),
    losses: [],
    hasBookmarks: true,
    isDown: false,
  };
  const server = createServer({ cert: identity.certificate, key: identity.privateKey }, (message, response) => {
    if (state.isDown) return void response.destroy();
    pass(state, { url: cluster.url, agent }, message, response);
  });
  server.on('secureConnection', (socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const cut = (): void => {
    for (const { response } of state.watches) response.destroy();
  };
  const proxy: WatchProxy = {
    kubeconfigPath: writeKubeconfig(cluster.kubeconfigPath, (server.address() as AddressInfo).port),
    seen: state.seen,
    open: () => [...state.watches].map(({ resource }) => resource),
    cut,
    expire() {
      for (const { resource } of state.watches) state.expired.push(resource);
      cut();
    },
    hold: (resource = '') => hold(state, resource),
    holdAnswers: (label) => holdAnswers(state, label),
    loseBookmarks() {
      state.hasBookmarks = false;
    },
    lose: (type, resource) => void state.losses.push({ type, resource }),
    down() {
      state.isDown = true;
      for (const socket of sockets) socket.destroy();
      return () => {
        state.isDown = false;
      };
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      agent.destroy();
      await new Promise((done) => server.close(done));
    },
  };
  return proxy;
}

function hold(state: State, resource: string): () => void {
  state.holds.add(resource);
  return () => {
    state.holds.delete(resource);
    for (const watch of state.watches) flush(state, watch);
  };
}

function holdAnswers({ answers }: State, label: string): HeldAnswers {
  const held: (() => void)[] = [];
  answers.set(label, held);
  return {
    count: () => held.length,
    release() {
      answers.delete(label);
      for (const passOn of held) passOn();
    },
  };
}

function flush({ holds }: State, { resource, held, response }: Watch): void {
  if (!holds.has('') && !holds.has(resource)) for (const line of held.splice(0)) response.write(`${line}\n`);
}

interface Upstream {
  readonly url: string;
  readonly agent: Agent;
}

const PLACE = /^\/(?:api\/v1|apis\/[^/]+\/[^/]+)\/(?:namespaces\/[^/]+\/)?([^/]+)(\/[^/]+)?/;

function pass(state: State, { url, agent }: Upstream, message: IncomingMessage, response: ServerResponse): void {
  const { pathname, searchParams } = new URL(message.url ?? '/', url);
  const [, resource = 'other', name] = PLACE.exec(pathname) ?? [];
  const isWatch = searchParams.get('watch') === 'true';
  const isList = message.method === 'GET' && name === undefined && resource !== 'other';
  const label = `${isWatch ? 'WATCH' : isList ? 'LIST' : message.method} ${resource}`;
  state.seen.push(label);
  const expired = isWatch ? state.expired.indexOf(resource) : -1;
  if (expired >= 0) {
    state.expired.splice(expired, 1);
    response.writeHead(200, { 'content-type': 'application/json' });
    return void response.end(`${JSON.stringify({ type: 'ERROR', object: GONE })}\n`);
  }
  const { host: _host, ...headers } = message.headers;
  const sent = request(`${url}${message.url}`, { agent, method: message.method, headers }, (answer) => {
    const passOn = (): void => {
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      if (isWatch && answer.statusCode === 200) passEvents(state, resource, answer, response);
      else answer.pipe(response);
    };
    const held = state.answers.get(label);
    if (held === undefined) passOn();
    else held.push(passOn);
  });
  sent.on('error', () => response.destroy());
  response.on('close', () => sent.destroy());
  message.pipe(sent);
}

function passEvents(state: State, resource: string, answer: IncomingMessage, response: ServerResponse): void {
  const watch: Watch = { resource, response, held: [] };
  state.watches.add(watch);
  response.on('close', () => state.watches.delete(watch));
  response.flushHeaders();
  let pending = '';
  answer.setEncoding('utf8');
  answer.on('error', () => response.destroy());
  answer.on('data', (chunk: string) => {
    const lines = `${pending}${chunk}`.split('\n');
    pending = lines.pop() ?? '';
    watch.held.push(...lines.filter((line) => isPassed(state, resource, line)));
    flush(state, watch);
  });
  answer.on('end', () => response.end());
}

function isPassed({ hasBookmarks, losses }: State, resource: string, line: string): boolean {
  const { type } = JSON.parse(line);
  if (type === 'BOOKMARK') return hasBookmarks;
  const index = losses.findIndex((loss) => loss.type === type && loss.resource === resource);
  if (index >= 0) losses.splice(index, 1);
  return index < 0;
}

let proxies = 0;

function writeKubeconfig(of: string, port: number): string {
  const config = JSON.parse(readFileSync(of, 'utf8'));
  config.clusters[0].cluster.server = `https://127.0.0.1:${port}`;
  config.clusters[0].cluster['certificate-authority-data'] = Buffer.from(authority.certificate).toString('base64');
  proxies += 1;
  const path = join(dirname(of), `watch-proxy-${proxies}.kubeconfig`);
  writeFileSync(path, JSON.stringify(config), { mode: 0o600 });
  return path;
}
