// Converts errors of outbound requests to Failures whose message begins with the URL.

import { Failure } from '#std/failure.ts';
import type { JsonObject } from '#std/json.ts';
import type { OutboundCode } from './codes.ts';
import { errors } from './undici.ts';

/** Returns the URL for messages: without user name, password, query and fragment, which may be secret. */
export function displayUrl(url: string | URL): string {
  const parsed = typeof url === 'string' ? URL.parse(url) : url;
  if (parsed === null) return 'the configured URL (which is not valid)';
  return `${parsed.protocol}//${parsed.host}${parsed.pathname}${parsed.search === '' ? '' : '?…'}`;
}

export interface FailureSort {
  readonly code: OutboundCode;
  readonly says: string;
  readonly retryable: boolean;
  /** True if no connection existed, so the server has received no part of the request. */
  readonly unsent?: boolean;
}

const TIMEOUT: FailureSort = { code: 'outbound-timeout', says: 'no answer in time', retryable: true };

/** Classifications by error code of Node.js and undici. */
const SORTS: Readonly<Record<string, FailureSort>> = {
  UND_ERR_CONNECT_TIMEOUT: { ...TIMEOUT, says: 'no connection in time', unsent: true },
  ETIMEDOUT: { ...TIMEOUT, says: 'no connection in time' },
  UND_ERR_HEADERS_TIMEOUT: TIMEOUT,
  UND_ERR_BODY_TIMEOUT: { ...TIMEOUT, says: 'the answer stopped half-way' },
  ENOTFOUND: { ...unreachable('the host name is unknown'), unsent: true },
  EAI_AGAIN: { ...unreachable('the host name could not be looked up'), unsent: true },
  ECONNREFUSED: { ...unreachable('connection refused'), unsent: true },
  ECONNRESET: unreachable('connection lost'),
  EPIPE: unreachable('connection lost'),
  UND_ERR_SOCKET: unreachable('connection lost'),
  EHOSTUNREACH: { ...unreachable('no route to the host'), unsent: true },
  ENETUNREACH: { ...unreachable('no route to the network'), unsent: true },
  UND_ERR_HEADERS_OVERFLOW: { ...unreachable('the headers of the answer are too large'), retryable: false },
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: unreachable('the answer is shorter than announced'),
};

function unreachable(says: string): FailureSort {
  return { code: 'outbound-unreachable', says, retryable: true };
}

/** Prefixes of error codes for TLS. Node.js reports certificate problems by OpenSSL's names. */
const TLS_CODES = ['CERT', 'SELF_SIGNED', 'UNABLE_TO', 'ERR_TLS', 'ERR_SSL', 'EPROTO', 'HOSTNAME_MISMATCH'];

export interface FailedRequest {
  readonly url: string;
  readonly method: string;
  readonly timeoutMs: number;
  /** Aborted at the time limit of the whole exchange. */
  readonly deadline: AbortSignal;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Returns the Failure for an error of a request. An error that is a Failure keeps its code. `data.reason` is the
 * message without the URL.
 */
export function outboundFailure(request: FailedRequest, error: unknown): Failure {
  const url = displayUrl(request.url);
  const failure = (code: string, reason: string, retryable: boolean, facts: JsonObject = {}) =>
    new Failure(code, `${url}: ${reason}`, {
      data: { ...facts, url, method: request.method, reason },
      cause: error,
      retryable,
    });
  if (error instanceof Failure) return failure(error.code, error.message, error.retryable, error.data);
  if (request.signal?.aborted) return failure('outbound-aborted', 'given up', false);
  const sort = request.deadline.aborted
    ? { ...TIMEOUT, says: `no answer within ${request.timeoutMs} ms` }
    : connectionProblem(error);
  return failure(sort.code, sort.says, sort.retryable);
}

/** Returns the Failure for a connection with another protocol than HTTP. The message contains `url` unchanged. */
export function connectFailure(url: string, error: unknown): Failure {
  const { code, message, retryable, data } =
    error instanceof Failure
      ? error
      : { ...connectionProblem(error), message: connectionProblem(error).says, data: {} };
  return new Failure(code, `${url}: ${message}`, {
    data: { ...data, url, reason: message },
    cause: error,
    retryable,
  });
}

/** Classifies an error of undici or Node.js. */
export function connectionProblem(error: unknown): FailureSort {
  if (error instanceof errors.HTTPParserError) return { ...unreachable('the answer is not HTTP'), retryable: false };
  const { code, text } = rootOf(error);
  const known = SORTS[code];
  if (known !== undefined) return known;
  if (TLS_CODES.some((prefix) => code.startsWith(prefix))) {
    return { code: 'outbound-tls', says: `no trusted TLS connection: ${text}`, retryable: false, unsent: true };
  }
  return unreachable(text);
}

/** Returns the error of the first address if several addresses were tried. */
function rootOf(error: unknown): { readonly code: string; readonly text: string } {
  if (error instanceof AggregateError && error.errors.length > 0) return rootOf(error.errors[0]);
  if (!(error instanceof Error)) return { code: '', text: String(error) };
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  return { code, text: error.message };
}
