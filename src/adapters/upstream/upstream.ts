// Sends HTTP requests of the data plane with undici. Calls and open streams use separate connections.

import { AsyncResource } from 'node:async_hooks';
import type { Dispatcher, Pool as PoolOf } from 'undici';
import type { Upstream, UpstreamFault, UpstreamHandlers, UpstreamRequest } from '#gateway/backends/ports.ts';
import { createSlots, type Slots } from '#std/slots.ts';
import { errors, Pool } from '../http/undici.ts';

export interface UpstreamOptions {
  /** Trusted root certificates as PEM. Default: the system's. */
  readonly ca?: readonly string[];
  readonly connectTimeoutMs: number;
}

/** Interval in milliseconds of the check for stalled responses. */
const IDLE_CHECK_MS = 1000;

interface Moving {
  readonly idleMs: number;
  movedAt: number;
  abort(fault: UpstreamFault): void;
}

/** Sends requests to any configured address. Does not follow redirects. */
export function createUpstream(options: UpstreamOptions): Upstream {
  const calls = new Map<string, PoolOf>();
  const streams = new Map<string, PoolOf>();
  const moving = createSlots<Moving>();
  const parse = rememberUrl();
  const sweep = setInterval(() => abortIdle(moving), IDLE_CHECK_MS);
  sweep.unref();
  return {
    request(request, handlers) {
      const url = parse(request.url);
      const pool = poolFor(request.stream ? streams : calls, url.origin, options);
      return sendRequest(pool, url, request, inContext(handlers), moving);
    },
    async close() {
      clearInterval(sweep);
      const pools = [...calls.values(), ...streams.values()];
      await Promise.all(pools.map((pool) => pool.destroy()));
    },
  };
}

/**
 * Restores the async context of the request. A connection calls back in the context of the request that opened the
 * connection. That request may belong to another client.
 */
function inContext({ head, data, end, failed }: UpstreamHandlers): UpstreamHandlers {
  // `AsyncLocalStorage.snapshot` has the same effect, but creates objects of 1 KB for two deprecated properties.
  const scope = new AsyncResource('skep.upstream');
  return {
    head: (status, headers) => scope.runInAsyncScope(head, undefined, status, headers),
    data: (chunk) => scope.runInAsyncScope(data, undefined, chunk),
    end: () => scope.runInAsyncScope(end, undefined),
    failed: (fault) => scope.runInAsyncScope(failed, undefined, fault),
  };
}

/**
 * Returns a pool without a connection limit. A limited pool would queue calls behind open streams. The proxy itself
 * limits calls and streams.
 */
function poolFor(pools: Map<string, PoolOf>, origin: string, { ca, connectTimeoutMs }: UpstreamOptions): PoolOf {
  const known = pools.get(origin);
  if (known !== undefined) return known;
  const connect = { timeout: connectTimeoutMs, allowH2: false, ca: ca === undefined ? undefined : [...ca] };
  const pool = new Pool(origin, { connect, allowH2: false, pipelining: 1, bodyTimeout: 0, maxHeaderSize: 64 * 1024 });
  pools.set(origin, pool);
  return pool;
}

function abortIdle(moving: Slots<Moving>): void {
  const now = performance.now();
  for (const each of moving.values()) {
    if (now - each.movedAt <= each.idleMs) continue;
    each.abort({ reason: 'timeout', detail: `nothing came for ${each.idleMs / 1000} s`, unsent: false });
  }
}

function sendRequest(
  pool: PoolOf,
  url: UpstreamTarget,
  request: UpstreamRequest,
  handlers: UpstreamHandlers,
  moving: Slots<Moving>,
) {
  let controller: Dispatcher.DispatchController | undefined;
  let ended = false;
  let connected = false;
  let place = -1;
  const idle: Moving = { idleMs: request.idleMs, movedAt: 0, abort: fail };

  function finish(): boolean {
    if (ended) return false;
    ended = true;
    if (place >= 0) moving.remove(place);
    return true;
  }

  function fail(fault: UpstreamFault): void {
    if (!finish()) return;
    controller?.abort(new Error(fault.reason));
    handlers.failed(fault);
  }

  pool.dispatch(optionsOf(url, request), {
    onRequestStart(started) {
      connected = true;
      controller = started;
      if (ended) started.abort(new Error('aborted'));
    },
    onResponseStart(_started, status, headers) {
      if (ended || status < 200) return;
      if (request.idleMs > 0 && !isEventStream(headers['content-type'])) {
        idle.movedAt = performance.now();
        place = moving.add(idle);
      }
      handlers.head(status, headersOf(headers));
    },
    onResponseData(started, chunk) {
      if (ended) return;
      idle.movedAt = performance.now();
      if (!handlers.data(chunk)) started.pause();
    },
    onResponseEnd() {
      if (finish()) handlers.end();
    },
    onResponseError(_started, error) {
      if (finish()) handlers.failed(upstreamFault(error, url.host, !connected));
    },
  });

  return {
    abort() {
      if (!finish()) return;
      controller?.abort(new Error('aborted'));
    },
    resume() {
      idle.movedAt = performance.now();
      controller?.resume();
    },
  };
}

interface UpstreamTarget {
  readonly origin: string;
  readonly path: string;
  readonly host: string;
}

/** Caches the last parsed URL, because nearly all requests are sent to one URL. */
function rememberUrl(): (url: string) => UpstreamTarget {
  let last: (UpstreamTarget & { readonly text: string }) | undefined;
  return function parse(text) {
    if (last?.text === text) return last;
    const { origin, pathname, search, host } = new URL(text);
    last = { text, origin, path: `${pathname}${search}`, host };
    return last;
  };
}

function optionsOf(url: UpstreamTarget, request: UpstreamRequest): Dispatcher.DispatchOptions {
  return {
    origin: url.origin,
    path: url.path,
    method: request.method,
    headers: request.headers,
    body: request.body ?? null,
    headersTimeout: request.firstByteMs,
    bodyTimeout: 0,
  };
}

/**
 * True for an event stream, which may be silent for any time. The proxy sends comments to keep the client's connection
 * open.
 */
function isEventStream(contentType: string | string[] | undefined): boolean {
  return typeof contentType === 'string' && /^text\/event-stream\b/i.test(contentType);
}

type UpstreamHeaders = Readonly<Record<string, string | readonly string[]>>;

function headersOf(headers: Readonly<Record<string, string | string[] | undefined>>): UpstreamHeaders {
  const known: Record<string, string | readonly string[]> = {};
  for (const name in headers) {
    const value = headers[name];
    if (value !== undefined) known[name] = value;
  }
  return known;
}

/** Error codes of failures before a byte of the request was written. */
const NOT_CONNECTED = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ETIMEDOUT',
  'UND_ERR_CONNECT_TIMEOUT',
]);

function upstreamFault(error: Error, host: string, unconnected: boolean): UpstreamFault {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : error.name;
  const detail = `${host}: ${code}`;
  if (error instanceof errors.HeadersTimeoutError) return { reason: 'timeout', detail, unsent: false };
  if (unconnected || NOT_CONNECTED.has(code)) return { reason: 'unreachable', detail, unsent: true };
  return { reason: 'closed', detail, unsent: false };
}
