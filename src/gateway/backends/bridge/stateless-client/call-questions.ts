// Handles questions of a server during a call. Ends the client's request with `input_required`. The call then waits for
// another request of the client, which contains the answers.

import { ERRORS } from '../../../wire/errors.ts';
import type { RequestMessage } from '../../../wire/message.ts';
import type { BackendFault, Flow } from '../../backend.ts';
import { uniqueText } from '../context.ts';
import { objectOf, resultMessage } from '../messages.ts';
import { allowsQuestion, requiredCapabilities } from '../protocol.ts';
import { notifyServer } from './backend-session.ts';
import { finishCall, sendNotification } from './call-answer.ts';
import { attemptFlow, cancelCall, failCall, refuseClient } from './call-end.ts';
import type { Attempt, Call } from './call-state.ts';
import type { StatelessClientContext } from './context.ts';
import { refuseRequest } from './dispatch.ts';
import { answerMessage, inputRequired, paramsOf, readAnswers, readQuestion } from './questions.ts';
import { openRequestState, sealRequestState } from './request-state.ts';

export function takeQuestion(
  context: StatelessClientContext,
  call: Call,
  bytes: Buffer,
  request: RequestMessage,
  allowedHere: boolean,
): void {
  const { session, capabilities, attempt } = call;
  if (call.over || !allowedHere) {
    refuseRequest(context, session, request, ERRORS.invalidRequest, 'This request cannot ask the client');
    return;
  }
  const params = paramsOf(bytes, request);
  if (!allowsQuestion(capabilities, request.method, params)) {
    refuseRequest(context, session, request, ERRORS.methodNotFound, 'The client does not support this');
    if (attempt === undefined) return;
    const required = { requiredCapabilities: requiredCapabilities(request.method, params) };
    refuseClient(attempt, ERRORS.missingClientCapability, 'Missing required client capability', required, 400);
    cancelCall(context, call, 'The client lacks a capability');
    return;
  }
  call.asked += 1;
  call.questions.push({ question: readQuestion(bytes, request, call.asked), asked: false });
  askSoon(context, call);
}

function askSoon(context: StatelessClientContext, call: Call): void {
  context.ports.clock.after(context.limits.questionsMs, () => askClient(context, call));
}

/** Ends the client's request with the questions. The call then waits for the client. */
function askClient(context: StatelessClientContext, call: Call): void {
  const { attempt, questions, caller } = call;
  if (call.over || attempt === undefined || questions.length === 0) return;
  call.rounds += 1;
  const handle = uniqueText(context);
  const state = sealRequestState(context, caller, handle, call.digest());
  const mayWait = call.rounds <= context.limits.rounds && state !== undefined;
  const expire = () => cancelCall(context, call, 'The client did not answer in time');
  if (!mayWait || !context.parking.put(handle, caller, call, expire)) {
    refuseClient(attempt, ERRORS.internalError, 'Too many questions of the MCP server wait for their clients');
    cancelCall(context, call, 'The client cannot be asked');
    return;
  }
  for (const each of questions) each.asked = true;
  const requests = questions.map(({ question: { key, request } }) => [key, request] as const);
  call.attempt = undefined;
  call.blocked = false;
  attempt.reply.finish(resultMessage(attempt.request.id.json, inputRequired(requests, state)));
}

/** Continues the call that the client's `requestState` names. */
export function resumeCall(context: StatelessClientContext, attempt: Attempt, digest: string): Flow | undefined {
  const { exchange, body, request } = attempt;
  const { requestState } = objectOf(body, request.params);
  const opened = openRequestState(context, requestState, exchange.caller, digest);
  if (!opened.ok) {
    refuseClient(attempt, ERRORS.invalidParams, opened.reason);
    return undefined;
  }
  const call = context.parking.take(opened.handle);
  if (call === undefined || call.over) {
    const text =
      'Invalid params: the call that requestState belongs to does not wait here: the call has ended, or waits in another replica. ' +
      'Make the call again without requestState';
    refuseClient(attempt, ERRORS.invalidParams, text);
    return undefined;
  }
  const flow = attemptFlow(context, call, attempt);
  call.attempt = attempt;
  call.session.cause = exchange;
  answerServer(context, call, readAnswers(body, request));
  sendHeld(call, attempt);
  if (call.final !== undefined) finishCall(context, call, attempt);
  // A client that left out answers is questioned again (MCP 2026-07-28, basic/patterns/mrtr, Error Handling).
  else if (call.questions.length > 0) askSoon(context, call);
  return flow;
}

function answerServer(context: StatelessClientContext, call: Call, answers: ReadonlyMap<string, string>): void {
  const missing: Call['questions'] = [];
  for (const pending of call.questions) {
    const answer = pending.asked ? answers.get(pending.question.key) : undefined;
    if (answer === undefined) {
      missing.push(pending);
      continue;
    }
    notifyServer(context, call.session, answerMessage(pending.question, answer)).then((reported) => {
      const fault = reported.ok ? faultOfStatus(reported.status) : reported.fault;
      if (fault !== undefined && !call.over) failCall(call, fault);
    });
  }
  call.questions = missing;
}

function faultOfStatus(status: number): BackendFault | undefined {
  if (status < 400) return undefined;
  return {
    reason: 'closed',
    message: 'the MCP server no longer waits for an answer',
    detail: `status ${status}`,
  };
}

function sendHeld(call: Call, attempt: Attempt): void {
  const { held } = call;
  call.held = [];
  call.heldBytes = 0;
  for (const { bytes, message } of held) sendNotification(call, attempt, bytes, message);
  if (!call.blocked) call.flow?.resume();
}
