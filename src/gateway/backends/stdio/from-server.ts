// Delivers messages of a shared process to their clients, and restores the clients' own ids.

import { isObject } from '#std/json.ts';
import { ERRORS } from '../../wire/errors.ts';
import type { Message, MessageId, NotificationMessage, RequestMessage, ResponseMessage } from '../../wire/message.ts';
import { type Patch, patchBytes } from '../../wire/patch.ts';
import { readValue, scanMessage } from '../../wire/scan.ts';
import { errorMessage } from '../sessions/errors.ts';
import type { BackendObserver } from '../sessions/observer.ts';
import type { Client, ClientRequest, Requests } from './requests.ts';

export interface FromServerParts {
  readonly requests: Requests;
  readonly clients: ReadonlySet<Client>;
  readonly observer: BackendObserver;
  /** Returns the only client that unsolicited messages can belong to. undefined if several clients are possible. */
  readonly soleClient: () => Client | undefined;
  readonly send: (message: Buffer) => void;
  /** Called with each request that got a response, before the client gets the response. */
  readonly responded: (request: ClientRequest, succeeded: boolean) => void;
}

export function routeFromServer(parts: FromServerParts, bytes: Buffer): void {
  const scanned = scanMessage(bytes);
  if (scanned.ok) {
    routeMessage(parts, bytes, scanned.message);
    return;
  }
  const { id, message } = scanned.fault;
  parts.observer.dropped('unreadable');
  parts.observer.log('debug', `the MCP server wrote a message that is refused: ${message}`);
  const request = id === undefined ? undefined : parts.requests.find(id.json);
  if (request?.kind !== 'client') return;
  parts.requests.remove(request);
  answerClient(request, ERRORS.internalError, 'the MCP server sent an answer that is not a valid message');
}

function routeMessage(parts: FromServerParts, bytes: Buffer, message: Message): void {
  switch (message.kind) {
    case 'response':
      routeResponse(parts, bytes, message);
      break;
    case 'request':
      routeRequest(parts, bytes, message);
      break;
    case 'notification':
      routeNotification(parts, bytes, message);
      break;
  }
}

/** Answers a request on behalf of the server. */
export function answerClient({ client, id }: ClientRequest, code: number, message: string): void {
  client.handlers.message(errorMessage(id, code, message), { kind: 'response', id, failed: true });
}

function routeResponse(parts: FromServerParts, bytes: Buffer, message: ResponseMessage): void {
  const request = message.id === undefined ? undefined : parts.requests.find(message.id.json);
  if (request === undefined || message.id === undefined) {
    parts.observer.dropped('response-unknown');
    return;
  }
  parts.requests.remove(request);
  if (request.kind === 'own') {
    request.answered(bytes);
    return;
  }
  parts.responded(request, message.error === undefined);
  const { client, id } = request;
  const patches = [replaceId(message.id, id), ...subscriptionPatch(request, bytes, message)];
  const failed = message.error !== undefined;
  client.handlers.message(patchBytes(bytes, sortedPatches(patches)), { kind: 'response', id, failed });
}

/** Replaces the id in the result that ends `subscriptions/listen` (MCP 2026-07-28, Subscriptions, Graceful Closure). */
function subscriptionPatch({ method, id }: ClientRequest, bytes: Buffer, { result }: ResponseMessage): Patch[] {
  if (method !== 'subscriptions/listen' || result === undefined) return [];
  const value = readValue(bytes, result);
  if (!isObject(value) || !isObject(value._meta)) return [];
  const named = { ...value, _meta: { ...value._meta, 'io.modelcontextprotocol/subscriptionId': PLACE } };
  // The id is inserted as text, because JavaScript cannot represent every number exactly.
  return [{ span: result, bytes: Buffer.from(JSON.stringify(named).replace(JSON.stringify(PLACE), () => id)) }];
}

const PLACE = '\0id';

function replaceId({ span }: MessageId, json: string): Patch {
  return { span, bytes: Buffer.from(json) };
}

function sortedPatches(patches: readonly Patch[]): readonly Patch[] {
  return patches.toSorted((a, b) => a.span.start - b.span.start);
}

function routeRequest(parts: FromServerParts, bytes: Buffer, { id, method }: RequestMessage): void {
  const sole = parts.soleClient();
  if (method === 'ping') {
    parts.send(Buffer.from(`{"jsonrpc":"2.0","id":${id.json},"result":{}}`));
  } else if (sole !== undefined) {
    sole.handlers.message(bytes, { kind: 'request', id: id.json, method });
  } else {
    parts.observer.dropped('not-attributable');
    const text = 'this MCP server is shared by several clients: its request cannot be attributed to one of them';
    parts.send(errorMessage(id.json, ERRORS.methodNotFound, text));
  }
}

const LIST_CHANGED = new Set([
  'notifications/tools/list_changed',
  'notifications/prompts/list_changed',
  'notifications/resources/list_changed',
]);

function routeNotification(parts: FromServerParts, bytes: Buffer, message: NotificationMessage): void {
  const { method, meta, target } = message;
  const routed = { kind: 'notification', method } as const;
  if (method === 'notifications/progress') {
    routeProgress(parts, bytes, message);
  } else if (meta?.subscriptionId !== undefined) {
    routeSubscribed(parts, bytes, method, meta.subscriptionId);
  } else if (method === 'notifications/cancelled') {
    routeCancelled(parts, bytes, message);
  } else if (LIST_CHANGED.has(method)) {
    for (const client of parts.clients) client.handlers.message(bytes, routed);
  } else if (method === 'notifications/resources/updated' && target !== undefined) {
    for (const client of parts.clients) {
      if (client.subscriptions.has(target.value)) client.handlers.message(bytes, routed);
    }
  } else {
    toSole(parts, bytes, method);
  }
}

function routeProgress(parts: FromServerParts, bytes: Buffer, { method, refersTo }: NotificationMessage): void {
  const request = refersTo === undefined ? undefined : parts.requests.find(refersTo.json);
  if (request?.kind !== 'client' || request.token === undefined || refersTo === undefined) {
    parts.observer.dropped('response-unknown');
    return;
  }
  const patched = patchBytes(bytes, [replaceId(refersTo, request.token)]);
  request.client.handlers.message(patched, { kind: 'notification', method, token: request.token });
}

function routeSubscribed(parts: FromServerParts, bytes: Buffer, method: string, subscription: MessageId): void {
  const request = parts.requests.find(subscription.json);
  if (request?.kind !== 'client') {
    parts.observer.dropped('response-unknown');
    return;
  }
  const patched = patchBytes(bytes, [replaceId(subscription, request.id)]);
  request.client.handlers.message(patched, { kind: 'notification', method });
}

/**
 * Routes a cancellation. If the cancellation names a request of a client, the server has ended a `subscriptions/listen`
 * of this client (MCP 2026-07-28). Otherwise the process cancels a request that the process sent to the client.
 */
function routeCancelled(parts: FromServerParts, bytes: Buffer, { method, refersTo }: NotificationMessage): void {
  const request = refersTo === undefined ? undefined : parts.requests.find(refersTo.json);
  if (request?.kind !== 'client') {
    toSole(parts, bytes, method);
    return;
  }
  parts.requests.remove(request);
  answerClient(request, ERRORS.internalError, 'the MCP server ended the subscription');
}

function toSole(parts: FromServerParts, bytes: Buffer, method: string): void {
  const sole = parts.soleClient();
  if (sole === undefined) parts.observer.dropped('not-attributable');
  else sole.handlers.message(bytes, { kind: 'notification', method });
}
