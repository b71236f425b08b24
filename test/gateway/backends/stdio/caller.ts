// Calls a backend as the proxy does, but without HTTP, and records the response.

import type { Backend, BackendFault, Era, Exchange } from '#gateway/backends/backend.ts';
import { scanMessage } from '#gateway/wire/scan.ts';
import { createEventSplitter } from '#gateway/wire/sse.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests look into messages of every shape
type AnyMessage = any;

interface ReceivedEvent {
  readonly id: string | undefined;
  /** undefined if the event has no data. */
  readonly message: AnyMessage;
  readonly retry: number | undefined;
}

export interface Received {
  status: number | undefined;
  headers: Readonly<Record<string, string | readonly string[]>>;
  fault: BackendFault | undefined;
  ended: boolean;
  readonly events: ReceivedEvent[];
  /** Number of received bytes of the body. */
  bytes: number;
  body(): string;
  json(): AnyMessage;
  /** Resolves when `holds` returns true. */
  until(holds: (received: Received) => boolean): Promise<Received>;
  /** Resolves when the response has ended or failed. */
  end(): Promise<Received>;
  abort(): void;
  /** Makes a slow client receive the whole rest of the body. */
  resume(): void;
}

export interface CallOptions {
  readonly method?: Exchange['method'];
  readonly era?: Era;
  readonly session?: string;
  readonly caller?: string;
  readonly headers?: Record<string, string>;
  /** If true, the client receives one chunk, and no more until `resume`. */
  readonly slow?: boolean;
}

const ACCEPT = 'application/json, text/event-stream';

export function call(backend: Backend, message: object | string | undefined, options: CallOptions = {}): Received {
  const body =
    message === undefined ? undefined : Buffer.from(typeof message === 'string' ? message : JSON.stringify(message));
  const scanned = body === undefined ? undefined : scanMessage(body);
  if (scanned?.ok === false) throw new Error(scanned.fault.message);
  const { received, answer, slowed } = receiver(options.slow === true);
  const flow = backend.open(
    {
      method: options.method ?? 'POST',
      era: options.era ?? 'session',
      path: '/mcp',
      headers: { accept: ACCEPT, ...options.headers },
      body,
      message: scanned?.message,
      session: options.session,
      caller: options.caller ?? 'someone',
    },
    answer,
  );
  received.abort = flow.abort;
  received.resume = () => {
    slowed.slow = false;
    flow.resume();
  };
  return received;
}

function receiver(slow: boolean) {
  const chunks: Buffer[] = [];
  const waiting = new Set<() => void>();
  const slowed = { slow };
  const changed = (): void => {
    for (const check of [...waiting]) check();
  };
  const splitter = createEventSplitter(
    { maxEventBytes: 1e9 },
    {
      event: ({ data, id, retry }) =>
        received.events.push({ id, retry, message: data.length === 0 ? undefined : JSON.parse(data.toString()) }),
      fault: (reason) => {
        throw new Error(reason);
      },
    },
  );
  const received: Received = {
    ...{ status: undefined, headers: {}, fault: undefined, ended: false, events: [], bytes: 0 },
    body: () => Buffer.concat(chunks).toString(),
    json: () => JSON.parse(Buffer.concat(chunks).toString()),
    until: (holds) =>
      new Promise((resolve) => {
        const check = (): void => {
          if (!holds(received)) return;
          waiting.delete(check);
          resolve(received);
        };
        waiting.add(check);
        check();
      }),
    end: () => received.until(({ ended, fault }) => ended || fault !== undefined),
    abort: () => undefined,
    resume: () => undefined,
  };
  const answer = {
    head(status: number, headers: Received['headers']) {
      received.status = status;
      received.headers = headers;
      changed();
    },
    data(chunk: Buffer) {
      received.bytes += chunk.length;
      if (received.headers['content-type'] === 'text/event-stream') splitter.push(chunk);
      else chunks.push(chunk);
      changed();
      return !slowed.slow;
    },
    end() {
      received.ended = true;
      changed();
    },
    fail(fault: BackendFault) {
      received.fault = fault;
      changed();
    },
  };
  return { received, answer, slowed };
}

let ids = 0;

export function request(method: string, params?: object, id: number | string = `q${++ids}`): object {
  return { jsonrpc: '2.0', id, method, params };
}

export function toolCall(
  name: string,
  given: object = {},
  more: { id?: number | string; token?: number | string } = {},
): object {
  const _meta = more.token === undefined ? undefined : { progressToken: more.token };
  return request('tools/call', { name, arguments: given, _meta }, more.id);
}

const INITIALIZE = {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'test', version: '1' },
};

export interface TestSession {
  readonly id: string;
  readonly result: AnyMessage;
  call(message: object | string | undefined, options?: CallOptions): Received;
  /** Calls a tool and returns the text of its result. */
  tool(name: string, given?: object): Promise<string>;
  listen(headers?: Record<string, string>): Received;
  end(): Promise<Received>;
}

export async function openSession(
  backend: Backend,
  options: CallOptions & { params?: object } = {},
): Promise<TestSession> {
  const first = await call(backend, request('initialize', { ...INITIALIZE, ...options.params }), options).end();
  if (first.status !== 200)
    throw new Error(`${first.status} ${first.body()} ${first.fault?.message} ${first.fault?.detail}`);
  const id = String(first.headers['mcp-session-id']);
  const own = { session: id, caller: options.caller };
  await call(backend, { jsonrpc: '2.0', method: 'notifications/initialized' }, own).end();
  return {
    id,
    result: (first.events.at(-1)?.message ?? first.json()).result,
    call: (message, more = {}) => call(backend, message, { ...own, ...more }),
    async tool(name, given = {}) {
      const received = await call(backend, toolCall(name, given), own).end();
      const message = received.events.at(-1)?.message ?? received.json();
      return message.result.content[0].text;
    },
    listen: (headers) => call(backend, undefined, { ...own, method: 'GET', headers }),
    end: () => call(backend, undefined, { ...own, method: 'DELETE' }).end(),
  };
}
