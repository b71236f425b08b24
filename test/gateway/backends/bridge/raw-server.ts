// Provides MCP servers and clients on node:http and fetch, for messages that no library would send. In one file,
// because server and client use the same messages.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Fields = Readonly<Record<string, unknown>>;

/** A received message, with the fields that tests read. */
export interface RawMessage {
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: Fields;
  readonly result?: Fields;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: Fields };
}

export interface RawRequest {
  readonly http: IncomingMessage;
  readonly response: ServerResponse;
  /** The JSON-RPC message. Empty for GET and DELETE. */
  readonly message: {
    readonly id?: unknown;
    readonly method?: string;
    readonly params: Fields;
    readonly result?: unknown;
    readonly error?: unknown;
  };
  readonly text: string;
}

export interface RawServer {
  readonly url: string;
  /** All received requests, in order. */
  readonly requests: readonly RawRequest[];
  /** Resolves with the first received request for which `fits` returns true, or with the first later one. */
  waitFor(fits: (request: RawRequest) => boolean): Promise<RawRequest>;
  close(): Promise<void>;
}

export async function startRaw(answer: (request: RawRequest) => void): Promise<RawServer> {
  const requests: RawRequest[] = [];
  const waiting = new Set<{ fits: (request: RawRequest) => boolean; found: (request: RawRequest) => void }>();
  const server = createServer((http, response) => {
    const chunks: Buffer[] = [];
    http.on('data', (chunk: Buffer) => chunks.push(chunk));
    http.on('end', () => {
      const text = Buffer.concat(chunks).toString();
      const message = text === '' ? {} : JSON.parse(text);
      const request: RawRequest = { http, response, message: { ...message, params: message.params ?? {} }, text };
      requests.push(request);
      for (const each of waiting) {
        if (!each.fits(request)) continue;
        waiting.delete(each);
        each.found(request);
      }
      answer(request);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port }: AddressInfo = Object(server.address());
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    requests,
    waitFor(fits) {
      const known = requests.find(fits);
      return known !== undefined ? Promise.resolve(known) : new Promise((found) => waiting.add({ fits, found }));
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export function sendJson(
  response: ServerResponse,
  message: unknown,
  status = 200,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(typeof message === 'string' ? message : JSON.stringify(message));
}

export function sendEvents(response: ServerResponse, messages: readonly unknown[], end = true): void {
  if (!response.headersSent) response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const message of messages) response.write(`data: ${JSON.stringify(message)}\n\n`);
  if (end) response.end();
}

export function resultOf({ message }: RawRequest, result: unknown): Fields {
  return { jsonrpc: '2.0', id: message.id, result };
}

export function errorOf({ message }: RawRequest, code: number, text: string, data?: unknown): Fields {
  return { jsonrpc: '2.0', id: message.id, error: { code, message: text, data } };
}

/** Starts a server of 2026-07-28. It responds to discovery and refuses other requests that `answer` does not handle. */
export function startStateless(
  answer: (request: RawRequest) => boolean,
  capabilities: Fields = {},
): Promise<RawServer> {
  return startRaw((request) => {
    const { http, response, message } = request;
    if (http.method !== 'POST') return void response.writeHead(405).end();
    if (answer(request)) return;
    if (message.method === 'initialize') {
      return sendJson(
        response,
        errorOf(request, -32022, 'Unsupported protocol version', { supported: ['2026-07-28'] }),
        400,
      );
    }
    if (message.method === 'server/discover') {
      const meta = { 'io.modelcontextprotocol/serverInfo': { name: 'raw', version: '1' } };
      const result = { resultType: 'complete', supportedVersions: ['2026-07-28'], capabilities };
      return sendJson(response, resultOf(request, { ...result, _meta: meta, ttlMs: 60_000, cacheScope: 'public' }));
    }
    sendJson(response, errorOf(request, -32601, `Method not found: ${message.method}`), 404);
  });
}

/** Starts a server of 2025-11-25 with sessions. It refuses other requests that `answer` does not handle. */
export async function startSessions(
  answer: (request: RawRequest) => boolean,
  capabilities: Fields = {},
): Promise<RawServer & { forget(): void }> {
  let count = 0;
  const sessions = new Set<string>();
  const server = await startRaw((request) => {
    const { http, response, message } = request;
    const id = String(http.headers['mcp-session-id'] ?? '');
    if (message.method === 'initialize' && http.method === 'POST') {
      count += 1;
      sessions.add(`s${count}`);
      const serverInfo = { name: 'raw', version: '1' };
      const result = { protocolVersion: '2025-11-25', capabilities, serverInfo, instructions: 'Be brief.' };
      return sendJson(response, resultOf(request, result), 200, { 'mcp-session-id': `s${count}` });
    }
    if (id === '') return sendJson(response, errorOf(request, -32000, 'Bad Request: Mcp-Session-Id is required'), 400);
    if (!sessions.has(id)) return sendJson(response, errorOf(request, -32001, 'Session not found'), 404);
    if (http.method === 'DELETE') {
      sessions.delete(id);
      return void response.writeHead(200).end();
    }
    if (answer(request)) return;
    if (http.method === 'GET') return void response.writeHead(405).end();
    if (message.id === undefined || message.method === undefined) return void response.writeHead(202).end();
    sendJson(response, errorOf(request, -32601, `Method not found: ${message.method}`));
  });
  return { ...server, forget: () => sessions.clear() };
}

export interface RawAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** JSON messages of the body, or of the events in the body. */
  readonly messages: readonly RawMessage[];
  readonly text: string;
}

export async function readRaw(response: Response): Promise<RawAnswer> {
  const text = await response.text();
  const parts = response.headers.get('content-type')?.startsWith('text/event-stream')
    ? [...text.matchAll(/^data: ?(.*)$/gm)].map(([, data]) => data ?? '')
    : [text];
  const messages = parts.filter((part) => part.startsWith('{')).map((part) => JSON.parse(part));
  return { status: response.status, headers: response.headers, messages, text };
}

const ACCEPT = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' };

export interface SessionCaller {
  readonly id: string;
  readonly initialized: RawAnswer;
  send(message: unknown, options?: { readonly signal?: AbortSignal; readonly url?: string }): Promise<Response>;
  call(method: string, params?: unknown, id?: unknown): Promise<RawAnswer>;
  listen(): Promise<Response>;
}

/** Connects a client of 2025-11-25. */
export async function connectSession(url: string, capabilities: Fields = {}): Promise<SessionCaller> {
  const params = { protocolVersion: '2025-11-25', capabilities, clientInfo: { name: 'raw-client', version: '1' } };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params });
  const initialized = await readRaw(await fetch(url, { method: 'POST', headers: ACCEPT, body }));
  const id = initialized.headers.get('mcp-session-id') ?? '';
  const headers = { ...ACCEPT, 'mcp-session-id': id, 'mcp-protocol-version': '2025-11-25' };
  const send: SessionCaller['send'] = (message, options = {}) =>
    fetch(options.url ?? url, {
      method: 'POST',
      headers,
      body: typeof message === 'string' ? message : JSON.stringify(message),
      signal: options.signal ?? null,
    });
  await send({ jsonrpc: '2.0', method: 'notifications/initialized' });
  return {
    id,
    initialized,
    send,
    call: async (method, params, callId = 1) => readRaw(await send({ jsonrpc: '2.0', id: callId, method, params })),
    listen: () => fetch(url, { headers: { ...headers, accept: 'text/event-stream' } }),
  };
}

export interface StatelessOptions {
  readonly capabilities?: Fields;
  readonly meta?: Fields;
  readonly id?: unknown;
  readonly caller?: string;
  readonly headers?: Record<string, string>;
  readonly signal?: AbortSignal;
}

/** Sends a request as a client of 2026-07-28. */
export function sendStateless(
  url: string,
  method: string,
  params: Fields = {},
  { capabilities = {}, meta = {}, id = 1, caller = 'ada', headers = {}, signal }: StatelessOptions = {},
): Promise<Response> {
  const own = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': capabilities,
  };
  const name = params.name ?? params.uri;
  const named: Record<string, string> = typeof name === 'string' ? { 'mcp-name': name } : {};
  return fetch(url, {
    method: 'POST',
    headers: {
      ...ACCEPT,
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      'x-caller': caller,
      ...named,
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id, method, params: { ...params, _meta: { ...own, ...meta } } }),
    signal: signal ?? null,
  });
}

export async function callStateless(...parameters: Parameters<typeof sendStateless>): Promise<RawAnswer> {
  return readRaw(await sendStateless(...parameters));
}

/** Yields the messages of a stream. */
export async function* eventsOf(response: Response): AsyncGenerator<RawMessage> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of response.body ?? []) {
    rest += decoder.decode(chunk, { stream: true });
    const events = rest.split('\n\n');
    rest = events.pop() ?? '';
    for (const event of events) {
      const data = /^data: ?(.*)$/m.exec(event)?.[1];
      if (data !== undefined && data !== '') yield JSON.parse(data);
    }
  }
}
