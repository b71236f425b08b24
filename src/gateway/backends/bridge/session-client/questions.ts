// Converts `input_required` results of a server of MCP 2026-07-28 to requests for a client with sessions, and the
// client's responses to `inputResponses`.

import { isObject, shownText } from '#std/json.ts';
import { objectMembers } from '../../../wire/json-walk.ts';
import type { ResponseMessage, Span } from '../../../wire/message.ts';
import { addMembers, applyPatches } from '../edit.ts';
import { callMessage, objectOf, textOf } from '../messages.ts';
import { allowsQuestion } from '../protocol.ts';
import type { ClientIdentity } from './identity.ts';

export interface Question {
  /** Key of the question in `inputRequests`. */
  readonly key: string;
  readonly method: string;
  /** Params of the question, as JSON text. */
  readonly params?: string;
}

export type InputRequired =
  | { readonly ok: true; readonly questions: readonly Question[]; readonly requestState?: string }
  | { readonly ok: false; readonly reason: string };

const MAX_QUESTIONS = 32;

/**
 * Parses the questions of a result. `requestState` stays JSON text. `newId` creates the id of an elicitation by URL,
 * which clients with sessions require.
 */
export function readInputRequired(
  bytes: Buffer,
  result: Span,
  { capabilities }: ClientIdentity,
  newId: () => string,
): InputRequired {
  const members = objectMembers(bytes, result.start) ?? [];
  const requests = members.find(({ key }) => key === 'inputRequests');
  const state = members.find(({ key }) => key === 'requestState');
  if (requests === undefined && state === undefined) return notUnderstood('asks for input without saying which');
  const requestState = state === undefined ? undefined : textOf(bytes, state.value);
  const asked = requests === undefined ? [] : objectMembers(bytes, requests.value.start);
  if (asked === undefined || asked.length > MAX_QUESTIONS) return notUnderstood('asks for input in an unknown form');
  const questions: Question[] = [];
  for (const { key, value } of asked) {
    const question = readQuestion(bytes, key, value, newId);
    if (question === undefined) return notUnderstood('asks for input in an unknown form');
    const params: unknown = question.params === undefined ? undefined : JSON.parse(question.params);
    if (!allowsQuestion(capabilities, question.method, params))
      return notUnderstood(`asks for ${question.method}, which the client does not support`);
    questions.push(question);
  }
  return { ok: true, questions, requestState };
}

function notUnderstood(reason: string): InputRequired {
  return { ok: false, reason: `The MCP server ${reason}` };
}

function readQuestion(bytes: Buffer, key: string, value: Span, newId: () => string): Question | undefined {
  const members = objectMembers(bytes, value.start);
  const { method, params: about } = objectOf(bytes, value);
  if (members === undefined || typeof method !== 'string') return undefined;
  const params = members.find((member) => member.key === 'params')?.value;
  if (params === undefined) return { key, method };
  // Id to which `notifications/elicitation/complete` refers (MCP 2025-11-25, client/elicitation).
  const byUrl =
    method === 'elicitation/create' && isObject(about) && about.mode === 'url' && !('elicitationId' in about);
  if (!byUrl) return { key, method, params: textOf(bytes, params) };
  const named = addMembers(bytes, params.start, `"elicitationId":${JSON.stringify(newId())}`);
  return {
    key,
    method,
    params: applyPatches(Buffer.from(bytes.subarray(0, params.end)), [named]).toString('utf8', params.start),
  };
}

/** Returns the request for the client. `id` is JSON text. */
export function questionMessage({ method, params }: Question, id: string): Buffer {
  return callMessage(method, id, params);
}

export type ClientResponse =
  | { readonly ok: true; readonly result: string }
  | { readonly ok: false; readonly code: number; readonly message: string };

export function readClientResponse(bytes: Buffer, { result, error }: ResponseMessage): ClientResponse {
  if (result !== undefined) return { ok: true, result: textOf(bytes, result) };
  const { code, message } = objectOf(bytes, error);
  return { ok: false, code: Number.isSafeInteger(code) ? Number(code) : -32603, message: shownText(message) };
}

/**
 * Returns members of `params` for the retry. `answers` maps the key of each question to the JSON text of its answer.
 */
export function retryMembers(
  answers: ReadonlyMap<string, string>,
  requestState: string | undefined,
): readonly string[] {
  const members: string[] = [];
  if (answers.size > 0) {
    const pairs = [...answers].map(([key, answer]) => `${JSON.stringify(key)}:${answer}`);
    members.push(`"inputResponses":{${pairs.join(',')}}`);
  }
  if (requestState !== undefined) members.push(`"requestState":${requestState}`);
  return members;
}
