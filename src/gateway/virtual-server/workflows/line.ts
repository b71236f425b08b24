// Serves workflows as an MCP server with sessions. A line is one client session.

import { isObject, type JsonObject, shownText } from '#std/json.ts';
import type { Exchange } from '../../backends/backend.ts';
import { callMessage, objectOf, resultMessage } from '../../backends/bridge/messages.ts';
import type { SessionHandlers, SessionLink } from '../../backends/sessions/link.ts';
import { ERRORS, errorBody } from '../../wire/errors.ts';
import type { RequestMessage } from '../../wire/message.ts';
import { scanMessage } from '../../wire/scan.ts';
import { createQuestions, type PersonQuestion, type Questions } from './questions.ts';

/** A `tools/call` of a client. */
export interface WorkflowCall {
  readonly tool: string;
  readonly arguments: JsonObject;
  /** Returns the client's latest exchange about the call. This exchange has the newest token. */
  cause(): Exchange;
  ask(question: Omit<PersonQuestion, 'call'>): Promise<Awaited<ReturnType<Questions['ask']>>>;
  /** Sends progress to the client if the client has requested progress. */
  progress(done: number, total: number, message: string): void;
  /** Aborted when the client no longer waits. */
  readonly signal: AbortSignal;
}

export interface LineParts {
  readonly name: string;
  readonly version: string;
  /** Returns the result of `tools/call`. Returns undefined if the tool does not exist. Never rejects. */
  call(call: WorkflowCall): Promise<JsonObject | undefined>;
}

interface WorkflowLine {
  readonly parts: LineParts;
  readonly handlers: SessionHandlers;
  readonly questions: Questions;
  /** Calls by the JSON text of the request's id. */
  readonly calls: Map<string, { cause: Exchange; readonly controller: AbortController }>;
}

export function openLine(parts: LineParts, opened: Exchange, handlers: SessionHandlers): SessionLink {
  const line: WorkflowLine = { parts, handlers, questions: createQuestions(handlers), calls: new Map() };
  return {
    send(bytes, exchange = opened) {
      receive(line, bytes, exchange);
      return true;
    },
    pause: () => undefined,
    resume: () => undefined,
    async close() {
      for (const { controller } of line.calls.values()) controller.abort();
    },
  };
}

function receive(line: WorkflowLine, bytes: Buffer, exchange: Exchange): void {
  const scanned = scanMessage(bytes);
  if (!scanned.ok) return;
  const { message } = scanned;
  switch (message.kind) {
    case 'request':
      takeRequest(line, bytes, message, exchange);
      return;
    case 'notification':
      if (message.method === 'notifications/cancelled') cancelCall(line, message.refersTo?.json ?? '');
      return;
    case 'response': {
      const call = line.calls.get(line.questions.answer(bytes, message) ?? '');
      // The exchange of the response may have a newer token.
      if (call !== undefined) call.cause = exchange;
    }
  }
}

function cancelCall({ calls }: WorkflowLine, id: string): void {
  const call = calls.get(id);
  calls.delete(id);
  call?.controller.abort();
}

function takeRequest(line: WorkflowLine, bytes: Buffer, request: RequestMessage, exchange: Exchange): void {
  const { parts, handlers, questions } = line;
  const { id, method, requestedVersion } = request;
  switch (method) {
    case 'initialize': {
      const { capabilities } = objectOf(bytes, request.params);
      questions.useCapabilities(isObject(capabilities) ? capabilities : {});
      const { name, version } = parts;
      const result = {
        protocolVersion: requestedVersion ?? LATEST_WITH_SESSIONS,
        capabilities: { tools: {} },
        serverInfo: { name, version },
      };
      handlers.message(resultMessage(id.json, JSON.stringify(result)));
      return;
    }
    case 'ping':
      handlers.message(resultMessage(id.json, '{}'));
      return;
    case 'tools/call':
      void callWorkflow(line, bytes, request, exchange);
      return;
    default:
      handlers.message(errorBody(id, ERRORS.methodNotFound, `Method not found: ${method.slice(0, 200)}`));
  }
}

const LATEST_WITH_SESSIONS = '2025-11-25';

async function callWorkflow(
  line: WorkflowLine,
  bytes: Buffer,
  request: RequestMessage,
  exchange: Exchange,
): Promise<void> {
  const { calls, handlers, questions, parts } = line;
  const { id, meta } = request;
  const { name, arguments: given } = objectOf(bytes, request.params);
  const call = { cause: exchange, controller: new AbortController() };
  calls.set(id.json, call);
  const token = meta?.progressToken?.json;
  const result = await parts.call({
    tool: shownText(name),
    arguments: isObject(given) ? given : {},
    cause: () => call.cause,
    ask: (question) => questions.ask({ ...question, call: id.json }),
    progress(progress, total, message) {
      if (token === undefined || !calls.has(id.json)) return;
      const words = JSON.stringify(message);
      const params = `{"progressToken":${token},"progress":${progress},"total":${total},"message":${words}}`;
      handlers.message(callMessage('notifications/progress', undefined, params));
    },
    signal: call.controller.signal,
  });
  // A cancelled request gets no response.
  if (!calls.delete(id.json)) return;
  const unknown = () => errorBody(id, ERRORS.invalidParams, `Unknown tool: ${shownText(name).slice(0, 200)}`);
  handlers.message(result === undefined ? unknown() : resultMessage(id.json, JSON.stringify(result)));
}
