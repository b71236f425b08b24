// Starts an HTTP+SSE server whose behaviour a test defines.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Posted {
  readonly http: IncomingMessage;
  readonly response: ServerResponse;
  readonly message: { readonly id?: unknown; readonly method?: string; readonly params?: unknown };
}

interface Stream {
  readonly http: IncomingMessage;
  readonly response: ServerResponse;
  event(data: unknown, type?: string): void;
}

export interface RawSse {
  readonly url: string;
  readonly streams: readonly Stream[];
  readonly posted: readonly Posted[];
  close(): Promise<void>;
}

export interface RawSseOptions {
  readonly path?: string;
  /** Called when a stream opens. By default, the server sends the endpoint `/messages?n=<number>`. */
  readonly opened?: (stream: Stream) => void;
  /** Responds to a message. If it returns false, the server sends 202 and a usual response. */
  readonly received?: (posted: Posted, stream: Stream | undefined) => boolean;
}

export async function startRawSse({ path = '/sse', opened, received }: RawSseOptions = {}): Promise<RawSse> {
  const streams: Stream[] = [];
  const posted: Posted[] = [];
  const server = createServer((http, response) => {
    const { pathname, searchParams } = new URL(http.url ?? '', 'http://localhost');
    if (http.method === 'GET' && pathname === path) {
      const stream = openStream(http, response);
      streams.push(stream);
      if (opened === undefined) stream.event(`/messages?n=${streams.length - 1}`, 'endpoint');
      else opened(stream);
      return;
    }
    const chunks: Buffer[] = [];
    http.on('data', (chunk: Buffer) => chunks.push(chunk));
    http.on('end', () => {
      const message = JSON.parse(Buffer.concat(chunks).toString() || '{}');
      const each: Posted = { http, response, message };
      posted.push(each);
      const stream = streams[Number(searchParams.get('n') ?? streams.length - 1)];
      if (received?.(each, stream) === true) return;
      response.writeHead(202).end('Accepted');
      if (message.method === 'initialize') {
        const result = { protocolVersion: '2024-11-05', capabilities: {}, serverInfo: { name: 'raw', version: '1' } };
        stream?.event({ jsonrpc: '2.0', id: message.id, result });
      } else if (message.method === 'ping') stream?.event({ jsonrpc: '2.0', id: message.id, result: {} });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port }: AddressInfo = Object(server.address());
  return {
    url: `http://127.0.0.1:${port}${path}`,
    streams,
    posted,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function openStream(http: IncomingMessage, response: ServerResponse): Stream {
  return {
    http,
    response,
    event(data, type = 'message') {
      if (!response.headersSent) response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(`event: ${type}\ndata: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`);
    },
  };
}
