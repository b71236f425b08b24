// Sends requests to the API server over few kept connections: with current credentials, as many at once as the server
// can handle, and again if that is safe.

import type { Clock, Exchange } from '#reconciler/run/ports.ts';
import { Failure } from '#std/failure.ts';
import { type Connections, openConnections } from './connections.ts';
import type { CredentialSource, Credentials } from './credentials.ts';
import { exchange } from './exchange.ts';
import type { Limiter } from './limiter.ts';
import { readAnswer } from './read-answer.ts';
import { type Answer, type Asked, refusal, tooLate, unanswered } from './refusals.ts';
import { waitAfterAnswer, waitAfterSilence } from './retry.ts';

export interface ApiRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path with query, from the first slash on. */
  readonly path: string;
  readonly body?: string;
  readonly contentType?: string;
  readonly accept?: string | undefined;
  /** Further headers, with names in lower case. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Whether the request has the same effect if it is sent twice. */
  readonly repeatable: boolean;
  /** True if the object is a Secret: messages of the server about its content are not passed on. */
  readonly secret?: boolean;
  /** User to impersonate. */
  readonly as?: string;
  /** True for requests that keep a lease: they do not queue behind others, and have a short time limit. */
  readonly urgent?: boolean;
  /** Milliseconds for the answer, if less than usual. */
  readonly timeoutMs?: number | undefined;
  /** Maximum length of the answer's body as text. Longer bodies are not read. */
  readonly maxBytes?: number | undefined;
  /**
   * Checks before each attempt, and right before its first byte is sent, that it may be sent. An error ends the
   * request.
   */
  readonly fence?: () => void;
}

export interface Api {
  /** Returns the answer of a request that succeeded. Throws Failure with one of CLUSTER_CODES otherwise. */
  send(request: ApiRequest): Promise<Answer>;
  /** Returns the full URL of a path. */
  url(path: string): string;
  /** Returns the number of requests sent so far, repeated ones included. */
  requests(): number;
  close(): Promise<void>;
}

export interface ApiOptions {
  readonly credentials: CredentialSource;
  readonly limiter: Limiter;
  readonly clock: Clock;
  readonly connections: number;
  readonly userAgent: string;
  readonly timeoutMs: number;
  readonly urgentTimeoutMs: number;
  /** Monotonic time after which no request begins or is waited for, except for those that keep a lease. */
  readonly deadline: () => number;
  /** Returns the trace of the work under way, for the server's own traces. */
  readonly traceParent?: () => string | undefined;
  /** Receives every request that was sent, when it has ended. */
  readonly observe?: (exchange: Exchange) => void;
}

type Outcome = { readonly answer: Answer } | { readonly failure: Failure };

export function createApi(options: ApiOptions): Api {
  const { credentials, limiter, clock } = options;
  const closing = new AbortController();
  const { timeoutMs, connections: most } = options;
  const connections = openConnections({ credentials, connections: most, timeoutMs }, closing.signal);
  let sent = 0;
  /** Requests that had no answer before this deadline: a process that stays has another deadline for each run. */
  let silent = { before: Infinity, requests: new Set<string>() };

  function noteSilence({ method, path }: ApiRequest): void {
    const before = options.deadline();
    if (before === Infinity) return;
    if (before !== silent.before) silent = { before, requests: new Set() };
    silent.requests.add(`${method} ${path.split('?')[0]}`);
  }

  async function attempt(request: ApiRequest, using: Credentials, repeated: boolean): Promise<Outcome> {
    request.fence?.();
    const startedAt = clock.monotonic();
    const deadline = options.deadline();
    if (request.urgent !== true && startedAt >= deadline)
      return { failure: tooLate(asked(options, request), silent.before === deadline ? silent.requests : new Set()) };
    sent += 1;
    const outcome = await sendOnce(options, connections, request, using);
    const seconds = (clock.monotonic() - startedAt) / 1000;
    const status = 'answer' in outcome ? { status: outcome.answer.status } : {};
    if ('failure' in outcome) noteSilence(request);
    options.observe?.({ method: request.method, ...status, seconds, repeated, urgent: request.urgent === true });
    return outcome;
  }

  function admitted(request: ApiRequest, using: Credentials, repeated: boolean): Promise<Outcome> {
    if (request.urgent === true) return attempt(request, using, repeated);
    return limiter.run(() => attempt(request, using, repeated), isBusy);
  }

  async function send(request: ApiRequest): Promise<Answer> {
    let usable = await credentials.current();
    let renewed = false;
    // A request that timed out is not repeated: a server that does not answer now will not answer six repetitions
    // either.
    const silentUntil = clock.monotonic() + timeoutOf(options, request);
    for (let number = 0; ; number += 1) {
      const outcome = await admitted(request, usable, number > 0);
      if (isUnauthorized(outcome) && !renewed) {
        renewed = true;
        usable = await credentials.renew(usable);
        continue;
      }
      if ('answer' in outcome && outcome.answer.status < 300) return outcome.answer;
      const waitMs = waitBeforeNext(request, number, outcome);
      const until = Math.min('answer' in outcome ? Infinity : silentUntil, options.deadline());
      const isLast = waitMs === undefined || clock.monotonic() + waitMs >= until;
      if (!isLast) await clock.sleep(waitMs, closing.signal);
      if (isLast || closing.signal.aborted) {
        throw 'answer' in outcome ? refusal(asked(options, request), outcome.answer) : outcome.failure;
      }
    }
  }

  return {
    send,
    url: (path) => credentials.server + path,
    requests: () => sent,
    // Requests under way fail, and are not sent again.
    async close() {
      closing.abort();
      await connections.close();
    },
  };
}

/** Returns the milliseconds before the next attempt, or undefined if another attempt is useless or unsafe. */
function waitBeforeNext(
  { repeatable, method, path }: ApiRequest,
  number: number,
  outcome: Outcome,
): number | undefined {
  const again = { repeatable, number, seed: `${method} ${path}` };
  return 'answer' in outcome ? waitAfterAnswer(again, outcome.answer) : waitAfterSilence(again, outcome.failure);
}

function isBusy(outcome: Outcome): boolean {
  return 'answer' in outcome && outcome.answer.status === 429;
}

function isUnauthorized(outcome: Outcome): boolean {
  return 'answer' in outcome && outcome.answer.status === 401;
}

function asked({ credentials }: ApiOptions, { method, path, secret, as }: ApiRequest): Asked {
  const url = credentials.server + path;
  return { method, url, secret: secret === true, as };
}

function timeoutOf({ timeoutMs, urgentTimeoutMs }: ApiOptions, request: ApiRequest): number {
  if (request.urgent === true) return urgentTimeoutMs;
  return Math.min(timeoutMs, request.timeoutMs ?? Infinity);
}

async function sendOnce(
  options: ApiOptions,
  connections: Connections,
  request: ApiRequest,
  credentials: Credentials,
): Promise<Outcome> {
  const left = request.urgent === true ? Infinity : options.deadline() - options.clock.monotonic();
  const timeoutMs = Math.max(1, Math.ceil(Math.min(timeoutOf(options, request), left)));
  const { server, origin } = options.credentials;
  const traceparent = options.traceParent?.();
  const sent = {
    origin,
    path: server.slice(origin.length) + request.path,
    method: request.method,
    headers: {
      ...headersAs(credentials.headers, request.as),
      'user-agent': options.userAgent,
      accept: request.accept ?? 'application/json',
      'accept-encoding': 'gzip',
      ...request.headers,
      ...(traceparent === undefined ? {} : { traceparent }),
      ...(request.contentType === undefined ? {} : { 'content-type': request.contentType }),
    },
    body: request.body ?? null,
  };
  try {
    const { maxBytes, fence } = request;
    const received = await exchange(connections.for(credentials), { options: sent, timeoutMs, maxBytes, fence });
    if (received === undefined) return { failure: unanswered(asked(options, request), { timeoutMs }) };
    return { answer: await readAnswer(received, maxBytes) };
  } catch (error) {
    // The fence refused the request.
    if (error instanceof Failure) throw error;
    return { failure: unanswered(asked(options, request), { cause: error }) };
  }
}

/** Names only the service account: the server adds its groups (Kubernetes, "User impersonation"). */
function headersAs(headers: Credentials['headers'], as: string | undefined): Readonly<Record<string, string>> {
  if (as === undefined) return headers;
  const own = Object.entries(headers).filter(([name]) => !name.toLowerCase().startsWith('impersonate-'));
  return { ...Object.fromEntries(own), 'impersonate-user': as };
}
