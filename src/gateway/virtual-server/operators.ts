// Serves documents for operators on the port of clients, to requests with the token of the reconciler. Without it the
// paths do not exist. The documents are read-only.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { OPERATOR_HEADER } from '#contracts/virtual/operator-documents.ts';
import { SECURITY_HEADERS } from '#std/page/headers.ts';
import { isOneOf } from '#std/secret.ts';

export interface OperatorDocuments {
  /** Undefined: the documents are not served, because no token is known. */
  readonly token: string | undefined;
  /** Returns a document by path; undefined for another path. */
  readonly find: (path: string) => { readonly type: string; readonly text: string } | undefined;
}

/** Answers a request for a document. Returns false if the request is another one, or has no valid token. */
export function answerOperator(
  { token, find }: OperatorDocuments,
  { method, url = '', headers }: IncomingMessage,
  response: ServerResponse,
): boolean {
  const sent = headers[OPERATOR_HEADER];
  if (token === undefined || typeof sent !== 'string' || method !== 'GET' || !isOneOf(sent, [token])) return false;
  const document = find(url.split('?', 1)[0] ?? '');
  if (document === undefined) return false;
  const { type, text } = document;
  response.writeHead(200, {
    ...SECURITY_HEADERS,
    'content-type': type,
    'content-length': Buffer.byteLength(text),
    'cache-control': 'no-store',
  });
  response.end(text);
  return true;
}
