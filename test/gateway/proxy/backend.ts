// Starts a small MCP server over streamable HTTP on loopback that records requests. The called tool determines its
// response.

import {
  createServer,
  type IncomingHttpHeaders,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';

interface Asked {
  readonly method: string;
  /** Path with query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface TestBackend {
  readonly url: string;
  readonly port: number;
  /** Received requests, except requests of the proxy itself. */
  readonly asked: readonly Asked[];
  /** Returns the requests with this JSON-RPC method. */
  calls(method: string): readonly Asked[];
  /** Resolves at the next call of the tool `hang`, which gets no response. */
  hanging(): Promise<void>;
  close(): Promise<void>;
}

interface Rpc {
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: { readonly name?: string; readonly arguments?: { readonly text?: string } };
}

const TOOLS = ['echo', 'fail', 'break', 'hang', 'trickle', 'large'].map((name) => ({
  name,
  description: `${name} of the server`,
  inputSchema: { type: 'object' },
}));

/** If `page` is set, the server responds to a GET with this JSON instead of a stream. */
export async function startBackend(
  tls?: { readonly cert: string; readonly key: string },
  page?: object,
): Promise<TestBackend> {
  const asked: Asked[] = [];
  let hung: () => void = () => undefined;

  function answer(request: Asked, response: ServerResponse): void {
    if (request.method === 'GET' && page !== undefined) {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(page));
      return;
    }
    if (request.method === 'GET') {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(': of the server\n\n');
      return;
    }
    if (request.method !== 'POST') return void response.writeHead(202).end();
    const rpc: Rpc = JSON.parse(request.body);
    if (rpc.id === undefined) return void response.writeHead(202).end();
    const { name } = rpc.params ?? {};
    if (rpc.method === 'tools/call' && name === 'hang') return void hung();
    const session = rpc.method === 'initialize' ? { 'mcp-session-id': 'session-of-the-server' } : {};
    response.writeHead(200, { 'content-type': 'application/json', ...session });
    if (rpc.method === 'tools/call' && name === 'trickle') response.write('{"jsonrpc":"2.0",');
    else response.end(JSON.stringify({ jsonrpc: '2.0', id: rpc.id, ...answerOf(rpc) }));
  }

  const listen: RequestListener = (message, response) => {
    const chunks: Buffer[] = [];
    message.on('data', (chunk: Buffer) => chunks.push(chunk));
    message.on('end', () => {
      const { method = '', url: path = '', headers } = message;
      const request = { method, path, headers, body: Buffer.concat(chunks).toString() };
      asked.push(request);
      answer(request, response);
    });
  };

  const server: Server = tls === undefined ? createServer(listen) : createTlsServer(tls, listen);
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  return {
    url: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
    port,
    asked,
    calls: (method) => asked.filter(({ body }) => body.includes(`"method":"${method}"`)),
    hanging: () =>
      new Promise((resolve) => {
        hung = resolve;
      }),
    async close() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

function answerOf({ method, params }: Rpc): object {
  if (method === 'initialize') {
    const serverInfo = { name: 'small', version: '1' };
    return { result: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo } };
  }
  if (method === 'tools/list') return { result: { tools: TOOLS } };
  if (method === 'tools/call') return toolAnswer(params?.name, params?.arguments?.text ?? '');
  return { result: {} };
}

function toolAnswer(name: string | undefined, text: string): object {
  const content = (each: string) => ({ content: [{ type: 'text', text: each }] });
  if (name === 'break') return { error: { code: -32603, message: 'broken' } };
  if (name === 'fail') return { result: { ...content('no'), isError: true } };
  if (name === 'large') return { result: content('x'.repeat(20_000)) };
  if (name === 'echo') return { result: content(text) };
  return { error: { code: -32602, message: `Unknown tool: ${name}` } };
}
