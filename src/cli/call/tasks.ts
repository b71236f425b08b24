// Polls tasks (SEP-2663). A server of MCP 2026-07-28 may respond to a call with the handle of a task, whose result is
// ready later.

import { setTimeout as delay } from 'node:timers/promises';
import {
  type CallToolResult,
  type Client,
  type ElicitResult,
  isCallToolResult,
  isSpecType,
  type JSONRPCMessage,
  type StandardSchemaV1,
  type Transport,
} from '@modelcontextprotocol/client';
import { Failure } from '#std/failure.ts';
import { isObject, type JsonObject } from '#std/json.ts';
import { answerElicitation } from './questions.ts';
import type { Terminal } from './terminal.ts';

/** Key in `_meta` at which `asResult` puts the handle. The official client refuses results of the type `task`. */
const HANDLE = 'skep/task';

/** Makes the official client accept handles of tasks. The client must be connected. */
export function acceptHandles(transport: Transport): void {
  const deliver = transport.onmessage;
  transport.onmessage = (message, extra) => deliver?.(asResult(message), extra);
}

/**
 * Returns the handle as an error result. Unlike a success, an error result needs no structured content for the official
 * client.
 */
function asResult(message: JSONRPCMessage): JSONRPCMessage {
  if (!('result' in message) || message.result.resultType !== 'task') return message;
  const { _meta, ...handle } = message.result;
  const meta = { ..._meta, [HANDLE]: handle };
  return { ...message, result: { resultType: 'complete', content: [], isError: true, _meta: meta } };
}

/** Returns the handle in a result that `acceptHandles` has changed; undefined for any other result. */
export function taskOf({ _meta }: CallToolResult): JsonObject | undefined {
  const handle: unknown = _meta?.[HANDLE];
  return isObject(handle) ? handle : undefined;
}

export interface TaskSettings {
  readonly terminal: Terminal;
  /** If aborted, ends the polling and cancels the task at the server. */
  readonly signal: AbortSignal;
}

const POLL_MS = 1000;
const [POLL_MIN_MS, POLL_MAX_MS] = [100, 60_000];
/** Time limit in milliseconds for cancelling a task. A server that does not respond must not delay the user. */
const CANCEL_MS = 5000;
const OVER: ReadonlySet<unknown> = new Set(['completed', 'failed', 'cancelled']);

/**
 * Polls a task at the interval that the server names, until the task ends. Throws Failure `call-tool-failed` for a task
 * that failed or was cancelled. Throws Failure `call-failed` if the server cannot be reached or sends invalid data.
 */
export async function finishTask(client: Client, begun: JsonObject, settings: TaskSettings): Promise<CallToolResult> {
  const { taskId } = begun;
  if (typeof taskId !== 'string') throw new Failure('call-failed', 'the server began a task without a taskId');
  try {
    return await followTask(client, taskId, begun, settings);
  } catch (cause) {
    if (settings.signal.aborted) await cancel(client, taskId);
    if (cause instanceof Failure || settings.signal.aborted) throw cause;
    // The Failure has no cause. With the cause, the caller could repeat the call and begin a second task.
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Failure('call-failed', `the task ${taskId} continues, but its state could not be read: ${reason}`);
  }
}

async function followTask(
  client: Client,
  taskId: string,
  begun: JsonObject,
  { terminal, signal }: TaskSettings,
): Promise<CallToolResult> {
  const ask = (method: string, params: object = {}) =>
    client.request({ method, params: { taskId, ...params } }, OBJECT, { signal });
  const answered = new Set<string>();
  let shown = '';
  let task = begun;
  // The first response is a handle, which never contains a result.
  for (let isHandle = true; ; isHandle = false) {
    const result = isHandle ? undefined : finishedResult(task);
    if (result !== undefined) return result;
    const progress = progressOf(task);
    if (progress !== shown) terminal.progress(progress);
    shown = progress;
    const inputResponses = await answerQuestions(terminal, task, answered);
    if (inputResponses !== undefined) await ask('tasks/update', { inputResponses });
    if (!OVER.has(task.status)) await delay(pollMs(task), undefined, { signal });
    task = await ask('tasks/get');
  }
}

function progressOf({ status, statusMessage }: JsonObject): string {
  return typeof statusMessage === 'string' ? `${String(status)}: ${statusMessage}` : String(status);
}

/**
 * Returns the result; undefined while the task is in progress. Throws Failure for a task that ended without a result.
 */
function finishedResult({ status, result, error }: JsonObject): CallToolResult | undefined {
  switch (status) {
    case 'working':
    case 'input_required':
      return undefined;
    case 'completed':
      if (isCallToolResult(result)) return result;
      throw new Failure('call-failed', 'the server completed the task without the result of a tool');
    case 'failed': {
      const why = isObject(error) && typeof error.message === 'string' ? `: ${error.message}` : '';
      throw new Failure('call-tool-failed', `the task failed${why}`);
    }
    case 'cancelled':
      throw new Failure('call-tool-failed', 'the server cancelled the task');
    default:
      throw new Failure('call-failed', `the server gave the task an unknown status: ${String(status)}`);
  }
}

/**
 * Returns the user's answers to the new questions of a task; undefined if the task has no new questions. Throws Failure
 * `call-failed` for a request other than elicitation.
 */
async function answerQuestions(
  terminal: Terminal,
  { inputRequests }: JsonObject,
  answered: Set<string>,
): Promise<Readonly<Record<string, ElicitResult>> | undefined> {
  const open = Object.entries(isObject(inputRequests) ? inputRequests : {}).filter(([key]) => !answered.has(key));
  const responses: Record<string, ElicitResult> = {};
  for (const [key, request] of open) {
    if (!isSpecType.ElicitRequest(request))
      throw new Failure('call-failed', 'the task requests something other than an answer of its user (elicitation)');
    answered.add(key);
    responses[key] = await answerElicitation(terminal, request.params);
  }
  return open.length === 0 ? undefined : responses;
}

function pollMs({ pollIntervalMs }: JsonObject): number {
  const interval = typeof pollIntervalMs === 'number' ? pollIntervalMs : POLL_MS;
  return Math.min(Math.max(interval, POLL_MIN_MS), POLL_MAX_MS);
}

async function cancel(client: Client, taskId: string): Promise<void> {
  const request = { method: 'tasks/cancel', params: { taskId } };
  await client.request(request, OBJECT, { timeout: CANCEL_MS }).catch(() => undefined);
}

/** Schema that accepts any object unchanged (Standard Schema 1). */
export const OBJECT: StandardSchemaV1<unknown, JsonObject> = {
  '~standard': {
    version: 1,
    vendor: 'skep',
    validate: (value) => (isObject(value) ? { value } : { issues: [{ message: 'the result is not an object' }] }),
  },
};
