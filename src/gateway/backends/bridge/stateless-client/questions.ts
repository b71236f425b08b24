// Converts requests of a server with sessions to `inputRequests` of MCP 2026-07-28, and `inputResponses` of the client
// to responses for the server.

import { isObject, type JsonObject } from '#std/json.ts';
import { objectMembers } from '../../../wire/json-walk.ts';
import type { RequestMessage } from '../../../wire/message.ts';
import { applyPatches, changeMembers } from '../edit.ts';
import { objectOf, resultMessage, textOf } from '../messages.ts';
import { ASKING_METHODS } from '../protocol.ts';

export interface Question {
  /** Id of the server's request, as JSON text. */
  readonly id: string;
  /** Key of the question in `inputRequests`. */
  readonly key: string;
  /** Value in `inputRequests`, as JSON text. */
  readonly request: string;
}

/** Members that MCP 2026-07-28 removed, because they correlate notifications or belong to tasks. */
const DROPPED: ReadonlySet<string> = new Set(['_meta', 'elicitationId', 'task']);

export function readQuestion(bytes: Buffer, { id, method, params }: RequestMessage, number: number): Question {
  const key = `${ASKING_METHODS.get(method) ?? 'input'}-${number}`;
  const name = JSON.stringify(method);
  if (params === undefined) return { id: id.json, key, request: `{"method":${name}}` };
  const patches = changeMembers(bytes, params.start, (member) => DROPPED.has(member)) ?? [];
  const about = applyPatches(Buffer.from(bytes.subarray(0, params.end)), patches).toString('utf8', params.start);
  return { id: id.json, key, request: `{"method":${name},"params":${about}}` };
}

/** Returns an InputRequiredResult as JSON text. `requestState` is plain text. */
export function inputRequired(
  requests: readonly (readonly [key: string, request: string])[],
  requestState?: string,
): string {
  const asked = requests.map(([key, request]) => `${JSON.stringify(key)}:${request}`).join(',');
  const state = requestState === undefined ? '' : `,"requestState":${JSON.stringify(requestState)}`;
  return `{"resultType":"input_required","inputRequests":{${asked}}${state}}`;
}

/** Returns the responses for the server, by the key of the question. Ignores answers that are not objects. */
export function readAnswers(body: Buffer, { params }: RequestMessage): ReadonlyMap<string, string> {
  const members = params === undefined ? undefined : objectMembers(body, params.start);
  const responses = members?.find(({ key }) => key === 'inputResponses')?.value;
  const answers = responses === undefined ? undefined : objectMembers(body, responses.start);
  const objects = (answers ?? []).filter(({ value }) => body[value.start] === 0x7b);
  return new Map(objects.map(({ key, value }) => [key, textOf(body, value)]));
}

export function answerMessage({ id }: Question, answer: string): Buffer {
  return resultMessage(id, answer);
}

/**
 * Parses `error.data` of -32042 (MCP 2025-11-25, client/elicitation): URLs that the user must open before the client
 * repeats the call.
 */
export function urlQuestions(data: unknown): readonly (readonly [key: string, request: string])[] {
  const listed = isObject(data) && Array.isArray(data.elicitations) ? data.elicitations : [];
  return listed.filter(isObject).map((each, index) => [`elicitation-${index + 1}`, JSON.stringify(urlRequest(each))]);
}

function urlRequest({ message, url }: JsonObject): JsonObject {
  return { method: 'elicitation/create', params: { mode: 'url', message: message ?? '', url } };
}

/** Returns the params of a question, in the format of `inputRequests`. */
export function paramsOf(bytes: Buffer, { params }: RequestMessage): JsonObject {
  return objectOf(bytes, params);
}
