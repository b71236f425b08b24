// Starts a small MCP server with sessions over streamable HTTP on loopback, as a backend of virtual servers. In one
// file, because all requests read and change one state: the lists, the sessions and the recorded requests.

import { createServer, type IncomingHttpHeaders, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { ServerCertificate } from '../../harness/private-authority.ts';
import type { WireRequest } from '../credentials/sigv4-verifier.ts';

interface Asked {
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  // biome-ignore lint/suspicious/noExplicitAny: what others read is looked at piece by piece
  readonly message: any;
}

export interface TestMember {
  readonly url: string;
  readonly port: number;
  readonly asked: readonly Asked[];
  /** Returns the requests with this method, except requests of the virtual server itself. */
  calls(method: string): readonly Asked[];
  /** Replaces the lists and notifies listening clients. */
  offer(lists: Lists): void;
  /** Replaces the lists without a notification. */
  change(lists: Lists): void;
  /** Sends a message to all listening clients. */
  say(message: object): void;
  /** Sends no more responses to these methods. */
  silence(...methods: readonly string[]): void;
  /** Makes requests of the method fail. A call without `how` ends this. */
  failCalls(how?: Failing, method?: string): void;
  /** Forgets all sessions. Later requests of these sessions get `refusal`, by default a 404. */
  forget(refusal?: Refused): void;
  /** Ends all streams. The next GET of each session gets this status. */
  cut(status: number): void;
  /** Resolves with the next call of a tool that does not respond by itself. */
  hanging(): Promise<Hanging>;
  close(): Promise<void>;
}

/** A status, or `closed` (connection closed), `busy` (503 with Retry-After), `unreadable` (not JSON), or `silent`. */
type Failing = number | 'closed' | 'busy' | 'unreadable' | 'silent';

interface Hanging {
  // biome-ignore lint/suspicious/noExplicitAny: as above
  readonly message: any;
  /** Sends an event on the response stream of the call. */
  event(message: object): void;
  respond(result: object): void;
  /** Resolves when the client has closed the connection. */
  readonly closed: Promise<void>;
}

type Item = Readonly<Record<string, unknown>>;

interface Lists {
  readonly tools?: readonly Item[];
  readonly prompts?: readonly Item[];
  readonly resources?: readonly Item[];
  readonly resourceTemplates?: readonly Item[];
}

export interface MemberOptions extends Lists {
  readonly name?: string;
  /** If set, requests without this Authorization header get a 401. */
  readonly authorization?: string;
  /** Returns false for requests that get a 403. */
  readonly admits?: (request: WireRequest) => boolean;
  readonly port?: number;
  /** If set, the server uses TLS. */
  readonly certificate?: ServerCertificate;
  /** Delay of list responses in milliseconds. */
  readonly slowMs?: number;
  /** If true, a call of a tool that is not offered leads to an error. */
  readonly strict?: boolean;
  /** If true, every page of the tool list has a next page. */
  readonly endless?: boolean;
  /** Number of tools per page. By default, one page contains all tools. */
  readonly pageSize?: number;
  /** If true, lists are sent as event streams. */
  readonly streamsLists?: boolean;
  /** Results by tool name. The result of other tools contains the call. */
  readonly results?: Readonly<Record<string, (args: Item) => object>>;
  /** Functions that write the whole HTTP response, by tool name. `id` is JSON text. */
  readonly raw?: Readonly<Record<string, (response: ServerResponse, id: string) => void>>;
}

export function tool(name: string, more: Item = {}): Item {
  return { name, description: `${name} of the server`, inputSchema: { type: 'object' }, ...more };
}

/** Status and body of a response. */
export type Refused = readonly [status: number, body: string];

interface State {
  failing: { readonly how: Failing; readonly method: string } | undefined;
  refusal: Refused;
  /** Status for the next GET, by session. */
  refused: Map<string, number>;
  readonly options: MemberOptions;
  lists: Lists;
  sessions: Set<string>;
  readonly streams: Set<ServerResponse>;
  readonly asked: Asked[];
  hung: ((one: Hanging) => void)[];
  count: number;
  silent: readonly string[];
}

export async function startMember(options: MemberOptions = {}): Promise<TestMember> {
  const state: State = {
    ...{ options, lists: options, sessions: new Set(), streams: new Set(), asked: [], hung: [], count: 0 },
    silent: [],
    failing: undefined,
    refusal: [404, ''],
    refused: new Map(),
  };
  const { certificate } = options;
  const receive: RequestListener = (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      const message = body === '' ? undefined : JSON.parse(body);
      const { method = '', headers, url: path = '' } = request;
      const flat = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
      if (options.admits?.({ method, path, headers: flat, body }) === false) {
        response.writeHead(403).end();
        return;
      }
      state.asked.push({ method, headers, message });
      serve(state, { method, headers, message }, response);
    });
  };
  const server = certificate === undefined ? createServer(receive) : createTlsServer({ ...certificate }, receive);
  await new Promise<void>((done) => server.listen(options.port ?? 0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  const say = (message: object) => {
    for (const stream of state.streams) stream.write(`data: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`);
  };
  return {
    url: `${certificate === undefined ? 'http' : 'https'}://127.0.0.1:${port}/mcp`,
    port,
    asked: state.asked,
    calls: (method) => state.asked.filter(({ message }) => message?.method === method && !isOwn(message.id)),
    offer(lists) {
      state.lists = lists;
      for (const each of ['tools', 'prompts', 'resources']) say({ method: `notifications/${each}/list_changed` });
    },
    change(lists) {
      state.lists = lists;
    },
    say,
    silence(...methods) {
      state.silent = methods;
    },
    failCalls(how, method = 'tools/call') {
      state.failing = how === undefined ? undefined : { how, method };
    },
    forget(refusal = [404, '']) {
      state.refusal = refusal;
      state.sessions = new Set();
      for (const stream of state.streams) stream.end();
    },
    cut(status) {
      state.refused = new Map([...state.sessions].map((session) => [session, status]));
      for (const stream of state.streams) stream.end();
    },
    hanging: () => new Promise((resolve) => state.hung.push(resolve)),
    async close() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

function isOwn(id: unknown): boolean {
  return typeof id === 'string' && id.startsWith('skep-');
}

function serve(state: State, { method, headers, message }: Asked, response: ServerResponse): void {
  const { options, sessions } = state;
  if (options.authorization !== undefined && headers.authorization !== options.authorization) {
    response.writeHead(401).end();
    return;
  }
  if (state.failing !== undefined && state.failing.method === message?.method) {
    fail(state.failing.how, response);
    return;
  }
  if (message?.method === 'server/discover') {
    answer(response, message.id, { error: { code: -32601, message: 'Method not found' } }, 404);
    return;
  }
  if (message?.method === 'initialize') {
    initialize(state, message, response);
    return;
  }
  const session = headers['mcp-session-id'];
  if (typeof session !== 'string' || !sessions.has(session)) {
    const [status, body] = state.refusal;
    response.writeHead(status, { 'content-type': body.startsWith('{') ? 'application/json' : 'text/plain' }).end(body);
    return;
  }
  if (method === 'DELETE') {
    sessions.delete(session);
    response.writeHead(204).end();
    return;
  }
  const refused = state.refused.get(session);
  if (method === 'GET' && refused !== undefined) {
    state.refused.delete(session);
    response.writeHead(refused).end();
    return;
  }
  if (method === 'GET') {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.flushHeaders();
    state.streams.add(response);
    response.once('close', () => state.streams.delete(response));
    return;
  }
  if (message.id === undefined || message.method === undefined) {
    response.writeHead(202).end();
    return;
  }
  respond(state, message, response);
}

function fail(how: Failing, response: ServerResponse): void {
  if (how === 'closed') response.destroy();
  else if (how === 'busy') response.writeHead(503, { 'retry-after': '1' }).end();
  else if (how === 'unreadable') response.writeHead(200, { 'content-type': 'application/json' }).end('no JSON');
  else if (how !== 'silent') response.writeHead(how).end();
}

function initialize(
  state: State,
  message: { id: unknown; params: { protocolVersion: string } },
  response: ServerResponse,
) {
  state.count += 1;
  const session = `${state.options.name ?? 'member'}-${state.count}`;
  state.sessions.add(session);
  const capabilities = {
    tools: { listChanged: true },
    prompts: { listChanged: true },
    resources: { listChanged: true, subscribe: true },
    completions: {},
    logging: {},
  };
  response.setHeader('mcp-session-id', session);
  const serverInfo = { name: state.options.name ?? 'member', version: '1' };
  answer(response, message.id, { result: { protocolVersion: '2025-11-25', capabilities, serverInfo } });
}

// biome-ignore lint/suspicious/noExplicitAny: what clients send
function respond(state: State, message: any, response: ServerResponse): void {
  const { lists, options } = state;
  if (state.silent.includes(message.method)) return;
  if (message.method === 'tools/call') {
    call(state, message, response);
    return;
  }
  const results: Readonly<Record<string, object>> = {
    'tools/list': toolsPage(state, message.params?.cursor),
    'prompts/list': { prompts: lists.prompts ?? [] },
    'resources/list': { resources: lists.resources ?? [] },
    'resources/templates/list': { resourceTemplates: lists.resourceTemplates ?? [] },
  };
  const result = results[message.method] ?? { from: options.name ?? 'member', got: message.params ?? null };
  const isStreamed = options.streamsLists === true && message.method.endsWith('/list');
  const send = () =>
    isStreamed ? answerInStream(response, message.id, { result }) : answer(response, message.id, { result });
  if (options.slowMs === undefined) send();
  else setTimeout(send, options.slowMs);
}

function toolsPage({ lists: { tools = [] }, options, asked }: State, cursor: unknown): object {
  if (options.endless === true) return { tools, nextCursor: String(asked.length) };
  const from = Number(cursor ?? 0);
  const to = from + (options.pageSize ?? tools.length);
  return { tools: tools.slice(from, to), ...(to < tools.length ? { nextCursor: String(to) } : {}) };
}

// biome-ignore lint/suspicious/noExplicitAny: what clients send
function call(state: State, message: any, response: ServerResponse): void {
  const { name, arguments: args = {} } = message.params;
  const raw = state.options.raw?.[name];
  if (raw !== undefined) {
    raw(response, JSON.stringify(message.id));
    return;
  }
  const result = state.options.results?.[name]?.(args);
  if (result !== undefined) {
    answer(response, message.id, { result });
    return;
  }
  if (state.options.strict === true && state.lists.tools?.every((each) => each.name !== name) === true) {
    answer(response, message.id, { error: { code: -32602, message: `no tool ${name} here` } });
    return;
  }
  if (!name.startsWith('hang')) {
    const text = JSON.stringify({ server: state.options.name ?? 'member', tool: name, args });
    answer(response, message.id, { result: { content: [{ type: 'text', text }] } });
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.flushHeaders();
  const event = (each: object) => response.write(`data: ${JSON.stringify({ jsonrpc: '2.0', ...each })}\n\n`);
  state.hung.shift()?.({
    message,
    event,
    respond(result) {
      event({ id: message.id, result });
      response.end();
    },
    closed: new Promise((resolve) => response.once('close', () => resolve())),
  });
}

function answer(response: ServerResponse, id: unknown, body: object, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ jsonrpc: '2.0', id, ...body }));
}

function answerInStream(response: ServerResponse, id: unknown, body: object): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.end(`data: ${JSON.stringify({ jsonrpc: '2.0', id, ...body })}\n\n`);
}
