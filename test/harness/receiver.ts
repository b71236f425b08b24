// Starts an HTTP or TLS server on loopback that records the received requests.

import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { ServerCertificate } from './private-authority.ts';

export interface Received {
  readonly method: string;
  /** Path with query, as sent by the client. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface Receiver {
  readonly url: string;
  readonly received: readonly Received[];
  /** Sets the statuses of the next responses, in order. Later responses have 201. For 0, the server never responds. */
  answer(statuses: readonly number[], body?: string): void;
  forget(): void;
  close(): Promise<void>;
}

export async function startReceiver(certificate?: ServerCertificate): Promise<Receiver> {
  const received: Received[] = [];
  let statuses: readonly number[] = [];
  let answerBody = '{}';
  const receive: RequestListener = (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url = '' } = request;
      const headers = Object.fromEntries(
        Object.entries(request.headers).map(([name, value]) => [name, String(value)] as const),
      );
      received.push({ method, path: url, headers, body: Buffer.concat(chunks).toString('utf8') });
      const [status = 201, ...rest] = statuses;
      statuses = rest;
      if (status !== 0) response.writeHead(status, { 'content-type': 'application/json' }).end(answerBody);
    });
  };
  const server = certificate === undefined ? createServer(receive) : createTlsServer({ ...certificate }, receive);
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return {
    url: `${certificate === undefined ? 'http' : 'https'}://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    answer(next, body = '{}') {
      statuses = next;
      answerBody = body;
    },
    forget: () => received.splice(0),
    close: async () => {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}
