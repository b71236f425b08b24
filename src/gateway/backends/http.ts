// Serves a streamable HTTP server as a backend. Bytes of the client and the server pass unchanged.

import { createSlots, type Slots } from '#std/slots.ts';
import type { Answer, Authorized, Backend, BackendFault, Exchange, Flow, LeavingRequest } from './backend.ts';
import { probeHttp } from './http-probe.ts';
import { recogniseLostSession } from './http-session.ts';
import { refuseRepeatedIds } from './in-flight.ts';
import type { BackendClock, Upstream, UpstreamFault, UpstreamFlow, UpstreamRequest } from './ports.ts';
import { type Redirect, readRedirect } from './redirect.ts';

export interface HttpBackendOptions {
  /**
   * URL of the endpoint. Requests append their query to the URL. A request to another path is only sent after a
   * redirect of the server.
   */
  readonly url: string;
  /** Host header for the server. If absent, the host of the URL is sent. */
  readonly host?: string;
  readonly firstByteMs: number;
  readonly idleMs: number;
}

interface Ports {
  readonly upstream: Upstream;
  readonly clock: Pick<BackendClock, 'monotonic' | 'after'>;
}

const SESSION = 'mcp-session-id';

export function createHttpBackend(options: HttpBackendOptions, ports: Ports): Backend {
  const open = createSlots<UpstreamFlow>();
  return {
    open: refuseRepeatedIds(ports.clock, (exchange, answer) =>
      openExchange(options, ports, exchange, recogniseLostSession(exchange, answer), open),
    ),
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
  let flow: UpstreamFlow | undefined;
  let aborted = false;
  let place = -1;

  function forget(): void {
    if (place >= 0) open.remove(place);
    place = -1;
  }

  function send(leaving: LeavingRequest, followed: number): void {
    const authorized = exchange.authorize?.(leaving) ?? { ok: true, headers: leaving.headers };
    if ('ok' in authorized) leave(leaving, followed, authorized);
    else authorized.then((settled) => leave(leaving, followed, settled));
  }

  function leave(leaving: LeavingRequest, followed: number, authorized: Authorized): void {
    if (aborted) return;
    if (!authorized.ok) {
      answer.fail(authorized.fault);
      return;
    }
    const handlers = passOn(exchange.method, answer, {
      forget,
      abort: () => flow?.abort(),
      redirect: (status, headers) => readRedirect(leaving, followed, status, headers),
      follow: (url) => send({ ...leaving, url }, followed + 1),
    });
    const started = upstream.request(
      upstreamRequest(options, leaving, authorized.headers, isQuiet(exchange)),
      handlers,
    );
    flow = started;
    place = open.add(started);
  }

  send(leavingRequest(options, exchange), 0);
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

/** Returns whether the answer is a stream of future events, which may stay silent for any time. */
function isQuiet({ method, message }: Exchange): boolean {
  return method === 'GET' || (message?.kind === 'request' && message.method === 'subscriptions/listen');
}

interface Passing {
  readonly forget: () => void;
  readonly abort: () => void;
  readonly redirect: (status: number, headers: AnswerHeaders) => Redirect | undefined;
  readonly follow: (url: string) => void;
}

type AnswerHeaders = Readonly<Record<string, string | readonly string[]>>;

/** Passes bytes on without buffering. Turns an answer that MCP clients cannot read into a fault. */
function passOn(method: Exchange['method'], answer: Answer, { forget, abort, redirect, follow }: Passing) {
  let over = false;

  function leaveOut(): void {
    over = true;
    forget();
    abort();
  }

  return {
    head(status: number, headers: AnswerHeaders) {
      const redirected = redirect(status, headers);
      if (redirected?.kind === 'followed') {
        leaveOut();
        follow(redirected.url);
        return;
      }
      const fault = redirected?.fault ?? unreadable(method, status, headers);
      if (fault === undefined) return answer.head(status, headers);
      leaveOut();
      answer.fail(fault);
    },
    data: (chunk: Buffer) => over || answer.data(chunk),
    end() {
      if (over) return;
      forget();
      answer.end();
    },
    failed(fault: UpstreamFault) {
      if (over) return;
      forget();
      answer.fail(httpFault(fault));
    },
  };
}

/**
 * Returns a fault for a body that MCP does not allow with status 200 (Transports): neither JSON nor an event stream.
 * Answers with another status and answers to DELETE have no fault.
 */
function unreadable(method: Exchange['method'], status: number, headers: AnswerHeaders): BackendFault | undefined {
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
