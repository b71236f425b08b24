// Runs the HTTP server of a proxy: limits the arrival time of requests, and ends a request whose handler throws.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { Failure } from '#std/failure.ts';
import { type GuardedRequest, requestUnderWay, runRequest } from '#std/requests/request-context.ts';
import { INTERNAL, refusalBody } from './faults.ts';

export type Handle = (request: IncomingMessage, response: ServerResponse) => void;

export interface Listener {
  readonly url: string;
  /**
   * Refuses new connections, and ends idle connections. Resolves when no connection is open. Later calls end
   * connections that have become idle since.
   */
  drain(): Promise<void>;
  /** Ends every connection now, and refuses new connections. */
  destroy(): void;
}

/** Limits for the arrival of the head and of the whole request, and the interval of their check. */
export interface ArrivalTimes {
  readonly headMs: number;
  readonly arrivalMs: number;
  readonly checkMs: number;
}

const TIMES: ArrivalTimes = { headMs: 10_000, arrivalMs: 60_000, checkMs: 2_000 };
/** Longer than the idle time of load balancers, so that load balancers close idle connections first. */
const KEEP_ALIVE_MS = 75_000;
const HEADER_BYTES_MAX = 32 * 1024;

/** Logs an exception that no other code caught. */
export type ReportFailed = (error: unknown) => void;

/** Listens. The system chooses the port if `port` is 0. Throws Failure `listen-failed`. */
export async function listenHttp(
  { host, port }: { host: string; port: number },
  handle: Handle,
  failed: ReportFailed,
  times: ArrivalTimes = TIMES,
): Promise<Listener> {
  const server = createServer({
    headersTimeout: times.headMs,
    requestTimeout: times.arrivalMs,
    connectionsCheckingInterval: times.checkMs,
    keepAliveTimeout: KEEP_ALIVE_MS,
    maxHeaderSize: HEADER_BYTES_MAX,
    noDelay: true,
  });
  server.on('request', (request, response) => {
    const served: ServedRequest = { failed, response, refuse: undefined, broken: endServed };
    // Timers and sockets keep the async context in which they begin, often longer than the request. Clearing the fields
    // frees the request's memory.
    response.once('close', () => {
      served.refuse = undefined;
      served.response = undefined;
    });
    runRequest(served, [request, response], () => handle(request, response));
  });
  server.on('clientError', endBroken);
  await startListening(server, host, port);
  const { port: bound } = server.address() as AddressInfo;
  let drained: Promise<void> | undefined;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${bound}`,
    drain() {
      drained ??= new Promise((resolve) => server.close(() => resolve()));
      server.closeIdleConnections();
      return drained;
    },
    destroy() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Sets `refuse` as the answer to exceptions of the current request. */
export function refuseBrokenBy(refuse: (error: unknown) => void): void {
  const request = requestUnderWay();
  if (request !== undefined) request.refuse = refuse;
}

interface ServedRequest extends GuardedRequest {
  readonly failed: ReportFailed;
  /** undefined once the response has closed. */
  response: ServerResponse | undefined;
}

function endServed(this: ServedRequest, error: unknown): void {
  const { response, refuse, failed } = this;
  // The end of a sent answer is already recorded.
  if (response === undefined || response.writableFinished) failed(error);
  else if (refuse !== undefined) endBy(response, () => refuse(error));
  else {
    failed(error);
    if (response.headersSent) response.destroy();
    else endBy(response, () => sendInternal(response));
  }
}

/** Answers and closes the connection without reading more of the request: its parser may have thrown the exception. */
function endBy(response: ServerResponse, answer: () => void): void {
  response.shouldKeepAlive = false;
  answer();
}

function sendInternal(response: ServerResponse): void {
  const body = refusalBody(INTERNAL, undefined);
  response.writeHead(INTERNAL.status, { 'content-type': 'application/json', 'content-length': body.length });
  response.end(body);
}

function startListening(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause) => {
      const where = `${host}:${port}`;
      reject(new Failure('listen-failed', `cannot listen on ${where}: ${cause.message}`, { data: { where }, cause }));
    });
    server.listen(port, host, resolve);
  });
}

/**
 * Answers bytes that are not HTTP or arrived too slowly. Destroys the connection, because a normal end would wait for
 * the client.
 */
function endBroken(error: Error & { readonly code?: string }, socket: Socket): void {
  if (!socket.writable || socket.destroyed) {
    socket.destroy();
    return;
  }
  const late = error.code === 'ERR_HTTP_REQUEST_TIMEOUT';
  const large = error.code === 'HPE_HEADER_OVERFLOW';
  const status = late ? '408 Request Timeout' : large ? '431 Request Header Fields Too Large' : '400 Bad Request';
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`, () => socket.destroy());
}
