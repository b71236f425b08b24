// Starts the embedded Kubernetes API for tests, over HTTPS, with state in a temporary directory.

import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { type Devcluster, type DevclusterOptions, startDevcluster } from '#kubernetes/devcluster/devcluster.ts';
import { PATIENCE_MS } from './patience.ts';

export interface TestAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  readonly body: any;
  readonly text: string;
}

interface SendOptions {
  readonly body?: unknown;
  readonly contentType?: string;
  readonly accept?: string;
  readonly userAgent?: string;
  /** Bearer token instead of the admin's token. If null, the request has no token. */
  readonly token?: string | null;
}

export interface TestCluster {
  readonly cluster: Devcluster;
  readonly url: string;
  readonly kubeconfigPath: string;
  /** Certificate of the authority that signed the server's certificate, as PEM. */
  readonly authority: string;
  readonly token: string;
  /** Sends a request. A body that is not a string is sent as JSON. */
  send(method: string, path: string, options?: SendOptions): Promise<TestAnswer>;
  /** Performs a server-side apply of an object at its path. */
  apply(path: string, object: unknown, query?: string): Promise<TestAnswer>;
  /** Returns the received events of a watch when `until` returns true for them. Throws after PATIENCE_MS. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into events of every shape
  watch(path: string, until: (events: readonly any[]) => boolean, accept?: string): Promise<any[]>;
  /** Stops the server and starts it again with the same directory, URL and credentials. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** If `dir` is set, the caller creates and removes this state directory. Otherwise the server has a temporary one. */
type Settings = Partial<DevclusterOptions>;

/** The clock for tests that need the real time. */
export const REAL_CLOCK: DevclusterOptions['clock'] = {
  now: () => Date.now(),
  sleep: async (ms, signal) => {
    await sleep(ms, undefined, signal === undefined ? {} : { signal }).catch(() => undefined);
  },
};

export async function startTestCluster(settings: Settings = {}): Promise<TestCluster> {
  const dir = settings.dir ?? (await mkdtemp(join(tmpdir(), 'devcluster-')));
  let cluster = await startDevcluster({ clock: REAL_CLOCK, ...settings, dir }).catch(async (error: unknown) => {
    if (settings.dir === undefined) await rm(dir, { recursive: true, force: true });
    throw error;
  });
  const { url, kubeconfigPath } = cluster;
  const { authority, token } = await readCredentials(kubeconfigPath);
  const agent = new Agent({ connect: { ca: authority }, headersTimeout: PATIENCE_MS, bodyTimeout: PATIENCE_MS });
  const send: TestCluster['send'] = (method, path, options = {}) => sendTo(agent, url, token, method, path, options);
  return {
    get cluster() {
      return cluster;
    },
    url,
    kubeconfigPath,
    authority,
    token,
    send,
    apply: (path, object, query = 'fieldManager=test&force=true') =>
      send('PATCH', `${path}?${query}`, { body: object, contentType: 'application/apply-patch+yaml' }),
    watch: (path, until, accept) => watchUntil(agent, url, token, path, until, accept),
    restart: async () => {
      await cluster.stop();
      cluster = await startDevcluster({ clock: REAL_CLOCK, ...settings, dir, port: Number(new URL(url).port) });
    },
    stop: async () => {
      await agent.destroy();
      await cluster.stop();
      if (settings.dir === undefined) await rm(dir, { recursive: true, force: true });
    },
  };
}

async function readCredentials(kubeconfigPath: string): Promise<{ authority: string; token: string }> {
  const config = JSON.parse(await readFile(kubeconfigPath, 'utf8'));
  const encoded: string = config.clusters[0].cluster['certificate-authority-data'];
  return { authority: Buffer.from(encoded, 'base64').toString('utf8'), token: config.users[0].user.token };
}

async function sendTo(
  agent: Agent,
  url: string,
  token: string,
  method: string,
  path: string,
  { body, contentType, accept, userAgent, token: other = token }: SendOptions,
): Promise<TestAnswer> {
  const headers: Record<string, string> = {};
  if (other !== null) headers.authorization = `Bearer ${other}`;
  if (contentType !== undefined || body !== undefined) headers['content-type'] = contentType ?? 'application/json';
  if (accept !== undefined) headers.accept = accept;
  if (userAgent !== undefined) headers['user-agent'] = userAgent;
  const payload = body === undefined ? null : typeof body === 'string' ? body : JSON.stringify(body);
  const answer = await request(`${url}${path}`, { dispatcher: agent, method: method as 'GET', headers, body: payload });
  const text = await answer.body.text();
  return { status: answer.statusCode, headers: answer.headers, body: parse(text), text };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function watchUntil(
  agent: Agent,
  url: string,
  token: string,
  path: string,
  until: (events: readonly unknown[]) => boolean,
  accept?: string,
): Promise<unknown[]> {
  const signal = AbortSignal.timeout(PATIENCE_MS);
  const headers = { authorization: `Bearer ${token}`, ...(accept === undefined ? {} : { accept }) };
  const answer = await request(`${url}${path}`, { dispatcher: agent, headers, signal });
  const events: unknown[] = [];
  let rest = '';
  for await (const chunk of answer.body) {
    const lines = `${rest}${String(chunk)}`.split('\n');
    rest = lines.pop() ?? '';
    events.push(...lines.map((line) => JSON.parse(line) as unknown));
    if (until(events)) break;
  }
  return events;
}

/** Calls `ask` until `pleases` accepts the value. After the deadline, throws an error that contains the last value. */
export async function eventually<T>(ask: () => Promise<T>, pleases: (value: T) => boolean): Promise<T> {
  const deadline = Date.now() + PATIENCE_MS;
  let last = 'nothing was answered';
  for (;;) {
    const value = await inTime(ask(), deadline - Date.now(), () => new Error(`not in time; last seen: ${last}`));
    if (pleases(value)) return value;
    last = String(JSON.stringify(value));
    if (Date.now() >= deadline) throw new Error(`not in time; last seen: ${last}`);
    await sleep(20);
  }
}

async function inTime<T>(asked: Promise<T>, ms: number, late: () => Error): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const expired = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(late()), ms);
  });
  try {
    return await Promise.race([asked, expired]);
  } finally {
    clearTimeout(timer);
  }
}
