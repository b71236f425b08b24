// Forwards a server's messages about a call to the client: progress, log messages and the response.

import { isObject, shownText } from '#std/json.ts';
import { ERRORS } from '../../../wire/errors.ts';
import { patchMessage } from '../../../wire/ids.ts';
import type { NotificationMessage, ResponseMessage } from '../../../wire/message.ts';
import { objectOf, resultMessage } from '../messages.ts';
import { allowsQuestion, LOG_LEVELS, META_LOG_LEVEL, requiredCapabilities } from '../protocol.ts';
import { leaveSession, refuseClient } from './call-end.ts';
import type { Attempt, Call } from './call-state.ts';
import type { StatelessClientContext } from './context.ts';
import { inputRequired, urlQuestions } from './questions.ts';
import { statelessResponse } from './result.ts';

export function takeResponse(
  context: StatelessClientContext,
  call: Call,
  bytes: Buffer,
  response: ResponseMessage,
): void {
  if (call.over || call.final !== undefined) return;
  call.final = { bytes, response };
  call.questions = [];
  if (call.attempt !== undefined) finishCall(context, call, call.attempt);
}

/** Sends the stored response to the client of this attempt. */
export function finishCall({ schemas }: StatelessClientContext, call: Call, attempt: Attempt): void {
  const { final, session } = call;
  if (final === undefined) return;
  leaveSession(call);
  const { bytes, response } = final;
  if (attempt.request.method === 'tools/list' && response.result !== undefined) schemas.learn(bytes, response.result);
  const error = objectOf(bytes, response.error);
  if (error.code === ERRORS.urlElicitationRequired) {
    finishWithUrls(call, attempt, error.data);
    return;
  }
  const { status, bytes: answer } = statelessResponse(bytes, response, attempt.request, session.facts);
  attempt.reply.finish(answer, status);
}

/**
 * Ends the call with URLs that the user must open before the client repeats the call. The error code -32042 exists only
 * in MCP 2025-11-25.
 */
function finishWithUrls({ capabilities }: Call, attempt: Attempt, data: unknown): void {
  const urls = urlQuestions(data);
  const byUrl = { mode: 'url' };
  if (!allowsQuestion(capabilities, 'elicitation/create', byUrl)) {
    const required = { requiredCapabilities: requiredCapabilities('elicitation/create', byUrl) };
    refuseClient(attempt, ERRORS.missingClientCapability, 'Missing required client capability', required, 400);
    return;
  }
  attempt.reply.finish(resultMessage(attempt.request.id.json, inputRequired(urls)));
}

/** Forwards a notification. While the client is absent, stores notifications up to `maxBytes` in total. */
export function takeNotification(call: Call, maxBytes: number, bytes: Buffer, message: NotificationMessage): void {
  if (call.over) return;
  if (call.attempt !== undefined) {
    sendNotification(call, call.attempt, bytes, message);
    return;
  }
  if (call.heldBytes >= maxBytes) return;
  call.held.push({ bytes, message });
  call.heldBytes += bytes.length;
}

export function sendNotification(call: Call, attempt: Attempt, bytes: Buffer, message: NotificationMessage): void {
  const { request, logLevel, reply } = attempt;
  if (message.method === 'notifications/progress') {
    const token = request.meta?.progressToken?.json;
    if (token === undefined) return;
    if (!reply.event(patchMessage(bytes, message, { refersTo: token }))) call.blocked = true;
    return;
  }
  if (message.method === 'notifications/message') {
    const level = LOG_LEVELS.indexOf(shownText(objectOf(bytes, message.params).level));
    if (logLevel === undefined || level < logLevel) return;
  }
  if (!reply.event(bytes)) call.blocked = true;
}

/**
 * Returns the lowest level of log messages that the request asks for. undefined if the request asks for no log
 * messages.
 */
export function logLevelOf(meta: unknown): number | undefined {
  if (!isObject(meta)) return undefined;
  const level = LOG_LEVELS.indexOf(shownText(meta[META_LOG_LEVEL]));
  return level < 0 ? undefined : level;
}
