// Starts `skep vmcp serve` in this process, and clients that send arbitrary messages.

import type { VmcpConfig } from '#contracts/vmcp-config.ts';
import { createEventSplitter } from '#gateway/wire/sse.ts';
import { createLogger } from '#hosts/log.ts';
import { type RunningVirtualServer, startVirtualServer, type VirtualOptions } from '#hosts/virtual-server/vmcp.ts';
import { createWatchedFiles } from '#hosts/watched-files.ts';
import type { Environment } from '#std/environment.ts';
import { VIRTUAL_CONFIG } from '../../harness/mcp-modes.ts';
import { type Answered, answered } from '../proxy/world.ts';
import type { TestMember } from './member.ts';

export interface TestedVirtualServer extends RunningVirtualServer {
  readonly origin: string;
  readonly config: VmcpConfig;
  readonly log: readonly Readonly<Record<string, unknown>>[];
  // biome-ignore lint/suspicious/noExplicitAny: what others read is looked at piece by piece
  readonly audit: readonly any[];
  /** Resolves when the log or the audit contains the text. */
  written(text: string): Promise<void>;
}

type Backends = Readonly<Record<string, Pick<TestMember, 'url'>>>;

/** Returns a configuration with these backends. By default, tools are named `<backend>_<tool>`. */
export function configOf(backends: Backends, settings: Partial<VmcpConfig> = {}): VmcpConfig {
  const names = Object.keys(backends);
  const open = Object.fromEntries(names.map((name) => [name, { type: 'unauthenticated' as const }]));
  return {
    ...VIRTUAL_CONFIG,
    name: 'office',
    aggregation: {
      conflictResolution: 'prefix',
      conflictResolutionConfig: { prefixFormat: '{workload}_' },
      excludeAllTools: false,
    },
    backends: names.map((name) => ({ name, url: backends[name]?.url ?? '', transport: 'streamable-http' })),
    ...settings,
    outgoingAuth: { source: 'inline', backends: { ...open, ...settings.outgoingAuth?.backends } },
  };
}

export function operational(failureHandling: Partial<VmcpConfig['operational']['failureHandling']>) {
  const { operational: usual } = VIRTUAL_CONFIG;
  return { operational: { ...usual, failureHandling: { ...usual.failureHandling, ...failureHandling } } };
}

export async function runVirtual(
  config: VmcpConfig,
  environment: Environment = {},
  ownTools?: VirtualOptions['ownTools'],
  port = 0,
): Promise<TestedVirtualServer> {
  const lines: string[] = [];
  const audit: unknown[] = [];
  const waiting = new Set<() => void>();
  const write = (line: string) => {
    lines.push(line);
    for (const look of [...waiting]) look();
  };
  const writeAudit = (line: string) => {
    audit.push(JSON.parse(line));
    write(line);
  };
  const running = await startVirtualServer({
    config,
    place: { host: '127.0.0.1', port, namespace: 'tests' },
    environment,
    ownTools,
    files: createWatchedFiles(),
    logger: createLogger('debug', { write }),
    writeAudit: config.audit?.logFile === undefined ? writeAudit : undefined,
  });
  let stopped: Promise<void> | undefined;
  return {
    ...running,
    config,
    origin: new URL(running.url).origin,
    stop() {
      stopped ??= running.stop();
      return stopped;
    },
    get log() {
      return lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg !== 'audit_event');
    },
    audit,
    written: (text) =>
      new Promise((resolve) => {
        const look = () => {
          if (!lines.some((line) => line.includes(text))) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
      }),
  };
}

const TYPES = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

export interface Client {
  readonly headers: Readonly<Record<string, string>>;
  /** Sends a request. Returns its result, or the response with the error. */
  // biome-ignore lint/suspicious/noExplicitAny: as above
  ask(method: string, params?: object): Promise<any>;
  /** Sends a message unchanged. */
  post(message: object): Promise<Answered>;
  /** Opens the response stream of a request. Without a request, opens the stream of the session by a GET. */
  open(message?: object, more?: Readonly<Record<string, string>>): Promise<Stream>;
  end(): Promise<Answered>;
}

interface Stream {
  // biome-ignore lint/suspicious/noExplicitAny: as above
  next(): Promise<any>;
  /** Returns the id of the last event. */
  lastId(): string | undefined;
  close(): void;
}

/** Connects a client with a session. */
export async function connect(
  { url }: { readonly url: string },
  capabilities: object = {},
  headers: Readonly<Record<string, string>> = {},
): Promise<Client> {
  const params = { protocolVersion: '2025-11-25', capabilities, clientInfo: { name: 'test', version: '1' } };
  const begun = await postTo(url, { jsonrpc: '2.0', id: 0, method: 'initialize', params }, headers);
  const session = begun.headers.get('mcp-session-id');
  if (session === null) throw new Error(`no session: ${begun.status} ${begun.text}`);
  const client = clientWith(url, { ...headers, 'mcp-session-id': session, 'mcp-protocol-version': '2025-11-25' });
  await client.post({ method: 'notifications/initialized' });
  return client;
}

export function clientWith(url: string, headers: Readonly<Record<string, string>>): Client {
  let count = 0;
  return {
    headers,
    async ask(method, params = {}) {
      count += 1;
      const { json, text, status } = await postTo(url, { jsonrpc: '2.0', id: count, method, params }, headers);
      const message = json ?? lastMessage(text);
      if (message === undefined) throw new Error(`no answer: ${status} ${text}`);
      return message.result ?? message;
    },
    post: (message) => postTo(url, { jsonrpc: '2.0', ...message }, headers),
    open: (message, more = {}) => openStream(url, message, { ...headers, ...more }),
    end: async () => answered(await fetch(url, { method: 'DELETE', headers })),
  };
}

/** Returns the last message of an event stream. */
function lastMessage(text: string) {
  const data = text.split('\n').filter((line) => line.startsWith('data: {'));
  return data.length === 0 ? undefined : JSON.parse(data.at(-1)?.slice(6) ?? '');
}

export async function postTo(url: string, message: object, headers: Readonly<Record<string, string>> = {}) {
  const body = JSON.stringify({ jsonrpc: '2.0', ...message });
  return answered(await fetch(url, { method: 'POST', headers: { ...TYPES, ...headers }, body }));
}

async function openStream(
  url: string,
  message: object | undefined,
  headers: Readonly<Record<string, string>>,
): Promise<Stream> {
  const abort = new AbortController();
  const body = message === undefined ? undefined : JSON.stringify({ jsonrpc: '2.0', ...message });
  const method = message === undefined ? 'GET' : 'POST';
  const sent = message === undefined ? { accept: 'text/event-stream' } : TYPES;
  const response = await fetch(url, { method, headers: { ...headers, ...sent }, body, signal: abort.signal });
  if (!response.ok) throw new Error(`status ${response.status} ${await response.text()}`);
  const ready: unknown[] = [];
  const waiting: ((message: unknown) => void)[] = [];
  let lastId: string | undefined;
  const splitter = createEventSplitter(
    { maxEventBytes: 1_000_000 },
    {
      event({ data, id }) {
        lastId = id ?? lastId;
        if (data.length === 0) return;
        const parsed: unknown = JSON.parse(data.toString());
        const next = waiting.shift();
        if (next === undefined) ready.push(parsed);
        else next(parsed);
      },
      fault: () => undefined,
    },
  );
  const pump = async () => {
    for await (const chunk of response.body ?? []) splitter.push(Buffer.from(chunk));
  };
  pump().catch(() => undefined);
  return {
    next: () => {
      const first = ready.shift();
      return first === undefined ? new Promise((resolve) => waiting.push(resolve)) : Promise.resolve(first);
    },
    lastId: () => lastId,
    close: () => abort.abort(),
  };
}
