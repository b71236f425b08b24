// Starts a server on loopback whose responses a test defines.

import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { ServerCertificate } from '../../harness/private-authority.ts';

interface Asked {
  readonly method: string;
  /** Path with query, as sent by the client. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly form: URLSearchParams;
}

export type Respond = (asked: Asked, response: ServerResponse) => void | Promise<void>;

export interface Endpoint {
  readonly url: string;
  readonly asked: readonly Asked[];
  respond(respond: Respond): void;
  /** Refuses connections until `resume`. */
  stop(): Promise<void>;
  resume(): Promise<void>;
  close(): Promise<void>;
}

/** Starts the endpoint. With a certificate, it uses TLS. */
export async function startEndpoint(initial: Respond, certificate?: ServerCertificate): Promise<Endpoint> {
  const asked: Asked[] = [];
  let respond = initial;
  const handle: RequestListener = (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', async () => {
      const { method = '', url = '', headers } = request;
      const body = Buffer.concat(chunks).toString('utf8');
      const flat = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)] as const));
      const each = { method, path: url, headers: flat, body, form: new URLSearchParams(body) };
      asked.push(each);
      await respond(each, response);
    });
  };
  const server = certificate === undefined ? createServer(handle) : createTlsServer({ ...certificate }, handle);
  function listen(port: number): Promise<void> {
    return new Promise((done) => server.listen(port, '127.0.0.1', done));
  }
  async function stop(): Promise<void> {
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  }
  await listen(0);
  const { port } = server.address() as AddressInfo;
  return {
    url: `${certificate === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
    asked,
    respond: (next) => {
      respond = next;
    },
    stop,
    resume: () => listen(port),
    close: async () => {
      if (server.listening) await stop();
    },
  };
}

export function sendJson(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}
