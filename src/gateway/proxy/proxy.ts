// Routes each request to a proxy of one MCP server, and sends MCP requests through the steps of the gate.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { readBody } from './body.ts';
import { beginCall, type Call, refuseBroken, runGuarded } from './call.ts';
import type { Caller } from './caller.ts';
import { type FoundCaller, findCaller } from './callers.ts';
import { CLIENT_CLOSED, TOO_LARGE } from './faults.ts';
import { refuseBrokenBy } from './listener.ts';
import type { ProxyParts } from './parts.ts';
import { answerPlain, plainRoutes } from './plain-answers.ts';
import { routeRefusal } from './routes.ts';
import { openSseStream, SSE_PATH } from './sse/routes.ts';
import { callerWithHeaders } from './steps/client-headers.ts';
import { forward } from './steps/forward.ts';

export type Handle = (request: IncomingMessage, response: ServerResponse) => void;

export function createHandle(parts: ProxyParts): Handle {
  const plain = plainRoutes(parts.plain);
  return function handle(request, response) {
    const path = pathOf(request.url ?? '/', parts.endpoint);
    if (parts.doorway.refuseRebinding(request) === undefined) {
      if (answerPlain(plain, path, request.method, response)) return;
      if (parts.serveIssuer?.(path, request, response) === true) return;
    }
    const call = beginCall(parts, request, response, path);
    refuseBrokenBy((error) => refuseBroken(call, error));
    runGuarded(call, () => serveRequest(parts, call));
  };
}

function routesOf({ endpoint, sse }: ProxyParts) {
  return { endpoint, sse: sse !== undefined };
}

/** Returns the path of the target. Removes a trailing slash of the endpoint, which some clients and gateways add. */
function pathOf(url: string, endpoint: string): string {
  const query = url.indexOf('?');
  const path = query < 0 ? url : url.slice(0, query);
  return path === `${endpoint}/` ? endpoint : path;
}

function serveRequest(parts: ProxyParts, call: Call): void {
  const { entry, path } = call;
  const { request, response } = entry;
  const preflight = request.method === 'OPTIONS' ? parts.doorway.preflight(request) : undefined;
  if (preflight !== undefined) {
    response.writeHead(204, { ...entry.headers, ...preflight }).end();
    entry.end({ status: 204, outcome: 'success', reason: '', responseBytes: 0 });
    return;
  }
  const refusal = parts.doorway.refuse(request) ?? routeRefusal(routesOf(parts), request, path);
  const found = refusal === undefined ? findCaller(parts.callers, request) : { refusal };
  if (!(found instanceof Promise)) serveCaller(parts, call, found);
  else found.then((caller) => serveCaller(parts, call, caller)).catch((error: unknown) => refuseBroken(call, error));
}

function serveCaller(parts: ProxyParts, call: Call, caller: FoundCaller): void {
  const { entry } = call;
  const { request, response } = entry;
  if ('refusal' in caller) {
    entry.refuse(caller.refusal);
    return;
  }
  const kind = request.method === 'GET' ? 'stream' : 'call';
  // A closed response emits no further `close` event, so the place would never be freed.
  const place = response.closed ? { refusal: CLIENT_CLOSED } : parts.enter(kind, caller.key);
  if ('refusal' in place) {
    entry.refuse(place.refusal, { caller });
    return;
  }
  if (kind === 'stream') parts.active(1, 'stream');
  response.once('close', () => {
    place.leave();
    if (kind === 'stream') parts.active(-1, 'stream');
  });
  const { clientHeaders: named } = parts;
  readRequest(parts, call, named === undefined ? caller : callerWithHeaders(caller, request.headers, named));
}

function readRequest(parts: ProxyParts, call: Call, caller: Caller): void {
  const { entry, path } = call;
  if (parts.sse !== undefined && path === SSE_PATH) openSseStream(parts.sse, entry, caller, call.forwarded);
  else if (entry.request.method !== 'POST') forward(parts, call, caller, undefined);
  else {
    readBody(entry.request, parts.limits.requestBytes, (body) => {
      if (body.ok) runGuarded(call, () => forward(parts, call, caller, body.bytes));
      else entry.refuse(body.reason === 'too-large' ? TOO_LARGE : CLIENT_CLOSED, { caller });
    });
  }
}
