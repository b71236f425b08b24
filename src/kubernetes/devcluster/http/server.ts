// Opens the HTTPS listener and authenticates requests.

import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { Failure } from '#std/failure.ts';
import { apiError, unauthorized } from '../api/status.ts';
import type { Identity } from '../identity/identity.ts';
import { errorAnswer, refuseUpgrade, sendAnswer } from './respond.ts';

export interface Listener {
  readonly port: number;
  /** Closes every connection, including connections with a request in progress. */
  close(): Promise<void>;
}

export interface Exchange {
  readonly message: IncomingMessage;
  readonly response: ServerResponse;
  readonly url: URL;
}

export interface ListenOptions {
  readonly identity: Identity;
  /** If 0, any free port is used. */
  readonly port: number;
  /** Returns the service account of a token. undefined if the token is not valid. */
  readonly accountOf: (token: string) => string | undefined;
  /** True if service accounts may send the request. */
  readonly isForAccounts: (method: string, path: string) => boolean;
  /** True if the path needs no token. */
  readonly isPublic: (path: string) => boolean;
  readonly handle: (exchange: Exchange) => Promise<void>;
  /** Handles upgrade requests whose token was accepted. */
  readonly upgrade: (message: IncomingMessage, socket: Duplex, head: Buffer, url: URL) => void;
}

/** Listens on 127.0.0.1. Throws Failure `devcluster-port-taken`. */
export async function listen(options: ListenOptions): Promise<Listener> {
  const { identity } = options;
  const sockets = new Set<Socket>();
  const server = createServer(
    { cert: identity.certificate, key: identity.privateKey, keepAliveTimeout: 60_000 },
    (message, response) => {
      void serve(options, message, response);
    },
  );
  server.on('secureConnection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    // Clients may close their connection at any time, so this is not a server error.
    socket.on('error', () => socket.destroy());
  });
  server.on('upgrade', (message, socket, head) => {
    socket.on('error', () => socket.destroy());
    const url = new URL(message.url ?? '/', 'https://localhost');
    if (carriesToken(message, identity.token)) options.upgrade(message, socket, head, url);
    else refuseUpgrade(socket, errorAnswer(unauthorized()));
  });
  await bind(server, options.port);
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : options.port;
  return {
    port,
    close: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

function bind(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(bindFailure(error, port)));
    server.listen(port, '127.0.0.1', resolve);
  });
}

function bindFailure(error: NodeJS.ErrnoException, port: number): unknown {
  if (error.code !== 'EADDRINUSE') return error;
  const message = `127.0.0.1:${port} is in use by another process`;
  return new Failure('devcluster-port-taken', message, { data: { port }, cause: error });
}

async function serve(options: ListenOptions, message: IncomingMessage, response: ServerResponse): Promise<void> {
  // A client may disconnect during the response, so this is not a server error.
  response.on('error', () => response.destroy());
  try {
    const url = new URL(message.url ?? '/', 'https://localhost');
    if (!options.isPublic(url.pathname) && !carriesToken(message, options.identity.token)) {
      checkAccount(options, message, url.pathname);
    }
    await options.handle({ message, response, url });
  } catch (error) {
    if (response.headersSent) response.destroy();
    else await sendAnswer(message, response, errorAnswer(error));
  }
}

/** Throws Failures with a Status. */
function checkAccount({ accountOf, isForAccounts }: ListenOptions, message: IncomingMessage, path: string): void {
  const { method = 'GET' } = message;
  const account = accountOf(bearerOf(message));
  if (account === undefined) throw unauthorized();
  if (isForAccounts(method, path)) return;
  const why = `User ${JSON.stringify(account)} cannot ${method.toLowerCase()} path ${JSON.stringify(path)}`;
  throw apiError(
    403,
    'Forbidden',
    `forbidden: ${why}: this cluster does not support RBAC, and only its admin has rights`,
    {},
  );
}

/** Returns an empty text if the request has no bearer token. */
function bearerOf({ headers }: IncomingMessage): string {
  const [scheme = '', token = ''] = (headers.authorization ?? '').split(' ');
  return scheme.toLowerCase() === 'bearer' ? token : '';
}

function carriesToken(message: IncomingMessage, token: string): boolean {
  const left = Buffer.from(bearerOf(message));
  const right = Buffer.from(token);
  return left.length === right.length && timingSafeEqual(left, right);
}
