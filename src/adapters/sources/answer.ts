// Builds conditional requests for reading a source (RFC 9110 section 13), and interprets the responses.

import type { Resume } from '#contracts/catalogue-state.ts';
import type { Document } from '#registry/catalogue/ports.ts';
import { Failure } from '#std/failure.ts';
import { textOfFile } from '#std/utf8.ts';
import { displayUrl } from '../http/failures.ts';
import type { Outbound, OutboundRequest, OutboundResponse } from '../http/outbound.ts';

export interface SourceRequest {
  readonly url: string;
  readonly resume?: Resume | undefined;
  readonly signal: AbortSignal;
  /** `arrived` of `ReadRequest` for this response. */
  readonly arrived?: OutboundRequest['arrived'];
  /** Timeout in milliseconds of the whole exchange, not counting waits of `arrived`. */
  readonly timeoutMs: number;
}

const MAX_BYTES = 64 * 1024 * 1024;
const REDIRECTS = 5;

/** Sends the request. Resolves for any status. Throws Failure with one of OUTBOUND_CODES. */
export function askSource(
  outbound: Outbound,
  { url, resume, signal, timeoutMs, arrived }: SourceRequest,
): Promise<OutboundResponse> {
  const { etag, modified } = resume ?? {};
  return outbound.request({
    url,
    method: 'GET',
    headers: {
      accept: 'application/json',
      ...(etag === undefined ? {} : { 'if-none-match': etag }),
      ...(modified === undefined ? {} : { 'if-modified-since': modified }),
    },
    maxBytes: MAX_BYTES,
    redirects: REDIRECTS,
    timeoutMs,
    signal,
    arrived,
  });
}

/** Returns the text of a 200 response. Throws Failure for other statuses. */
export function documentOf({ status, body, url }: OutboundResponse): Document {
  const location = displayUrl(url);
  if (status === 200) return { text: textOfFile(body, location, 'source-not-text'), location };
  throw statusFailure(status, location);
}

/** Returns the server's validators for the next conditional request. */
export function validatorsOf({ headers }: OutboundResponse): Resume {
  const { etag, 'last-modified': modified } = headers;
  return { ...(etag === undefined ? {} : { etag }), ...(modified === undefined ? {} : { modified }) };
}

export function statusFailure(status: number, location: string): Failure {
  const data = { url: location, status };
  if (status === 401 || status === 403) {
    return new Failure('source-auth-required', `${location}: the server asks for credentials (${status})`, { data });
  }
  if (status === 404 || status === 410) {
    return new Failure('source-not-found', `${location}: there is nothing (${status})`, { data });
  }
  const retryable = status === 429 || status >= 500;
  return new Failure('source-answer', `${location}: the server answered with status ${status}`, { data, retryable });
}
