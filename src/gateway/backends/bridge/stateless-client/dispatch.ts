// Delivers each message of a session at the server to its call or listener, whatever stream the message came on.
// Requests that cannot be attributed to one call are refused.

import { ERRORS, errorBody } from '../../../wire/errors.ts';
import type { Message, NotificationMessage, RequestMessage } from '../../../wire/message.ts';
import type { BridgeContext } from '../context.ts';
import { resultMessage } from '../messages.ts';
import { ASKING_METHODS } from '../protocol.ts';
import { type BackendSession, notifyServer } from './backend-session.ts';
import type { SessionCall } from './participants.ts';

/** `origin` is the call on whose own stream the message came. */
export function dispatchMessage(
  context: BridgeContext,
  session: BackendSession,
  bytes: Buffer,
  message: Message,
  origin?: SessionCall,
): void {
  switch (message.kind) {
    case 'response': {
      const json = message.id?.json;
      const call = origin?.id === json ? origin : findCall(session, (each) => each.id === json);
      // An error without an id can only answer the request of its own stream.
      (call ?? (json === undefined ? origin : undefined))?.respond(bytes, message);
      return;
    }
    case 'notification':
      dispatchNotification(session, bytes, message, origin);
      return;
    case 'request':
      dispatchRequest(context, session, bytes, message, origin);
      return;
  }
}

function findCall({ calls }: BackendSession, fits: (call: SessionCall) => boolean): SessionCall | undefined {
  for (const call of calls) if (fits(call)) return call;
  return undefined;
}

/**
 * Returns the only call that fits. Returns undefined if several calls fit, so that no other client gets the message.
 */
function single({ calls }: BackendSession, fits: (call: SessionCall) => boolean): SessionCall | undefined {
  const fitting = [...calls].filter(fits);
  return fitting.length === 1 ? fitting[0] : undefined;
}

function dispatchNotification(
  session: BackendSession,
  bytes: Buffer,
  message: NotificationMessage,
  origin: SessionCall | undefined,
): void {
  const { method, refersTo } = message;
  switch (method) {
    case 'notifications/progress':
      findCall(session, ({ id }) => id === refersTo?.json)?.notify(bytes, message);
      return;
    case 'notifications/message':
      (origin ?? single(session, (call) => call.wantsLog()))?.notify(bytes, message);
      return;
    case 'notifications/cancelled':
      if (refersTo !== undefined) for (const call of session.calls) call.withdraw(refersTo.json);
      return;
    case 'notifications/tools/list_changed':
    case 'notifications/prompts/list_changed':
    case 'notifications/resources/list_changed':
    case 'notifications/resources/updated':
      for (const listener of session.listeners) listener.notify(bytes, message);
      return;
    default:
      // On the stream of a request, a notification outside the core protocol may belong to an extension.
      if (origin !== undefined && method !== 'notifications/elicitation/complete') origin.notify(bytes, message);
  }
}

function dispatchRequest(
  context: BridgeContext,
  session: BackendSession,
  bytes: Buffer,
  message: RequestMessage,
  origin: SessionCall | undefined,
): void {
  if (message.method === 'ping') {
    void notifyServer(context, session, resultMessage(message.id.json, '{}'));
    return;
  }
  if (!ASKING_METHODS.has(message.method)) {
    refuseRequest(context, session, message, ERRORS.methodNotFound, 'Method not found');
    return;
  }
  const call = origin ?? single(session, ({ mayAsk }) => mayAsk);
  if (call !== undefined) {
    call.ask(bytes, message);
    return;
  }
  const text = 'It is unknown to which request this belongs: send it on the stream of that request';
  refuseRequest(context, session, message, ERRORS.invalidRequest, text);
}

export function refuseRequest(
  context: BridgeContext,
  session: BackendSession,
  { id }: RequestMessage,
  code: number,
  text: string,
): void {
  void notifyServer(context, session, errorBody(id, code, text));
}
