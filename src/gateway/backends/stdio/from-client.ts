// Translates messages of a client for a shared process. Replaces ids, and drops messages that must not affect other
// clients.

import { ERRORS } from '../../wire/errors.ts';
import type { Message, NotificationMessage, RequestMessage } from '../../wire/message.ts';
import { type Patch, patchedParts } from '../../wire/patch.ts';
import { scanMessage } from '../../wire/scan.ts';
import type { Era, Exchange } from '../backend.ts';
import { cancellation, errorMessage } from '../sessions/errors.ts';
import type { BackendObserver } from '../sessions/observer.ts';
import { lineOf } from './line.ts';
import type { Client, ClientRequest, Requests } from './requests.ts';

export interface FromClientParts {
  readonly requests: Requests;
  readonly clients: ReadonlySet<Client>;
  readonly observer: BackendObserver;
  readonly soleClient: () => Client | undefined;
  /** Returns the era of the process. undefined while the process does not run. */
  readonly era: () => Era | undefined;
  /** Sends a whole line to the process. Returns false if the process is unreachable. */
  readonly sendLine: (line: Buffer) => boolean;
  /**
   * Returns the result of `initialize` for a client that requests this revision, as JSON text. undefined while the
   * process does not run.
   */
  readonly initializeResult: (revision: string | undefined) => string | undefined;
}

export function routeFromClient(parts: FromClientParts, client: Client, bytes: Buffer, exchange?: Exchange): void {
  const message = exchange !== undefined && exchange.body === bytes ? exchange.message : scanned(bytes);
  if (message === undefined) parts.observer.dropped('unreadable');
  else if (message.kind === 'request') routeRequest(parts, client, bytes, message);
  else if (message.kind === 'notification') routeNotification(parts, client, bytes, message);
  // The bytes are a response. Only the sole client gets requests of the process, and its session has already refused
  // responses that match no request.
  else parts.sendLine(lineOf([bytes]));
}

function scanned(bytes: Buffer): Message | undefined {
  const result = scanMessage(bytes);
  return result.ok ? result.message : undefined;
}

function answer(client: Client, id: string, message: Buffer): void {
  client.handlers.message(message, { kind: 'response', id });
}

function answerError(client: Client, id: string, code: number, text: string): void {
  client.handlers.message(errorMessage(id, code, text), { kind: 'response', id, failed: true });
}

const UNREACHABLE = 'the MCP server is starting again; the request may be repeated';

function routeRequest(parts: FromClientParts, client: Client, bytes: Buffer, message: RequestMessage): void {
  const { method, id, target } = message;
  if (method === 'initialize' && parts.era() !== 'stateless') {
    const result = parts.initializeResult(message.requestedVersion);
    if (result === undefined) answerError(client, id.json, ERRORS.internalError, UNREACHABLE);
    else answer(client, id.json, Buffer.from(`{"jsonrpc":"2.0","id":${id.json},"result":${result}}`));
  } else if (method.startsWith('tasks/') && parts.era() !== 'stateless') {
    const text = 'this MCP server is shared by several clients: it has no tasks';
    answerError(client, id.json, ERRORS.methodNotFound, text);
  } else if (method === 'resources/unsubscribe' && target !== undefined && hasOthers(parts, client, target.value)) {
    client.subscriptions.delete(target.value);
    answer(client, id.json, Buffer.from(`{"jsonrpc":"2.0","id":${id.json},"result":{}}`));
  } else {
    forward(parts, client, bytes, message);
  }
}

/**
 * Returns whether other clients have subscribed to the URI. The process has one subscription for all clients together.
 */
function hasOthers({ clients }: FromClientParts, client: Client, uri: string): boolean {
  for (const other of clients) if (other !== client && other.subscriptions.has(uri)) return true;
  return false;
}

function forward(parts: FromClientParts, client: Client, bytes: Buffer, message: RequestMessage): void {
  const { id, method, target, meta } = message;
  const json = parts.requests.newId();
  const token = meta?.progressToken;
  const request: ClientRequest = {
    kind: 'client',
    json,
    client,
    id: id.json,
    token: token?.json,
    method,
    uri: target?.value,
  };
  const ours = Buffer.from(json);
  const patches: Patch[] = [{ span: id.span, bytes: ours }];
  if (token !== undefined) {
    const patch = { span: token.span, bytes: ours };
    if (token.span.start < id.span.start) patches.unshift(patch);
    else patches.push(patch);
  }
  parts.requests.add(request);
  if (parts.sendLine(lineOf(patchedParts(bytes, 0, bytes.length, patches)))) return;
  parts.requests.remove(request);
  answerError(client, id.json, ERRORS.internalError, UNREACHABLE);
}

function routeNotification(parts: FromClientParts, client: Client, bytes: Buffer, message: NotificationMessage): void {
  switch (message.method) {
    // The gateway has already sent `notifications/initialized`, and has declared no roots.
    case 'notifications/initialized':
    case 'notifications/roots/list_changed':
      return;
    case 'notifications/cancelled':
      cancel(parts, client, bytes, message);
      return;
    case 'notifications/progress':
    case 'notifications/tasks/status':
      if (parts.soleClient() === client) parts.sendLine(lineOf([bytes]));
      else parts.observer.dropped('not-attributable');
      return;
    default:
      parts.sendLine(lineOf([bytes]));
  }
}

/**
 * Cancels a request. The client gets no response, even if the process still responds (MCP specification, Cancellation).
 */
function cancel(parts: FromClientParts, client: Client, bytes: Buffer, { refersTo }: NotificationMessage): void {
  const request = refersTo === undefined ? undefined : client.requests.get(refersTo.json);
  if (request === undefined || refersTo === undefined) return;
  parts.requests.remove(request);
  const patches = [{ span: refersTo.span, bytes: Buffer.from(request.json) }];
  parts.sendLine(lineOf(patchedParts(bytes, 0, bytes.length, patches)));
}

/** Cancels the requests and subscriptions of a client that has disconnected. */
export function releaseClient(parts: FromClientParts, client: Client): void {
  for (const request of [...client.requests.values()]) {
    parts.requests.remove(request);
    parts.sendLine(lineOf([cancellation(request.json, 'the client has gone')]));
  }
  for (const uri of client.subscriptions) {
    if (hasOthers(parts, client, uri)) continue;
    const json = parts.requests.newId();
    parts.requests.add({ kind: 'own', json, answered: () => undefined });
    const params = JSON.stringify({ uri });
    parts.sendLine(
      lineOf([Buffer.from(`{"jsonrpc":"2.0","id":${json},"method":"resources/unsubscribe","params":${params}}`)]),
    );
  }
  client.subscriptions.clear();
}
