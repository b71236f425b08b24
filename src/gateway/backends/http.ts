// A streamable HTTP server as a backend: the client's bytes go there, and its bytes come back as they are.

import { createSlots, type Slots } from '#std/slots.ts';
import type { Answer, Authorized, Backend, BackendFault, Exchange, Flow, LeavingRequest } from './backend.ts';
import { probeHttp } from './http-probe.ts';
import { recogniseLostSession } from './http-session.ts';
import type { BackendClock, Upstream, UpstreamFault, UpstreamFlow, UpstreamRequest } from './ports.ts';

export interface HttpBackendOptions {
  /** URL of the endpoint. The query of a request is added to it; no other path of the server is ever requested. */
  readonly url: string;
  /** What the server sees as Host; absent: that of the URL. */
  readonly host?: string;
  readonly firstByteMs: number;
  readonly idleMs: number;
}

interface Ports {
  readonly upstream: Upstream;
  readonly clock: Pick<BackendClock, 'monotonic'>;
}

const SESSION = 'mcp-session-id';

export function createHttpBackend(options: HttpBackendOptions, ports: Ports): Backend {
  const open = createSlots<UpstreamFlow>();
  return {
    open: (exchange, answer) => openExchange(options, ports, exchange, recogniseLostSession(exchange, answer), open),
    eras: () => undefined,
    probe: () => probeHttp(options, ports),
    async close() {
      for (const flow of open.values()) flow.abort();
    },
  };
}

function openExchange(
  options: HttpBackendOptions,
  { upstream }: Ports,
  exchange: Exchange,
  answer: Answer,
  open: Slots<UpstreamFlow>,
): Flow {
  const leaving = leavingRequest(options, exchange);
  let flow: UpstreamFlow | undefined;
  let aborted = false;
  let place = -1;

  function forget(): void {
    if (place >= 0) open.remove(place);
    place = -1;
  }

  function leave({ headers }: { readonly headers: Readonly<Record<string, string>> }): void {
    if (aborted) return;
    const handlers = passOn(exchange.method, answer, forget, () => flow?.abort());
    const started = upstream.request(upstreamRequest(options, leaving, headers, isQuiet(exchange)), handlers);
    flow = started;
    place = open.add(started);
  }

  function settle(authorized: Authorized): void {
    if (authorized.ok) leave(authorized);
    else if (!aborted) answer.fail(authorized.fault);
  }

  const authorized = exchange.authorize?.(leaving) ?? { ok: true, headers: leaving.headers };
  if ('ok' in authorized) settle(authorized);
  else authorized.then(settle);
  return {
    abort() {
      aborted = true;
      flow?.abort();
      forget();
    },
    resume: () => flow?.resume(),
  };
}

function leavingRequest(options: HttpBackendOptions, exchange: Exchange): LeavingRequest {
  const { host } = options;
  const headers: Record<string, string> = { ...exchange.headers };
  if (host !== undefined) headers.host = host;
  if (exchange.session !== undefined) headers[SESSION] = exchange.session;
  return { method: exchange.method, url: urlFor(options, exchange.path), headers, body: exchange.body };
}

function urlFor({ url }: HttpBackendOptions, path: string): string {
  const query = path.indexOf('?');
  if (query < 0 || query === path.length - 1) return url;
  return `${url}${url.includes('?') ? '&' : '?'}${path.slice(query + 1)}`;
}

function upstreamRequest(
  { firstByteMs, idleMs }: HttpBackendOptions,
  { method, url, body }: LeavingRequest,
  headers: Readonly<Record<string, string>>,
  stream: boolean,
): UpstreamRequest {
  return { method, url, headers, body, stream, firstByteMs, idleMs: stream ? 0 : idleMs };
}

/** Streams of what happens some time: they may stay silent for as long as nothing does. */
function isQuiet({ method, message }: Exchange): boolean {
  return method === 'GET' || (message?.kind === 'request' && message.method === 'subscriptions/listen');
}

/** Bytes go on as they come; an answer that no MCP client can read becomes a fault. */
function passOn(method: Exchange['method'], answer: Answer, forget: () => void, abort: () => void) {
  let refused = false;
  return {
    head(status: number, headers: Readonly<Record<string, string | readonly string[]>>) {
      const fault = unreadable(method, status, headers);
      if (fault === undefined) return answer.head(status, headers);
      refused = true;
      forget();
      abort();
      answer.fail(fault);
    },
    data: (chunk: Buffer) => refused || answer.data(chunk),
    end() {
      forget();
      if (!refused) answer.end();
    },
    failed(fault: UpstreamFault) {
      forget();
      if (!refused) answer.fail(httpFault(fault));
    },
  };
}

/** MCP specification, Transports: JSON, an event stream, or nothing at all (202, 204, and errors of any kind). */
function unreadable(
  method: Exchange['method'],
  status: number,
  headers: Readonly<Record<string, string | readonly string[]>>,
): BackendFault | undefined {
  if (status >= 300 && status < 400 && status !== 304) {
    return { reason: 'answer-invalid', message: 'the MCP server answered with a redirect', detail: `status ${status}` };
  }
  if (status !== 200 || method === 'DELETE') return undefined;
  const type = headers['content-type'];
  if (headers['content-length'] === '0') return undefined;
  if (typeof type === 'string' && /^\s*(application\/json|text\/event-stream)\s*(;|$)/i.test(type)) return undefined;
  const message = 'the MCP server answered with neither JSON nor an event stream';
  return { reason: 'answer-invalid', message, detail: `content-type ${JSON.stringify(type ?? null)}` };
}

function httpFault({ reason, detail }: UpstreamFault): BackendFault {
  switch (reason) {
    case 'timeout':
      return { reason: 'timeout', message: 'the MCP server did not answer in time', detail };
    case 'closed':
      return {
        reason: 'closed',
        message: 'the MCP server closed the connection before its answer ended: the request may have been carried out',
        detail,
      };
    case 'busy':
      return { reason: 'busy', message: 'the MCP server is busy', retryAfterSeconds: 1, detail };
    case 'unreachable':
    case 'refused-address':
      return { reason: 'unreachable', message: 'the MCP server cannot be reached', retryAfterSeconds: 5, detail };
  }
}
