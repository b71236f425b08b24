// Starts a proxy in this process in front of a test server, and clients that send arbitrary bytes. In one file, because
// one list stops all proxies and servers, and servers and clients use the same messages.

import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { Writable } from 'node:stream';
import type { RunConfig } from '#contracts/run-config.ts';
import { createLogger } from '#hosts/log.ts';
import { startProxy } from '#hosts/proxy/proxy.ts';
import { createWatchedFiles } from '#hosts/watched-files.ts';

export interface Log {
  text(): string;
  /** Resolves when a line matches. */
  until(pattern: RegExp): Promise<void>;
}

export interface AttackedProxy {
  /** URL of the proxy's endpoint `/mcp`. */
  readonly url: string;
  readonly origin: string;
  readonly port: number;
  readonly log: Log;
  stop(): Promise<void>;
}

type Settings = Partial<RunConfig> & { readonly environment?: Readonly<Record<string, string>> };

/** Starts a proxy. `stop` or `stopAll` stops it. */
export async function proxyBefore(targetPort: number, settings: Settings = {}): Promise<AttackedProxy> {
  const { environment = {}, ...own } = settings;
  const log = createLog();
  const config: RunConfig = {
    schema_version: 'v0.1.0',
    name: 'attacked',
    namespace: 'tests',
    transport: 'streamable-http',
    proxy_mode: 'streamable-http',
    host: '127.0.0.1',
    port: 0,
    target_host: '127.0.0.1',
    target_port: targetPort,
    trust_proxy_headers: false,
    audit_config: { enabled: false, component: 'attacked' },
    ...own,
  };
  const logger = createLogger('debug', log.stream);
  const running = await startProxy({ config, environment, files: createWatchedFiles(), logger });
  const { origin, port } = new URL(running.url);
  const stop = once(() => running.stop());
  stops.push(stop);
  return { url: running.url, origin, port: Number(port), log, stop };
}

const stops: (() => Promise<void>)[] = [];

/** Stops everything that the test file has started, in reverse order. */
export async function stopAll(): Promise<void> {
  for (const stop of stops.splice(0).reverse()) await stop();
}

function once(stop: () => Promise<void>): () => Promise<void> {
  let stopped: Promise<void> | undefined;
  return () => {
    stopped ??= stop();
    return stopped;
  };
}

function createLog(): Log & { readonly stream: Writable } {
  let text = '';
  const waiting = new Set<() => void>();
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      text += chunk.toString();
      for (const look of waiting) look();
      done();
    },
  });
  return {
    stream,
    text: () => text,
    until(pattern) {
      return new Promise((resolve) => {
        function look(): void {
          if (!pattern.test(text)) return;
          waiting.delete(look);
          resolve();
        }
        waiting.add(look);
        look();
      });
    },
  };
}

/** A request that the server received. Requests of the proxy itself are not recorded. */
export interface Received {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly body: string;
  /** The body as JSON. undefined if the body is not JSON. */
  readonly message: Rpc | undefined;
  /** Resolves when the response is complete, or when the proxy has closed the connection. */
  readonly closed: Promise<void>;
}

export interface Rpc {
  readonly id?: string | number | null;
  readonly method?: string;
  readonly params?: { readonly name?: string; readonly arguments?: unknown; readonly cursor?: string };
}

export interface TestServer {
  readonly port: number;
  readonly received: readonly Received[];
  /** Resolves with the first request that no earlier call has returned. */
  next(): Promise<Received>;
  stop(): Promise<void>;
}

type Answer = (received: Received) => void;

const SESSION_ID = 'session of the server';

/** Responds to every request with success. The result of a call contains the received request. */
export function answerPlainly({ response, message, request }: Received): void {
  if (request.method === 'GET') {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
    return;
  }
  if (message?.id === undefined || message.method === undefined) {
    response.writeHead(202).end();
    return;
  }
  const begins = message.method === 'initialize';
  if (begins) response.setHeader('mcp-session-id', SESSION_ID);
  answerResult(
    response,
    message,
    begins ? INITIALIZED : { content: [{ type: 'text', text: JSON.stringify(message) }] },
  );
}

const INITIALIZED = {
  protocolVersion: '2025-06-18',
  capabilities: { tools: { listChanged: true } },
  serverInfo: { name: 'test', version: '1' },
};

export function answerResult(response: ServerResponse, message: Rpc, result: unknown): void {
  const body = JSON.stringify({ jsonrpc: '2.0', id: message.id, result });
  response.writeHead(200, { 'content-type': 'application/json' }).end(body);
}

export async function startServer(answer: Answer = answerPlainly): Promise<TestServer> {
  const received: Received[] = [];
  const waiting: ((one: Received) => void)[] = [];
  let taken = 0;

  function take(one: Received): void {
    received.push(one);
    const next = waiting.shift();
    if (next !== undefined) {
      taken += 1;
      next(one);
    }
  }

  const { server, port, stop } = await listen((request, response) => {
    const chunks: Buffer[] = [];
    const closed = new Promise<void>((resolve) => response.once('close', () => resolve()));
    request.on('error', () => undefined);
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      if (body.includes('"skep-probe"')) return answerProbe(response);
      const one = { request, response, body, message: parse(body), closed };
      take(one);
      answer(one);
    });
  });
  server.requestTimeout = 0;
  return {
    port,
    received,
    stop,
    next() {
      const found = received[taken];
      if (found === undefined) return new Promise((resolve) => waiting.push(resolve));
      taken += 1;
      return Promise.resolve(found);
    },
  };
}

function answerProbe(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end('{"jsonrpc":"2.0","id":"skep-probe","result":{}}');
}

function parse(text: string): Rpc | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function listen(handle: RequestListener) {
  const server = createServer({ maxHeaderSize: 256 * 1024 }, handle);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const stop = once(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  stops.push(stop);
  const { port }: AddressInfo = Object(server.address());
  return { server, port, stop };
}

/** A request as raw text. */
export interface RawRequest {
  readonly head: string;
  readonly body: string;
}

/** Starts a TCP server that responds with arbitrary bytes. Probes of the proxy get a normal response. */
export async function startRawServer(answer: (socket: Socket, request: RawRequest) => void): Promise<{
  readonly port: number;
  stop(): Promise<void>;
}> {
  const sockets = new Set<Socket>();
  const server: Server = createTcpServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket)).on('error', () => undefined);
    let bytes = '';
    socket.on('data', (chunk: Buffer) => {
      bytes += chunk.toString('latin1');
      for (let end = bytes.indexOf('\r\n\r\n'); end >= 0; end = bytes.indexOf('\r\n\r\n')) {
        const head = bytes.slice(0, end);
        const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
        if (bytes.length < end + 4 + length) return;
        const body = bytes.slice(end + 4, end + 4 + length);
        bytes = bytes.slice(end + 4 + length);
        if (body.includes('"skep-probe"')) socket.write(PROBE_ANSWER);
        else answer(socket, { head, body });
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const stop = once(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  );
  stops.push(stop);
  const { port }: AddressInfo = Object(server.address());
  return { port, stop };
}

const PROBE_ANSWER = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}';

export interface RawClient {
  readonly socket: Socket;
  send(bytes: string | Buffer): void;
  /** Returns all received text so far. */
  text(): string;
  /** Resolves when the received text matches. Rejects if the connection ends first. */
  until(pattern: RegExp): Promise<string>;
  /** Resolves with the received text when the connection has ended. */
  readonly closed: Promise<string>;
}

export function openRaw(port: number): RawClient {
  const socket = connect(port, '127.0.0.1');
  let text = '';
  const looks = new Set<() => void>();
  socket.on('error', () => undefined);
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1');
    for (const look of looks) look();
  });
  const closed = new Promise<string>((resolve) => socket.once('close', () => resolve(text)));
  return {
    socket,
    closed,
    text: () => text,
    send: (bytes) => void socket.write(bytes),
    until(pattern) {
      return new Promise((resolve, reject) => {
        function look(): void {
          if (!pattern.test(text)) return;
          looks.delete(look);
          resolve(text);
        }
        looks.add(look);
        look();
        closed.then(() => reject(new Error(`closed before ${pattern}: ${text}`)));
      });
    },
  };
}

/** Time in milliseconds to wait for a response to an attack. On a slow machine, a late response may be missed. */
const QUIET_MS = 200;

/** Sends bytes, waits for a response, and ends the connection. Resolves with the received text. */
export async function sendRaw(port: number, bytes: string | Buffer): Promise<string> {
  const client = openRaw(port);
  client.send(bytes);
  const quiet = new Promise<void>((resolve) => setTimeout(resolve, QUIET_MS));
  await Promise.race([client.until(/^HTTP\/1\.1 [2-5]\d\d/).catch(() => undefined), quiet]);
  client.socket.end();
  return client.closed;
}

export function statuses(text: string): readonly number[] {
  return [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status));
}

export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Code of the JSON-RPC error. undefined for other responses. */
  readonly code: number | undefined;
}

export const HEADERS = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
  'mcp-protocol-version': '2025-06-18',
} as const;

export async function post(
  url: string,
  body: string | Buffer | object,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answered> {
  const text = typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
  return readAnswer(await fetch(url, { method: 'POST', headers: { ...HEADERS, ...headers }, body: text }));
}

export async function readAnswer(response: Response): Promise<Answered> {
  const answer = await response.text();
  const error = /"error":\{"code":(-?\d+)/.exec(answer)?.[1];
  const { status, headers } = response;
  return { status, headers, text: answer, code: error === undefined ? undefined : Number(error) };
}

export function call(name: string, args: object = {}, id: number | string = 1): object {
  return { jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: args } };
}

export const INITIALIZE = {
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'attacker', version: '1' } },
} as const;

/** Returns a POST request as text. */
export function rawPost(body: string, headers: readonly string[] = [], target = '/mcp'): string {
  const lines = [
    `POST ${target} HTTP/1.1`,
    'Host: 127.0.0.1',
    'Content-Type: application/json',
    'Accept: application/json, text/event-stream',
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...headers,
  ];
  return `${lines.join('\r\n')}\r\n\r\n${body}`;
}
