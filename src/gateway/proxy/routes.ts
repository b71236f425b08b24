// Refuses requests that do not belong to MCP, by their target, method and types.

import type { IncomingMessage } from 'node:http';
import { ACCEPT_REFUSED, type Refusal } from './faults.ts';
import { MESSAGES_PATH, SSE_PATH } from './sse/routes.ts';

export interface Routes {
  /** Path of the MCP endpoint. The gate does not protect other paths of the server. */
  readonly endpoint: string;
  /** Whether the HTTP+SSE transport (MCP 2024-11-05) is served. */
  readonly sse: boolean;
}

const METHODS: readonly (string | undefined)[] = ['POST', 'GET', 'DELETE'];

/** Returns the refusal, if any. `path` is the target without its query. */
export function routeRefusal({ endpoint, sse }: Routes, request: IncomingMessage, path: string): Refusal | undefined {
  // HTTP/0.9 has no headers, so the answer could not have a head.
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
  // A client that checks whether it has to log in may accept every type. An authenticated caller's GET must list event
  // streams explicitly (exchange.ts).
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
 * Refuses bodies that the server could read differently than the scan. Only JSON in UTF-8 (RFC 8259 section 8.1)
 * without a content coding is accepted.
 */
function typeRefusal({ headers }: IncomingMessage): Refusal | undefined {
  const type = headers['content-type'] ?? '';
  if (type !== 'application/json' && !isJsonInUtf8(type)) return TYPE_REFUSED;
  const coding = headers['content-encoding'];
  return coding === undefined || /^\s*identity\s*$/i.test(coding) ? undefined : CODING_REFUSED;
}

/**
 * Returns whether the type is JSON in UTF-8. Of its parameters only charset matters: some servers decode the body by
 * it, even as UTF-7.
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
/** Other forms of targets are for forward proxies, tunnels and whole servers (RFC 9112 section 3.2). */
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
