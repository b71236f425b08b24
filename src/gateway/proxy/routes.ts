// Refuses requests with a path, method or content type that MCP does not use.

import type { IncomingMessage } from 'node:http';
import { ACCEPT_REFUSED, type Refusal } from './faults.ts';
import { MESSAGES_PATH, SSE_PATH } from './sse/routes.ts';

export interface Routes {
  /** Path of the MCP endpoint. Other paths of the server are refused. */
  readonly endpoint: string;
  /** True if the proxy serves HTTP+SSE (MCP 2024-11-05). */
  readonly sse: boolean;
}

const METHODS: readonly (string | undefined)[] = ['POST', 'GET', 'DELETE'];

/** Returns the refusal, or undefined if the request may pass. `path` is the target without its query. */
export function routeRefusal({ endpoint, sse }: Routes, request: IncomingMessage, path: string): Refusal | undefined {
  // HTTP/0.9 has no headers.
  if (request.httpVersionMajor < 1) return VERSION_REFUSED;
  if (!path.startsWith('/')) return TARGET_REFUSED;
  if (sse && (path === SSE_PATH || path === MESSAGES_PATH)) return sseRefusal(request, path);
  if (path !== endpoint) {
    return {
      status: 404,
      code: -32601,
      message: `There is nothing here; the server is at ${endpoint}`,
      reason: 'path-unknown',
    };
  }
  if (!METHODS.includes(request.method)) return methodRefusal('GET, POST, DELETE');
  if (request.method === 'POST') return typeRefusal(request);
  // A client without a token may send any Accept header to find out whether it has to log in. exchange.ts checks an
  // authenticated caller's header strictly.
  const accept = request.headers.accept ?? '*/*';
  const refused = request.method === 'GET' && !/text\/event-stream|\*\/\*|text\/\*/i.test(accept);
  return refused ? ACCEPT_REFUSED : undefined;
}

function sseRefusal(request: IncomingMessage, path: string): Refusal | undefined {
  const allowed = path === SSE_PATH ? 'GET' : 'POST';
  if (request.method !== allowed) return methodRefusal(allowed);
  return allowed === 'POST' ? typeRefusal(request) : undefined;
}

function methodRefusal(allow: string): Refusal {
  const headers = { allow };
  return { status: 405, code: -32600, message: 'Method not allowed', headers, reason: 'method-refused' };
}

/**
 * Refuses bodies that the server could read differently than the proxy. Accepts only JSON in UTF-8 (RFC 8259 section
 * 8.1) without a content coding.
 */
function typeRefusal({ headers }: IncomingMessage): Refusal | undefined {
  const type = headers['content-type'] ?? '';
  if (type !== 'application/json' && !isJsonInUtf8(type)) return TYPE_REFUSED;
  const coding = headers['content-encoding'];
  return coding === undefined || /^\s*identity\s*$/i.test(coding) ? undefined : CODING_REFUSED;
}

/**
 * Returns whether the type is JSON in UTF-8. Checks only the parameter charset: some servers decode bodies by it, even
 * as UTF-7.
 */
function isJsonInUtf8(type: string): boolean {
  if (!/^\s*application\/json\s*(;|$)/i.test(type)) return false;
  return !/charset/i.test(type) || /^\s*application\/json\s*;\s*charset=("utf-8"|utf-8)\s*;?\s*$/i.test(type);
}

const VERSION_REFUSED: Refusal = {
  status: 505,
  code: -32600,
  message: 'This server requires HTTP/1.1',
  reason: 'protocol-violated',
};
/** Other target forms are for forward proxies, tunnels and whole servers (RFC 9112 section 3.2). */
const TARGET_REFUSED: Refusal = {
  status: 400,
  code: -32600,
  message: 'The target of a request must be a path',
  reason: 'path-unknown',
};
const TYPE_REFUSED: Refusal = {
  status: 415,
  code: -32600,
  message: 'Content-Type must be application/json, in UTF-8',
  reason: 'content-type-refused',
};
const CODING_REFUSED: Refusal = {
  status: 415,
  code: -32600,
  message: 'The body must have no content coding',
  headers: { 'accept-encoding': 'identity' },
  reason: 'content-type-refused',
};
