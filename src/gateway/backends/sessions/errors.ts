// Creates error messages and answers of the gateway itself.

import { ERRORS, errorBody } from '../../wire/errors.ts';
import type { Answer, Flow } from '../backend.ts';

const NOWHERE = { start: 0, end: 0 };

/** `id` is the JSON text of the request's id. undefined if the request has no readable id. */
export function errorMessage(id: string | undefined, code: number, message: string): Buffer {
  return errorBody(id === undefined ? undefined : { span: NOWHERE, json: id }, code, message);
}

/** Returns `notifications/cancelled` for the request with this id, as JSON text. */
export function cancellation(id: string, reason: string): Buffer {
  const params = `{"requestId":${id},"reason":${JSON.stringify(reason)}}`;
  return Buffer.from(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":${params}}`);
}

/** Flow without effect, for an exchange that has ended. */
export const NO_FLOW: Flow = {
  abort: () => undefined,
  resume: () => undefined,
};

export function answerJson(answer: Answer, status: number, body: Buffer, headers: Record<string, string> = {}): void {
  answer.head(status, { 'content-type': 'application/json', 'content-length': String(body.length), ...headers });
  answer.data(body);
  answer.end();
}

export function answerEmpty(answer: Answer, status: number, headers: Record<string, string> = {}): void {
  answer.head(status, headers);
  answer.end();
}

export function refuseExchange(answer: Answer, status: number, id: string | undefined, message: string): Flow {
  answerJson(answer, status, errorMessage(id, ERRORS.invalidRequest, message));
  return NO_FLOW;
}
