// Sends requests to the API server over a few persistent connections. Uses current credentials, limits concurrency to
// what the server can handle, and repeats requests if that is safe.

import type { Clock, Exchange } from '#reconciler/run/ports.ts';
import { Failure } from '#std/failure.ts';
import { type Connections, openConnections } from './connections.ts';
import type { ClusterCredentials, CredentialSource } from './credentials.ts';
import { exchange } from './exchange.ts';
import type { Limiter } from './limiter.ts';
import { readAnswer } from './read-answer.ts';
import { type ClusterResponse, type RequestSummary, refusal, tooLate, unanswered } from './refusals.ts';
import { waitAfterAnswer, waitAfterSilence } from './retry.ts';

export interface ApiRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path with query. Begins with a slash. */
  readonly path: string;
  readonly body?: string;
  readonly contentType?: string;
  readonly accept?: string | undefined;
  /** Further headers, with names in lower case. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** True if the request has the same effect when it is sent twice. */
  readonly repeatable: boolean;
  /** True if the object is a Secret. Server messages about its content are then dropped. */
  readonly secret?: boolean;
  readonly as?: string;
  /**
   * True for requests that must not wait, such as renewals of the Lease. They bypass the queue and have a short
   * timeout.
   */
  readonly urgent?: boolean;
  /** Timeout in milliseconds. It can only shorten the default, and has no effect on urgent requests. */
  readonly timeoutMs?: number | undefined;
  /** Maximum bytes of the response body after decompression. For a longer body, the response has `exceeds`. */
  readonly maxBytes?: number | undefined;
  /**
   * Called before each attempt and directly before its first byte is sent. If it throws, the request fails with its
   * error.
   */
  readonly fence?: () => void;
}

export interface ClusterApi {
  /** Returns the response of a successful request. Otherwise throws a Failure with one of CLUSTER_CODES. */
  send(request: ApiRequest): Promise<ClusterResponse>;
  url(path: string): string;
  /** Returns the number of requests sent so far, including repeated requests. */
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
  /** Monotonic time after which requests neither begin nor continue to wait. `urgent` requests are exempt. */
  readonly deadline: () => number;
  /** Returns the current trace, which is passed to the server. */
  readonly traceParent?: () => string | undefined;
  /** Receives every sent request after it has ended. */
  readonly observe?: (exchange: Exchange) => void;
}

type SendResult = { readonly answer: ClusterResponse } | { readonly failure: Failure };

export function createApi(options: ApiOptions): ClusterApi {
  const { credentials, limiter, clock } = options;
  const closing = new AbortController();
  const { timeoutMs, connections: most } = options;
  const connections = openConnections({ credentials, connections: most, timeoutMs }, closing.signal);
  let sent = 0;
  /**
   * Requests that failed without a response, in the run whose deadline is `before`. A long-running process has a new
   * deadline for each run.
   */
  let silent = { before: Infinity, requests: new Set<string>() };

  function noteSilence({ method, path }: ApiRequest): void {
    const before = options.deadline();
    if (before === Infinity) return;
    if (before !== silent.before) silent = { before, requests: new Set() };
    silent.requests.add(`${method} ${path.split('?')[0]}`);
  }

  async function attempt(request: ApiRequest, using: ClusterCredentials, repeated: boolean): Promise<SendResult> {
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

  function admitted(request: ApiRequest, using: ClusterCredentials, repeated: boolean): Promise<SendResult> {
    if (request.urgent === true) return attempt(request, using, repeated);
    return limiter.run(() => attempt(request, using, repeated), isBusy);
  }

  async function send(request: ApiRequest): Promise<ClusterResponse> {
    let usable = await credentials.current();
    let renewed = false;
    // A request that timed out is not repeated, because an unresponsive server is unlikely to respond to repetitions.
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
    // Running requests fail and are not repeated.
    async close() {
      closing.abort();
      await connections.close();
    },
  };
}

/** Returns the milliseconds before the next attempt. undefined if another attempt would be useless or unsafe. */
function waitBeforeNext(
  { repeatable, method, path }: ApiRequest,
  number: number,
  outcome: SendResult,
): number | undefined {
  const again = { repeatable, number, seed: `${method} ${path}` };
  return 'answer' in outcome ? waitAfterAnswer(again, outcome.answer) : waitAfterSilence(again, outcome.failure);
}

function isBusy(outcome: SendResult): boolean {
  return 'answer' in outcome && outcome.answer.status === 429;
}

function isUnauthorized(outcome: SendResult): boolean {
  return 'answer' in outcome && outcome.answer.status === 401;
}

function asked({ credentials }: ApiOptions, { method, path, secret, as }: ApiRequest): RequestSummary {
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
  credentials: ClusterCredentials,
): Promise<SendResult> {
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
    // The fence rejected the request.
    if (error instanceof Failure) throw error;
    return { failure: unanswered(asked(options, request), { cause: error }) };
  }
}

/** Impersonates only the service account, because the server adds its groups (Kubernetes, "User impersonation"). */
function headersAs(headers: ClusterCredentials['headers'], as: string | undefined): Readonly<Record<string, string>> {
  if (as === undefined) return headers;
  const own = Object.entries(headers).filter(([name]) => !name.toLowerCase().startsWith('impersonate-'));
  return { ...Object.fromEntries(own), 'impersonate-user': as };
}
