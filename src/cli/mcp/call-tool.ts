// Calls a tool within time limits. The result contains its data, its question to the user, or its Failure.

import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import { systemClock } from '#hosts/clock.ts';
import type { Config } from '#hosts/config/config.ts';
import { setBounded } from '#std/bounded.ts';
import { Failure } from '#std/failure.ts';
import { sha256 } from '#std/hash.ts';
import { isObject, type JsonObject } from '#std/json.ts';
import type { CommandOf } from '#std/words/command-of.ts';
import { meaningOf } from '../error-codes.ts';
import { boundedData, plainText } from './bounded.ts';
import { checkArguments } from './check-arguments.ts';
import { digestOfQuestion } from './confirmation.ts';
import type { ConfirmationQuestion, McpTool } from './tool.ts';

export interface CallerDeps {
  readonly readConfig: () => Promise<Config>;
  readonly commandOf: CommandOf;
  /** Logs each question and each action. */
  readonly logger: Logger;
  readonly limits: CallLimits;
}

/** Time limits of a call, in milliseconds. */
interface CallLimits {
  readonly readMs: number;
  readonly actMs: number;
}

export const LIMITS: CallLimits = { readMs: 2 * 60_000, actMs: 10 * 60_000 };

/** One request of a client. */
export interface ToolRequest {
  readonly tool: McpTool;
  readonly args: unknown;
  readonly signal: AbortSignal;
  /** Name of the client, for the log. */
  readonly client: string;
  /** True if the client can show a form to its user. */
  readonly canAsk: boolean;
  /** Answer of the user to an earlier question. `state` identifies that question. */
  readonly answer?: { readonly state: string; readonly accepted: boolean };
  readonly progress: (message: string) => void;
}

interface ToolResult {
  readonly content: { readonly type: 'text'; readonly text: string }[];
  readonly structuredContent?: JsonObject;
  readonly isError?: true;
}

/** A question to the user. The answer contains the same `state`. */
interface QuestionWithState {
  readonly question: ConfirmationQuestion;
  readonly state: string;
}

export type CallTool = (request: ToolRequest) => Promise<ToolResult | QuestionWithState>;

/** A question that the user has not answered yet. Only the first answer is accepted. */
interface OpenQuestion {
  readonly call: string;
  readonly digest: string;
  /** Time until which an answer is accepted, in milliseconds of the monotonic clock. */
  readonly until: number;
}

const CALLS_MAX = 4;
const PENDING_MAX = 100;
const ANSWER_MS = 10 * 60_000;

export function createCallTool(deps: CallerDeps): CallTool {
  const pending = new Map<string, OpenQuestion>();
  let calls = 0;
  // A cancelled call is counted until its work has ended. Otherwise a client could start more work by cancelling calls.
  async function counted<T>(work: () => Promise<T>): Promise<T> {
    if (calls >= CALLS_MAX) throw new Failure('mcp-busy', `${CALLS_MAX} calls are under way`, { retryable: true });
    calls += 1;
    try {
      return await work();
    } finally {
      calls -= 1;
    }
  }
  return async (request) => {
    try {
      return await callOnce({ ...deps, pending, counted }, request);
    } catch (error) {
      return errorResult(deps, request, error);
    }
  };
}

interface Calling extends CallerDeps {
  readonly pending: Map<string, OpenQuestion>;
  readonly counted: <T>(work: () => Promise<T>) => Promise<T>;
}

async function callOnce(deps: Calling, request: ToolRequest): Promise<ToolResult | QuestionWithState> {
  const { tool, progress } = request;
  const args = checkArguments(tool, request.args);
  const confirmed = confirmedBy(deps, request, args);
  const limit = AbortSignal.timeout(tool.acts === undefined ? deps.limits.readMs : deps.limits.actMs);
  const signal = AbortSignal.any([request.signal, limit]);
  const config = await deps.readConfig();
  const { commandOf } = deps;
  const result = await endingWith(signal, request.signal, () =>
    deps.counted(() =>
      tool.call({ config, args, signal, commandOf, progress, ...(confirmed === undefined ? {} : { confirmed }) }),
    ),
  );
  if (result.type === 'question') return askUser(deps, request, args, result);
  if (tool.acts === undefined) return dataResult(boundedData(result));
  audit(deps, request, 'done', args);
  try {
    return dataResult(boundedData(result));
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return failureResult(new Failure(error.code, `the action was done; ${error.message}`));
  }
}

function dataResult(structuredContent: JsonObject): ToolResult {
  return { content: [{ type: 'text', text: JSON.stringify(structuredContent) }], structuredContent };
}

/** Rejects when the signal aborts, even if the work ignores the signal. */
async function endingWith<T>(signal: AbortSignal, cancelled: AbortSignal, work: () => Promise<T>): Promise<T> {
  const reason = () =>
    cancelled.aborted
      ? new Failure('mcp-cancelled', 'the call was cancelled')
      : new Failure('mcp-timeout', 'the call took too long', { retryable: true });
  if (signal.aborted) throw reason();
  const ended = Promise.withResolvers<never>();
  const end = () => ended.reject(reason());
  signal.addEventListener('abort', end, { once: true });
  try {
    return await Promise.race([work(), ended.promise]);
  } finally {
    signal.removeEventListener('abort', end);
  }
}

function askUser(
  deps: Calling,
  request: ToolRequest,
  args: JsonObject,
  question: ConfirmationQuestion,
): QuestionWithState {
  const { command } = question;
  if (!request.canAsk) {
    const message = 'this client cannot ask its user for a confirmation';
    throw new Failure('mcp-confirmation-unavailable', message, { data: { command } });
  }
  const state = randomUUID();
  const until = systemClock.monotonic() + ANSWER_MS;
  setBounded(
    deps.pending,
    state,
    { call: nameOfCall(request, args), digest: digestOfQuestion(question), until },
    PENDING_MAX,
  );
  audit(deps, request, 'asked', question.facts);
  return { question, state };
}

/** Returns the digest of the question that the user has confirmed; undefined if the request contains no answer. */
function confirmedBy(deps: Calling, request: ToolRequest, args: JsonObject): string | undefined {
  const { answer } = request;
  if (answer === undefined) return undefined;
  const asked = deps.pending.get(answer.state);
  deps.pending.delete(answer.state);
  if (asked === undefined || asked.call !== nameOfCall(request, args) || asked.until < systemClock.monotonic())
    throw new Failure('mcp-confirmation-changed', 'this question is not open any more');
  audit(deps, request, answer.accepted ? 'confirmed' : 'declined', args);
  if (!answer.accepted) throw new Failure('mcp-confirmation-declined', 'the user did not confirm it');
  return asked.digest;
}

function nameOfCall({ tool }: ToolRequest, args: JsonObject): string {
  return sha256(JSON.stringify([tool.name, args]));
}

function audit({ logger }: CallerDeps, { tool, client }: ToolRequest, event: string, facts: JsonObject): void {
  logger.info({ action: tool.name, event, client: plainText(client), ...facts }, `${tool.name} ${event}`);
}

/** Returns the error as a result. Logs an error that is not a Failure, and the Failure of an answered action. */
function errorResult(deps: CallerDeps, request: ToolRequest, error: unknown): ToolResult {
  // An error that is not a Failure is a bug: its stack is logged and not sent to the client.
  if (!(error instanceof Failure))
    deps.logger.error({ err: error, tool: request.tool.name }, 'a call failed unexpectedly');
  const failure =
    error instanceof Failure ? error : new Failure('mcp-internal', 'skep failed unexpectedly; its log has more');
  const { code, message } = failure;
  if (request.tool.acts !== undefined && request.answer !== undefined)
    audit(deps, request, 'failed', { code, message: plainText(message) });
  return failureResult(failure);
}

/** Returns a result for a model: code, message, meaning and command of the Failure. */
function failureResult({ code, message, data, retryable }: Failure): ToolResult {
  const { command } = isObject(data) ? data : {};
  const shown = {
    code,
    message: plainText(message),
    advice: meaningOf(code),
    retryable: retryable === true ? true : undefined,
    command: typeof command === 'string' ? plainText(command) : undefined,
  };
  return { content: [{ type: 'text', text: JSON.stringify({ error: shown }) }], isError: true };
}
