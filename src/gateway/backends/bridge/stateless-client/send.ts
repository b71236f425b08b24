// Sends a call in its session and reads the server's answer. If the server ends the stream early, requests the
// remaining events.

import { ERRORS } from '../../../wire/errors.ts';
import type { Message } from '../../../wire/message.ts';
import type { Answer } from '../../backend.ts';
import { objectOf } from '../messages.ts';
import { MAY_ASK } from '../protocol.ts';
import { readAnswer } from '../reading.ts';
import { nextId, sessionGet, sessionPost } from './backend-session.ts';
import { takeNotification, takeResponse } from './call-answer.ts';
import { failCall, leaveSession } from './call-end.ts';
import { takeQuestion } from './call-questions.ts';
import type { Call } from './call-state.ts';
import type { StatelessClientContext } from './context.ts';
import { dispatchMessage } from './dispatch.ts';
import type { SessionCall } from './participants.ts';
import { sessionBody } from './request.ts';

/** State of the reader of the server's answer, across reconnections. */
interface Receiving {
  readonly call: Call;
  /** Handles a session that the server no longer has. The server has not executed the call. */
  readonly lost: () => void;
  lastEventId?: string;
  retryMs: number;
  /** Number of consecutive disconnections without a new message. */
  breaks: number;
}

const MAX_BREAKS = 5;
const RETRY_MS = 1000;

export function sendCall(context: StatelessClientContext, call: Call, lost: () => void): void {
  const { session, attempt } = call;
  if (attempt === undefined) return;
  const id = nextId(session);
  const participant = createParticipant(context, call, id, attempt.request.method);
  call.participant = participant;
  session.calls.add(participant);
  const receiving: Receiving = { call, lost, retryMs: RETRY_MS, breaks: 0 };
  const exchange = sessionPost(session, attempt.exchange, sessionBody(attempt.body, attempt.request, id));
  const flow = context.backend.open(exchange, receive(context, receiving));
  call.flow = flow;
  if (call.over) flow.abort();
}

/** Creates the receiver of the session's messages for this call. `id` is JSON text. */
function createParticipant(context: StatelessClientContext, call: Call, id: string, method: string): SessionCall {
  return {
    id,
    mayAsk: MAY_ASK.has(method),
    wantsLog: () => call.attempt?.logLevel !== undefined,
    respond: (bytes, response) => takeResponse(context, call, bytes, response),
    notify: (bytes, message) => takeNotification(call, context.limits.parkedBytes, bytes, message),
    ask: (bytes, request) => takeQuestion(context, call, bytes, request, MAY_ASK.has(method)),
    withdraw(question) {
      call.questions = call.questions.filter((each) => each.question.id !== question);
    },
  };
}

function receive(context: StatelessClientContext, receiving: Receiving): Answer {
  const { call } = receiving;
  let status = 0;
  let stopTimer: (() => void) | undefined;
  let lost = false;

  function take(bytes: Buffer, message: Message): void {
    receiving.breaks = 0;
    if (isLost(call, status, bytes, message)) lost = true;
    else dispatchMessage(context, call.session, bytes, message, call.participant);
  }

  return readAnswer(
    {
      head(code, _headers, streamed) {
        status = code;
        // Until the timer fires, the client's answer can still become plain JSON with its own HTTP status.
        if (streamed) stopTimer = context.ports.clock.after(context.limits.headMs, () => call.attempt?.reply.stream());
      },
      message: take,
      position(id, retry) {
        if (id !== undefined) receiving.lastEventId = id;
        if (retry !== undefined) receiving.retryMs = retry;
      },
      part: () => !call.blocked && (call.attempt !== undefined || call.heldBytes < context.limits.parkedBytes),
      end() {
        stopTimer?.();
        if (lost || (status === 404 && call.session.id !== undefined && !call.over)) startOver(receiving);
        else if (!call.over && call.final === undefined) continueCall(context, receiving, status);
      },
      fail(fault) {
        stopTimer?.();
        call.flow?.abort();
        if (!call.over && call.final === undefined) failCall(call, fault);
      },
    },
    context.limits.messageBytes,
  );
}

/**
 * Returns whether the server has lost the session. MCP 2025-11-25 requires 404 in this case, but older servers send
 * 400.
 */
function isLost({ session }: Call, status: number, bytes: Buffer, message: Message): boolean {
  if (session.id === undefined || message.kind !== 'response' || message.error === undefined) return false;
  if (status !== 404 && status !== 400) return false;
  const { code } = objectOf(bytes, message.error);
  return status === 404
    ? code !== ERRORS.methodNotFound
    : code === ERRORS.badRequest || code === ERRORS.sessionNotFound;
}

function startOver({ call, lost }: Receiving): void {
  leaveSession(call);
  lost();
}

/**
 * Reconnects to the stream of the call, because the server may close the connection before the response (MCP
 * 2025-11-25, Transports, Resumability and Redelivery).
 */
function continueCall(context: StatelessClientContext, receiving: Receiving, status: number): void {
  const { call, lastEventId, retryMs } = receiving;
  if (status === 401 || status === 403 || status === 429 || status >= 500) {
    leaveSession(call);
    call.attempt?.reply.end(status);
    return;
  }
  receiving.breaks += 1;
  if (lastEventId === undefined || status !== 200 || receiving.breaks > MAX_BREAKS) {
    const message = 'the MCP server ended its answer without a response: the request may have been carried out';
    failCall(call, { reason: 'closed', message, detail: `status ${status}` });
    return;
  }
  context.ports.clock.after(retryMs, () => {
    if (call.over) return;
    const { session } = call;
    call.flow = context.backend.open(sessionGet(session, session.cause, lastEventId), receive(context, receiving));
  });
}
