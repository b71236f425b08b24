// Serves sample servers over streamable HTTP at /mcp (MCP 2025-11-25, Transports), or over the older HTTP+SSE at /sse
// and /messages (MCP 2024-11-05).

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isObject, type Json, parseJson } from '#std/json.ts';
import type { Conversation } from './conversation.ts';

export interface HttpSettings {
  readonly transport: 'streamable-http' | 'sse';
  readonly host: string;
  /** If 0, the system chooses the port. */
  readonly port: number;
  readonly open: () => Conversation;
  /** Returns an unguessable id: a person who knows the id of a session can use the session. */
  readonly newId: () => string;
}

export interface SampleListener {
  readonly url: string;
  readonly stop: () => Promise<void>;
}

/** Maximum size of a message in bytes. Clients send short texts of people and models. */
const MAX_BODY = 1024 * 1024;
/**
 * Maximum number of sessions. If it is reached, the oldest session is dropped: some clients never end their sessions by
 * DELETE.
 */
const MAX_SESSIONS = 1000;
const SESSION = 'mcp-session-id';

interface SseSession {
  readonly conversation: Conversation;
  readonly stream: ServerResponse;
}

export async function serveHttp(settings: HttpSettings): Promise<SampleListener> {
  const { transport, host, port } = settings;
  const answer = transport === 'sse' ? answerSse(settings) : answerStreamable(settings);
  const server = createServer((request, response) => {
    response.on('error', () => response.destroy());
    answer(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, host, resolve));
  const { port: chosen } = server.address() as AddressInfo;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${chosen}${transport === 'sse' ? '/sse' : '/mcp'}`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

type RequestHandler = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

function answerStreamable({ open, newId }: HttpSettings): RequestHandler {
  const sessions = new Map<string, Conversation>();
  return async (request, response) => {
    if (requestPath(request) !== '/mcp') return endWith(response, 404);
    const given = String(request.headers[SESSION] ?? '');
    if (request.method === 'DELETE') return endWith(response, sessions.delete(given) ? 204 : 404);
    if (request.method !== 'POST') return endWith(response.setHeader('allow', 'POST, DELETE'), 405);
    const message = await readMessage(request);
    if (message === undefined) return endWith(response, 400);
    const begins = isObject(message) && message.method === 'initialize';
    const id = begins ? newId() : given;
    const conversation = begins ? open() : sessions.get(id);
    if (conversation === undefined) return endWith(response, given === '' ? 400 : 404);
    if (begins) keep(sessions, id, conversation);
    if (!isObject(message) || message.method === undefined || message.id === undefined) {
      await conversation.receive(message, () => undefined);
      return endWith(response, 202);
    }
    beginStream(response, { [SESSION]: id });
    await conversation.receive(message, (each) => void response.write(eventOf('message', JSON.stringify(each))));
    response.end();
  };
}

function answerSse({ open, newId }: HttpSettings): RequestHandler {
  const sessions = new Map<string, SseSession>();
  return async (request, response) => {
    const path = requestPath(request);
    if (path === '/sse' && request.method === 'GET') {
      const id = newId();
      keep(sessions, id, { conversation: open(), stream: response });
      response.once('close', () => sessions.delete(id));
      beginStream(response, {});
      response.write(eventOf('endpoint', `/messages?session=${id}`));
      return;
    }
    if (path !== '/messages' || request.method !== 'POST') return endWith(response, 404);
    const session = sessions.get(new URL(request.url ?? '/', 'http://localhost').searchParams.get('session') ?? '');
    if (session === undefined) return endWith(response, 404);
    const message = await readMessage(request);
    if (message === undefined) return endWith(response, 400);
    endWith(response, 202);
    const { conversation, stream } = session;
    await conversation.receive(message, (each) => void stream.write(eventOf('message', JSON.stringify(each))));
  };
}

function keep<T>(sessions: Map<string, T>, id: string, session: T): void {
  const [oldest] = sessions.keys();
  if (sessions.size >= MAX_SESSIONS && oldest !== undefined) sessions.delete(oldest);
  sessions.set(id, session);
}

function requestPath({ url = '/' }: IncomingMessage): string {
  return url.split('?', 1)[0] ?? '/';
}

function endWith(response: ServerResponse, status: number): void {
  response.writeHead(status).end();
}

function beginStream(response: ServerResponse, headers: Readonly<Record<string, string>>): void {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store', ...headers });
}

function eventOf(type: string, data: string): string {
  return `event: ${type}\ndata: ${data}\n\n`;
}

/** Reads the body as JSON. Returns undefined if it is not JSON or too large. */
async function readMessage(request: IncomingMessage): Promise<Json | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    if (size > MAX_BODY) return undefined;
    chunks.push(chunk);
  }
  return parseJson(Buffer.concat(chunks).toString('utf8'));
}
