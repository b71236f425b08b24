// Serves a backend over streamable HTTP for tests of backends. Unlike a proxy, it has no gate and no sealed sessions.

import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createUpstream } from '#adapters/upstream/upstream.ts';
import type { Answer, Backend, BackendFault, Exchange } from '#gateway/backends/backend.ts';
import { createHttpBackend } from '#gateway/backends/http.ts';
import type { BackendClock, Upstream } from '#gateway/backends/ports.ts';
import { checkStandardHeaders, requestHeadersToForward } from '#gateway/wire/headers.ts';
import { eraOf } from '#gateway/wire/revisions.ts';
import { scanMessage } from '#gateway/wire/scan.ts';
import { createSessionSeal, type SessionSeal } from '#gateway/wire/seal.ts';

export const testClock: BackendClock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(ms, task) {
    const timer = setTimeout(task, ms);
    return () => clearTimeout(timer);
  },
  random: (size) => randomBytes(size),
};

export function testSeal(): SessionSeal {
  return createSessionSeal({ keys: [randomBytes(32)], random: randomBytes });
}

export function testUpstream(): Upstream {
  return createUpstream({ connectTimeoutMs: 5000 });
}

/** Creates a backend for the streamable HTTP server at this URL. */
export function httpBackend(url: string, upstream: Upstream): Backend {
  return createHttpBackend({ url, firstByteMs: 20_000, idleMs: 60_000 }, { upstream, clock: testClock });
}

export interface Front {
  readonly url: string;
  close(): Promise<void>;
}

const STATUSES: Readonly<Record<BackendFault['reason'], number>> = {
  unreachable: 502,
  timeout: 504,
  closed: 502,
  busy: 503,
  'not-started': 503,
  'session-unknown': 404,
  'answer-invalid': 502,
  'answer-too-large': 502,
  'not-supported': 501,
  unauthorized: 401,
  forbidden: 403,
};

/** Serves the backend on 127.0.0.1. The header `x-caller` contains the caller's name. */
export async function listenBefore(backend: Backend): Promise<Front> {
  const server = createServer((request, response) => {
    void serve(backend, request, response);
  });
  server.requestTimeout = 0;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port }: AddressInfo = Object(server.address());
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function serve(backend: Backend, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const body = Buffer.concat(chunks);
  const method = request.method === 'GET' ? 'GET' : request.method === 'DELETE' ? 'DELETE' : 'POST';
  const scanned = method === 'POST' ? scanMessage(body) : undefined;
  if (scanned?.ok === false) {
    return refuse(response, 400, scanned.fault.code, scanned.fault.message, scanned.fault.id?.json);
  }
  const message = scanned?.message;
  const id = message?.kind === 'request' ? message.id.json : undefined;
  const version = request.headers['mcp-protocol-version'];
  const era = eraOf(typeof version === 'string' ? version : undefined, message);
  const fault =
    era.fault ?? (era.era === 'stateless' && message ? checkStandardHeaders(request.headers, message) : undefined);
  if (fault !== undefined) return refuse(response, fault.status, fault.code, fault.message, id, fault.data);
  if (era.fault !== undefined) return;
  const session = request.headers['mcp-session-id'];
  const exchange: Exchange = {
    method,
    era: era.era,
    path: request.url ?? '/mcp',
    headers: requestHeadersToForward(request.headers),
    body: method === 'POST' ? body : undefined,
    message,
    session: typeof session === 'string' ? session : undefined,
    caller: String(request.headers['x-caller'] ?? 'anonymous'),
  };
  const flow = backend.open(
    exchange,
    answerOver(response, id, () => flow.resume()),
  );
  response.once('close', () => {
    if (!response.writableFinished) flow.abort();
  });
}

function answerOver(response: ServerResponse, id: string | undefined, resume: () => void): Answer {
  return {
    head(status, headers) {
      response.writeHead(status, { ...headers } as Record<string, string>);
      response.flushHeaders();
    },
    data(chunk) {
      if (response.write(chunk)) return true;
      response.once('drain', resume);
      return false;
    },
    end: () => void response.end(),
    fail(fault) {
      if (response.headersSent) response.destroy();
      else refuse(response, STATUSES[fault.reason], -32000, `${fault.reason}: ${fault.message}`, id);
    },
  };
}

function refuse(
  response: ServerResponse,
  status: number,
  code: number,
  message: string,
  id?: string,
  data?: unknown,
): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(
    `{"jsonrpc":"2.0",${id === undefined ? '' : `"id":${id},`}"error":${JSON.stringify({ code, message, data })}}`,
  );
}
