// Tasks (SEP-2663): a server of 2026-07-28 may answer a call with the handle of a task; it is asked about the task until the result
// is there.

import { setTimeout as delay } from 'node:timers/promises';
import type {
  CallToolResult,
  Client,
  ElicitRequest,
  ElicitResult,
  JSONRPCMessage,
  StandardSchemaV1,
  Transport,
} from '@modelcontextprotocol/client';
import { Failure } from '#std/failure.ts';
import { isObject, type JsonObject } from '#std/json.ts';
import { answerElicitation } from './questions.ts';
import type { Terminal } from './terminal.ts';

/** Never leaves the process: the official client refuses results of a kind that it does not know. */
const HANDLE = 'skep/task';

/** Lets handles of tasks pass the official client, which has to be connected. */
export function passHandles(transport: Transport): void {
  const deliver = transport.onmessage;
  transport.onmessage = (message, extra) => deliver?.(asResult(message), extra);
}

/** An error has no structured content, so the client holds it against no schema. */
function asResult(message: JSONRPCMessage): JSONRPCMessage {
  if (!('result' in message) || message.result.resultType !== 'task') return message;
  const { _meta, ...handle } = message.result;
  const meta = { ..._meta, [HANDLE]: handle };
  return { ...message, result: { resultType: 'complete', content: [], isError: true, _meta: meta } };
}

/** The task behind a result that `passHandles` let pass. */
export function taskOf({ _meta }: CallToolResult): JsonObject | undefined {
  const handle: unknown = _meta?.[HANDLE];
  return isObject(handle) ? handle : undefined;
}

export interface TaskSettings {
  readonly terminal: Terminal;
  /** Ends the task at the server, too. */
  readonly signal: AbortSignal;
}

const POLL_MS = 1000;
const [POLL_MIN_MS, POLL_MAX_MS] = [100, 60_000];

/** Asks as often as the server says. Throws Failure `call-tool-failed` for a task without a result. */
export async function finishTask(client: Client, begun: JsonObject, settings: TaskSettings): Promise<CallToolResult> {
  const { taskId } = begun;
  if (typeof taskId !== 'string') throw new Failure('call-failed', 'the server began a task without a taskId');
  const ask = (method: string, params: object = {}) =>
    client.request({ method, params: { taskId, ...params } }, OBJECT, { signal: settings.signal });
  const answered = new Set<string>();
  try {
    for (let task = begun; ; task = await ask('tasks/get')) {
      settings.terminal.progress(progressOf(task));
      const result = resultOf(task);
      if (result !== undefined) return result;
      const inputResponses = await answerQuestions(settings.terminal, task, answered);
      if (inputResponses !== undefined) await ask('tasks/update', { inputResponses });
      else await delay(pollMs(task), undefined, { signal: settings.signal });
    }
  } catch (error) {
    if (settings.signal.aborted) await cancel(client, taskId);
    throw error;
  }
}

function progressOf({ status, statusMessage }: JsonObject): string {
  return typeof statusMessage === 'string' ? `${String(status)}: ${statusMessage}` : String(status);
}

/** Undefined while the task is under way. */
function resultOf({ status, result, error }: JsonObject): CallToolResult | undefined {
  switch (status) {
    case 'completed': {
      if (!isObject(result) || !Array.isArray(result.content))
        throw new Failure('call-failed', 'the server completed the task without the result of a tool');
      return result as CallToolResult;
    }
    case 'failed': {
      const why = isObject(error) && typeof error.message === 'string' ? `: ${error.message}` : '';
      throw new Failure('call-tool-failed', `the task failed${why}`);
    }
    case 'cancelled':
      throw new Failure('call-tool-failed', 'the server cancelled the task');
    default:
      return undefined;
  }
}

/** Undefined if there is nothing new to answer. Only elicitation was declared, so nothing else is asked. */
async function answerQuestions(
  terminal: Terminal,
  { inputRequests }: JsonObject,
  answered: Set<string>,
): Promise<Readonly<Record<string, ElicitResult>> | undefined> {
  const open = Object.entries(isObject(inputRequests) ? inputRequests : {}).filter(([key]) => !answered.has(key));
  const responses: Record<string, ElicitResult> = {};
  for (const [key, request] of open) {
    answered.add(key);
    if (!isObject(request) || request.method !== 'elicitation/create') continue;
    responses[key] = await answerElicitation(terminal, request.params as ElicitRequest['params']);
  }
  return Object.keys(responses).length === 0 ? undefined : responses;
}

function pollMs({ pollIntervalMs }: JsonObject): number {
  const interval = typeof pollIntervalMs === 'number' ? pollIntervalMs : POLL_MS;
  return Math.min(Math.max(interval, POLL_MIN_MS), POLL_MAX_MS);
}

/** A server that is gone need not hear of it. */
async function cancel(client: Client, taskId: string): Promise<void> {
  await client.request({ method: 'tasks/cancel', params: { taskId } }, OBJECT).catch(() => undefined);
}

/** Standard Schema 1: any object. */
const OBJECT: StandardSchemaV1<unknown, JsonObject> = {
  '~standard': {
    version: 1,
    vendor: 'skep',
    validate: (value: unknown) =>
      isObject(value) ? { value } : { issues: [{ message: 'the result is not an object' }] },
  },
};
