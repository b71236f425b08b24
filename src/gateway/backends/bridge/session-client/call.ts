// Runs one request of a client with sessions at a server of MCP 2026-07-28. If the server has questions, sends them to
// the client on the open stream and repeats the request with the answers.

import { ERRORS, errorBody } from '../../../wire/errors.ts';
import { standardHeaders } from '../../../wire/headers.ts';
import { objectMembers } from '../../../wire/json-walk.ts';
import type { Message, RequestMessage, ResponseMessage } from '../../../wire/message.ts';
import { LATEST_STATELESS_REVISION } from '../../../wire/revisions.ts';
import type { Answer, BackendFault, Exchange, Flow } from '../../backend.ts';
import { postExchange } from '../ask.ts';
import { uniqueText } from '../context.ts';
import { objectOf } from '../messages.ts';
import { type Headers, readAnswer } from '../reading.ts';
import { createReply, type Reply } from '../reply.ts';
import type { SessionClientContext } from './context.ts';
import { type Question, questionMessage, readClientResponse, readInputRequired, retryMembers } from './questions.ts';
import { refreshTools } from './refresh-tools.ts';
import { DEFAULT_LOG_LEVEL, metaMembers, metaObject, type Retry, statelessBody } from './request.ts';
import { resultType, sessionResponse } from './result.ts';
import type { ClientState } from './states.ts';

interface Call {
  readonly context: SessionClientContext;
  readonly state: ClientState;
  readonly exchange: Exchange;
  readonly body: Buffer;
  readonly request: RequestMessage;
  readonly reply: Reply;
  /** Ids of questions that wait for the client's answer, as JSON texts. */
  readonly open: Set<string>;
  flow?: Flow;
  /** Number of times that the request was sent. */
  rounds: number;
  /** True if the tools' schemas were read again for this call. */
  refreshed: boolean;
  stopTimer?: () => void;
}

export function openCall(
  context: SessionClientContext,
  state: ClientState,
  exchange: Exchange,
  body: Buffer,
  request: RequestMessage,
  answer: Answer,
): Flow {
  const reply = createReply(answer);
  const call: Call = { context, state, exchange, body, request, reply, open: new Set(), rounds: 0, refreshed: false };
  const cancel = () => {
    if (reply.closed()) return;
    call.flow?.abort();
    // A cancelled request gets no response (MCP 2025-11-25, basic/utilities/cancellation). The bridge only ends the
    // stream of the request.
    reply.end(202);
    settle(call);
  };
  state.calls.set(request.id.json, cancel);
  send(call);
  return {
    abort() {
      if (reply.closed()) return;
      reply.drop();
      call.flow?.abort();
      settle(call);
    },
    resume: () => call.flow?.resume(),
  };
}

function settle({ state, request, open, stopTimer }: Call): void {
  state.calls.delete(request.id.json);
  for (const id of open) state.questions.delete(id);
  open.clear();
  stopTimer?.();
}

function finish(call: Call, message: Buffer): void {
  call.reply.finish(message);
  settle(call);
}

function finishError(call: Call, code: number, message: string): void {
  finish(call, errorBody(call.request.id, code, message));
}

function fail(call: Call, fault: BackendFault): void {
  call.reply.fail(fault);
  settle(call);
}

function send(call: Call, retry?: Retry): void {
  const { context, state, exchange, body, request } = call;
  call.rounds += 1;
  const sent = statelessBody(body, request, metaMembers(state.identity, state.logLevel ?? DEFAULT_LOG_LEVEL), retry);
  const mirrored = standardHeaders(request, LATEST_STATELESS_REVISION);
  const headers = { ...mirrored, ...context.schemas.headers(request, body) };
  let aborted = false;
  let flowing = true;
  let status = 0;
  let answered = false;

  const answer = readAnswer(
    {
      head(code: number, _headers: Headers, streamed: boolean) {
        status = code;
        if (streamed) call.reply.stream();
      },
      message(bytes, message) {
        if (answered) return;
        answered = message.kind === 'response';
        flowing = take(call, bytes, message) && flowing;
      },
      part() {
        const goOn = flowing;
        flowing = true;
        return goOn;
      },
      end() {
        if (!answered) endWithoutResponse(call, status);
      },
      fail(fault) {
        aborted = true;
        call.flow?.abort();
        if (!answered) fail(call, fault);
      },
    },
    context.limits.messageBytes,
  );
  const flow = context.backend.open(postExchange(exchange, 'stateless', sent, headers), answer);
  call.flow = flow;
  if (aborted || call.reply.closed()) flow.abort();
}

/**
 * Ends the call after an answer that contains no response. Passes on statuses that concern the client (401, 403, 429)
 * and failures of the server (5xx). All other statuses become an error. After an error with a status from 400 on, the
 * next request detects the era again.
 */
function endWithoutResponse(call: Call, status: number): void {
  if (status === 401 || status === 403 || status === 429 || status >= 500) {
    call.reply.end(status);
    settle(call);
    return;
  }
  if (status >= 400) call.context.doubtEra();
  const message = 'the MCP server ended its answer without a response: the request may have been carried out';
  fail(call, { reason: status >= 400 ? 'answer-invalid' : 'closed', message, detail: `status ${status}` });
}

/** Handles a message of the server. Returns false if the client reads slowly. */
function take(call: Call, bytes: Buffer, message: Message): boolean {
  if (message.kind === 'notification') return call.reply.event(bytes);
  if (message.kind === 'response') takeResponse(call, bytes, message);
  // A server of MCP 2026-07-28 sends no requests.
  return true;
}

function takeResponse(call: Call, bytes: Buffer, response: ResponseMessage): void {
  const { context, request, exchange, state } = call;
  if (response.error !== undefined && !call.refreshed && request.method === 'tools/call') {
    const { code } = objectOf(bytes, response.error);
    if (code === ERRORS.headerMismatch) {
      call.refreshed = true;
      refreshTools(context, context.schemas, exchange, metaObject(state.identity)).then((read) => {
        if (call.reply.closed()) return;
        if (read) send(call);
        else finish(call, sessionResponse(bytes, response, request, context.schemas));
      });
      return;
    }
  }
  const members = response.result === undefined ? undefined : objectMembers(bytes, response.result.start);
  const type = members === undefined ? 'complete' : resultType(bytes, members);
  if (type === 'complete') {
    finish(call, sessionResponse(bytes, response, request, context.schemas));
    return;
  }
  if (type === 'input_required') {
    takeQuestions(call, bytes, response);
    return;
  }
  finishError(call, ERRORS.internalError, `The MCP server's result has the type ${type}, which this revision lacks`);
}

function takeQuestions(call: Call, bytes: Buffer, { result }: ResponseMessage): void {
  const { context, state } = call;
  if (result === undefined) return;
  if (call.rounds >= context.limits.rounds) {
    finishError(call, ERRORS.internalError, 'The MCP server asked for input too often');
    return;
  }
  const read = readInputRequired(bytes, result, state.identity, () => uniqueText(context));
  if (!read.ok) {
    finishError(call, ERRORS.internalError, read.reason);
    return;
  }
  const { questions, requestState } = read;
  if (questions.length === 0) {
    sendLater(call, requestState);
    return;
  }
  const answers = new Map<string, string>();
  const stem = uniqueText(context);
  for (const [index, question] of questions.entries()) {
    put(call, question, JSON.stringify(`${stem}-${index}`), (answer) => {
      answers.set(question.key, answer);
      if (answers.size < questions.length) return;
      const sorted = new Map(questions.map(({ key }) => [key, answers.get(key) ?? '{}']));
      send(call, { id: JSON.stringify(stem), members: retryMembers(sorted, requestState) });
    });
  }
}

/** Repeats the request after a delay, because the server needs more time and has no questions. */
function sendLater(call: Call, requestState: string | undefined): void {
  const { context } = call;
  const retry = { id: JSON.stringify(uniqueText(context)), members: retryMembers(new Map(), requestState) };
  const waitMs = Math.min(100 * 2 ** call.rounds, 5000);
  call.stopTimer = context.ports.clock.after(waitMs, () => send(call, retry));
}

/** Sends a question to the client. `id` is JSON text. */
function put(call: Call, question: Question, id: string, answered: (result: string) => void): void {
  const { state, open, reply } = call;
  open.add(id);
  state.questions.set(id, (bytes, response) => {
    open.delete(id);
    state.questions.delete(id);
    if (reply.closed()) return;
    const read = readClientResponse(bytes, response);
    if (read.ok) return answered(read.result);
    // `inputResponses` cannot contain errors (MCP 2026-07-28, basic/patterns/mrtr, InputResponses). The request
    // therefore fails with the client's error.
    finishError(call, read.code, `The client did not answer ${question.method}: ${read.message}`);
  });
  reply.event(questionMessage(question, id));
}
