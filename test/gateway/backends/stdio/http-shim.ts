// Serves a backend over HTTP for official clients, as the proxy would without its gate.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Answer, Backend, BackendFault, Exchange } from '#gateway/backends/backend.ts';
import { errorBody } from '#gateway/wire/errors.ts';
import type { MessageId } from '#gateway/wire/message.ts';
import { eraOf } from '#gateway/wire/revisions.ts';
import { scanMessage } from '#gateway/wire/scan.ts';

export interface Shim {
  readonly url: URL;
  close(): Promise<void>;
}

export async function listenFor(backend: Backend): Promise<Shim> {
  const server = createServer({ requestTimeout: 0 }, (request, response) => void serve(backend, request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: new URL(`http://127.0.0.1:${port}/mcp`),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const STATUS: Readonly<Partial<Record<BackendFault['reason'], number>>> = {
  'session-unknown': 404,
  busy: 503,
  unreachable: 503,
  timeout: 504,
};

async function serve(backend: Backend, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const body = request.method === 'POST' ? Buffer.concat(chunks) : undefined;
  const scanned = body === undefined ? undefined : scanMessage(body);
  if (scanned?.ok === false) {
    response.writeHead(400).end(errorBody(scanned.fault.id, scanned.fault.code, scanned.fault.message));
    return;
  }
  const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
  const decision = eraOf(headers['mcp-protocol-version'], scanned?.message);
  const exchange: Exchange = {
    method: request.method as Exchange['method'],
    era: decision.fault === undefined ? decision.era : 'session',
    path: '/mcp',
    headers,
    body,
    message: scanned?.message,
    session: headers['mcp-session-id'],
    caller: headers['x-caller'] ?? 'anonymous',
  };
  const id = scanned?.message.kind === 'request' ? scanned.message.id : undefined;
  const flow = backend.open(exchange, answerOf(response, id));
  response.on('drain', flow.resume);
  response.on('close', () => response.writableFinished || flow.abort());
}

function answerOf(response: ServerResponse, id: MessageId | undefined): Answer {
  return {
    head(status, headers) {
      response.writeHead(status, headers as Record<string, string>);
      response.flushHeaders();
    },
    data: (chunk) => response.write(chunk),
    end: () => void response.end(),
    fail(fault) {
      if (response.headersSent) {
        response.destroy();
        return;
      }
      const headers: Record<string, string> = { 'content-type': 'application/json', 'x-fault': fault.reason };
      if (fault.retryAfterSeconds !== undefined) headers['retry-after'] = String(fault.retryAfterSeconds);
      response.writeHead(STATUS[fault.reason] ?? 502, headers).end(errorBody(id, -32000, fault.message));
    },
  };
}
