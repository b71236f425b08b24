// Serves `skep mcp` as streamable HTTP on an address of this machine, to clients with a token.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createMcpHandler, type McpHttpHandler, type Server } from '@modelcontextprotocol/server';
import type { Logger } from 'pino';
import { originRules } from '#gateway/gate/origin.ts';
import { addressOf, isAddress } from '#hosts/config/http.ts';
import { readSecretFile } from '#hosts/config/secret-file.ts';
import { isLoopback } from '#std/address/loopback.ts';
import { Failure } from '#std/failure.ts';
import { bearerToken, isOneOf } from '#std/secret.ts';

const PATH = '/mcp';
/** Maximum bytes of a request. The largest argument is a manifest. */
const BODY_MAX = 1024 * 1024;

export interface McpListener {
  readonly url: string;
  stop(): Promise<void>;
}

interface ListenDeps {
  readonly create: () => Server;
  readonly logger: Pick<Logger, 'error'>;
}

/** Starts to listen. Throws Failure `mcp-address-refused` or `listen-failed`. */
export async function listenForMcp(
  address: string,
  tokenFile: string,
  { create, logger }: ListenDeps,
): Promise<McpListener> {
  const named = address.slice(0, address.lastIndexOf(':'));
  if (!isAddress(address) || !isLoopback(named)) {
    const message = `${address} is not an address of this machine, such as 127.0.0.1:8090`;
    throw new Failure('mcp-address-refused', message);
  }
  const { host, port } = addressOf(address);
  const handler = createMcpHandler(create, { maxRequestBodySize: BODY_MAX });
  const rules = originRules({ listenHost: named, trustForwarded: false });
  const server = createServer((request, response) => {
    serveRequest(request, response).catch((error) => {
      // An error is expected if the client has disconnected. Any other error is a bug.
      if (!response.destroyed) logger.error({ err: error }, 'a request failed unexpectedly');
      response.destroy();
    });
  });
  async function serveRequest(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const denial = rules.refuse({ method: request.method ?? '', headers: request.headers });
    if (denial !== undefined) return sendError(response, denial.httpStatus, denial.code, denial.message);
    if (!(await hasToken(request, tokenFile)))
      return sendError(
        response.setHeader('www-authenticate', 'Bearer'),
        401,
        'mcp-unauthorized',
        'a valid token is needed',
      );
    if (request.url?.split('?')[0] !== PATH) return sendError(response, 404, 'not-found', `only ${PATH} is served`);
    const body = await receiveBody(request);
    if (body === undefined) return sendError(response, 413, 'mcp-arguments', `a request has at most ${BODY_MAX} bytes`);
    await passOn(handler, { request, body }, response);
  }
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, host, resolve)).catch(
    (cause) => {
      throw new Failure('listen-failed', `cannot listen on ${address}: ${cause.message}`, { cause });
    },
  );
  const { port: chosen }: AddressInfo = Object(server.address());
  return {
    url: `http://${named}:${chosen}${PATH}`,
    async stop() {
      await handler.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Returns true if the request has a valid token. Returns false for every request if the token file cannot be read. */
async function hasToken({ headers }: IncomingMessage, file: string): Promise<boolean> {
  const token = bearerToken(headers.authorization);
  if (token === undefined) return false;
  try {
    return isOneOf(token, await readSecretFile(file));
  } catch (error) {
    if (error instanceof Failure) return false;
    throw error;
  }
}

function sendError(response: ServerResponse, status: number, code: string, message: string): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ error: { code, message } }));
}

/**
 * Returns the body; undefined for a body above the maximum. Such a body is read to its end, because the client reads
 * the response only after it has sent the body.
 */
async function receiveBody(request: IncomingMessage): Promise<Buffer<ArrayBuffer> | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    if (size <= BODY_MAX) chunks.push(chunk);
  }
  return size <= BODY_MAX ? Buffer.concat(chunks) : undefined;
}

interface Received {
  readonly request: IncomingMessage;
  readonly body: Buffer<ArrayBuffer>;
}

/** Passes the request to the handler. If the client disconnects, the call is cancelled. */
async function passOn(handler: McpHttpHandler, { request, body }: Received, response: ServerResponse): Promise<void> {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  const { method = 'GET', url = PATH } = request;
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) headers.set(name, String(value));
  const sent = method === 'GET' || method === 'HEAD' ? {} : { body };
  const asked = new Request(new URL(url, 'http://localhost'), { method, headers, signal: gone.signal, ...sent });
  const answered = await handler.fetch(asked);
  response.writeHead(answered.status, Object.fromEntries(answered.headers));
  if (answered.body === null) return void response.end();
  await pipeline(Readable.fromWeb(answered.body as Parameters<typeof Readable.fromWeb>[0]), response);
}
