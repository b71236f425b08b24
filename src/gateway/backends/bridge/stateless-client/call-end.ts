// Ends calls that get no response: the client has disconnected, the server failed, or the request was refused.

import { ERRORS, errorBody } from '../../../wire/errors.ts';
import type { BackendFault, Flow } from '../../backend.ts';
import { callMessage } from '../messages.ts';
import { notifyServer } from './backend-session.ts';
import type { Attempt, Call } from './call-state.ts';
import type { StatelessClientContext } from './context.ts';

/**
 * Returns the flow that controls an attempt. A client cancels a request by closing its stream (MCP 2026-07-28,
 * Cancellation).
 */
export function attemptFlow(context: StatelessClientContext, call: Call, attempt: Attempt): Flow {
  return {
    abort() {
      if (attempt.reply.closed()) return;
      attempt.reply.drop();
      cancelCall(context, call, 'The client closed the stream');
    },
    resume() {
      call.blocked = false;
      call.flow?.resume();
    },
  };
}

/** Cancels the call at the server without waiting for an answer. */
export function cancelCall(context: StatelessClientContext, call: Call, reason: string): void {
  const { session, participant, questions } = call;
  if (!endCall(call) || participant === undefined) return;
  for (const { question } of questions) {
    const text = 'The client did not answer';
    void notifyServer(context, session, errorBody({ json: question.id, span: NO_SPAN }, ERRORS.internalError, text));
  }
  const params = `{"requestId":${participant.id},"reason":${JSON.stringify(reason)}}`;
  void notifyServer(context, session, callMessage('notifications/cancelled', undefined, params));
}

const NO_SPAN = { start: 0, end: 0 };

export function leaveSession(call: Call): void {
  call.over = true;
  if (call.participant !== undefined) call.session.calls.delete(call.participant);
  call.release();
}

/** Returns false if the call has already ended. */
function endCall(call: Call): boolean {
  if (call.over) return false;
  leaveSession(call);
  call.flow?.abort();
  return true;
}

export function failCall(call: Call, fault: BackendFault): void {
  endCall(call);
  call.attempt?.reply.fail(fault);
}

export function refuseClient(
  { reply, request }: Attempt,
  code: number,
  text: string,
  data?: object,
  status?: number,
): void {
  const error = { code, message: text, data };
  reply.finish(Buffer.from(`{"jsonrpc":"2.0","id":${request.id.json},"error":${JSON.stringify(error)}}`), status);
}
