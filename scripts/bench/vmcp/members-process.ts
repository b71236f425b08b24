// Many small MCP servers with sessions in one process: each has so many tools, and answers after so many milliseconds. Gets
// what it is to be, sends its ports, ends when it is disconnected.

import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

const [{ count, tools, delayMs }] = await once(process, 'message');
const SUBJECTS = ['invoice', 'calendar', 'weather', 'picture', 'repository', 'ticket', 'translation', 'backup'];
const VERBS = ['create', 'list', 'search', 'delete', 'update', 'export', 'share', 'archive'];
const ANSWER = JSON.stringify({ content: [{ type: 'text', text: 'x'.repeat(1000) }] });

function toolOf(server: number, index: number): object {
  const [verb, subject] = [VERBS[index % 8], SUBJECTS[(index >> 3) % 8]];
  const description = `Can ${verb} the ${subject} number ${server} of the team, with its notes and the people that it concerns.`;
  const properties = { id: { type: 'string', description: `Which ${subject}.` }, limit: { type: 'integer' } };
  return { name: `${verb}_${subject}_${index}`, description, inputSchema: { type: 'object', properties } };
}

function resultOf(method: string, list: string): string {
  if (method === 'initialize') {
    const serverInfo = { name: 'bench', version: '1' };
    return JSON.stringify({ protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo });
  }
  return method === 'tools/list' ? list : ANSWER;
}

function answer(response: ServerResponse, body: string, list: string): void {
  const { id, method } = JSON.parse(body);
  if (id === undefined) {
    response.writeHead(202).end();
    return;
  }
  if (method === 'server/discover') {
    const error = { code: -32_601, message: 'Method not found' };
    response.writeHead(404, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ jsonrpc: '2.0', id, error }));
    return;
  }
  response.writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': 'bench' });
  response.end(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${resultOf(method, list)}}`);
}

function startServer(server: number): Promise<Server> {
  const list = JSON.stringify({ tools: Array.from({ length: tools }, (_, index) => toolOf(server, index)) });
  const listener = createServer((request: IncomingMessage, response: ServerResponse) => {
    if (request.method !== 'POST') {
      response.writeHead(405).end();
      return;
    }
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const send = () => answer(response, Buffer.concat(chunks).toString(), list);
      if (delayMs === 0) send();
      else setTimeout(send, delayMs);
    });
  });
  // Whoever is busy finds out late that a connection was closed: a call that was sent on it is lost.
  listener.keepAliveTimeout = 120_000;
  return new Promise((resolve) => listener.listen(0, '127.0.0.1', () => resolve(listener)));
}

const servers = await Promise.all(Array.from({ length: count }, (_, index) => startServer(index)));
process.send?.(servers.map((server) => (server.address() as AddressInfo).port));
process.once('disconnect', () => process.exit());
