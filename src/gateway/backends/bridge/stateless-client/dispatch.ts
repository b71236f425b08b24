// Delivers each message of a session at the server to its call or listener, regardless of the stream on which the
// message arrived. Refuses requests that belong to no single call.

import { ERRORS, errorBody } from '../../../wire/errors.ts';
import type { Message, NotificationMessage, RequestMessage } from '../../../wire/message.ts';
import type { BridgeContext } from '../context.ts';
import { resultMessage } from '../messages.ts';
import { ASKING_METHODS } from '../protocol.ts';
import { type BackendSession, notifyServer } from './backend-session.ts';
import type { SessionCall } from './participants.ts';

/** `origin` is the call whose response stream carried the message. */
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
      // An error without an id can only answer the call whose stream carried the error.
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
 * Returns the only call that fits. undefined if several calls fit, so that no client receives another client's message.
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
      // On the stream of a call, an unknown notification may belong to an extension that the call uses.
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
