// Converts error responses and connection errors to Failures. Source: Kubernetes API conventions, "Response Status
// Kind".

import type { IncomingHttpHeaders } from 'node:http';
import { Failure } from '#std/failure.ts';
import { isObject, type Json, type JsonObject } from '#std/json.ts';
import { connectionProblem, displayUrl } from '../http/failures.ts';
import type { ClusterCode } from './codes.ts';

export interface RequestSummary {
  readonly method: string;
  readonly url: string;
  /** True if the object is a Secret, whose values the server's messages may quote. */
  readonly secret: boolean;
  readonly as?: string;
}

/** A response with any status. */
export interface ClusterResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** Set if the body exceeds the maximum length. `text` is then empty. */
  readonly exceeds?: true;
}

/**
 * Returns the Failure for an error response. `data` has `url`, `method`, `status` and the server's `reason`. If the
 * server reports causes, `data` also has `causes` (a list of `{reason, field, message}`).
 */
export function refusal(asked: RequestSummary, answer: ClusterResponse): Failure {
  const status = readStatus(answer.text);
  const reason = typeof status.reason === 'string' ? status.reason : undefined;
  const url = shownUrl(asked.url);
  const data: JsonObject = { url, method: asked.method, status: answer.status };
  if (reason !== undefined) data.reason = reason;
  const causes = readCauses(status, asked.secret);
  if (causes.length > 0) data.causes = causes;
  const says =
    asked.secret && mayQuote(answer.status) ? withheld(answer.status, reason, causes) : messageOf(answer, status);
  const code = codeByContent(status, causes) ?? clusterCode(answer.status);
  const retryable = code === 'cluster-busy' || code === 'cluster-error';
  const whose = code === 'cluster-forbidden' && asked.as !== undefined ? ` (as ${asked.as})` : '';
  return new Failure(code, `${url}: ${says}${whose}`, { data, retryable });
}

/** Returns the Failure for a request without a response, after a timeout or an error. */
export function unanswered(
  asked: RequestSummary,
  why: { readonly timeoutMs: number } | { readonly cause: unknown },
): Failure {
  const { says, retryable } =
    'cause' in why ? connectionProblem(why.cause) : { says: `no answer within ${why.timeoutMs} ms`, retryable: true };
  const url = shownUrl(asked.url);
  const data = { url, method: asked.method };
  const cause = 'cause' in why ? { cause: why.cause } : {};
  return new Failure('cluster-unreachable', `${url}: ${says}`, { data, ...cause, retryable });
}

/**
 * Returns the Failure for a request that was not sent because of the deadline. `silent` are unanswered requests that
 * used up the time.
 */
export function tooLate({ url, method }: RequestSummary, silent: ReadonlySet<string>): Failure {
  const shown = shownUrl(url);
  const named = [...silent].slice(0, NAMED_MAX).join(', ');
  const more = silent.size > NAMED_MAX ? ` and ${silent.size - NAMED_MAX} more` : '';
  const why = silent.size === 0 ? '' : `; there was no answer to ${named}${more}`;
  const message = `${shown}: not asked any more: the time for all requests is over${why}`;
  return new Failure('cluster-unreachable', message, { data: { url: shown, method } });
}

const NAMED_MAX = 5;

/** Returns the Failure for a list request whose response is not awaited. */
export function notAwaited(url: string): Failure {
  const shown = shownUrl(url);
  const message = `${shown}: it had no answer lately, and is not waited for until it has one`;
  return new Failure('cluster-unreachable', message, { data: { url: shown, method: 'GET' }, retryable: true });
}

/** Returns the Failure for a 200 response that violates the API. */
export function unexpected(url: string, says: string, cause?: unknown): Failure {
  const shown = shownUrl(url);
  return new Failure('cluster-error', `${shown}: ${says}`, { data: { url: shown }, cause });
}

/** Returns the URL without the query, which does not identify the object. */
function shownUrl(url: string): string {
  const [place = ''] = url.split('?');
  return displayUrl(place);
}

/**
 * For an applied object that does not fit its schema, the server returns 500 without a reason (observed in 1.36). Only
 * the message shows the cause.
 */
const MISTYPED = ['failed to create typed patch object', 'failed to convert new object'];

function isMistyped({ code, reason, message }: JsonObject): boolean {
  return code === 500 && reason === undefined && MISTYPED.some((start) => String(message).startsWith(start));
}

/**
 * True if the object has another uid. The uid in an applied object is a precondition. If it differs, the server reports
 * a change of an immutable field (422).
 */
function isOtherUid(causes: readonly Json[]): boolean {
  return causes.some((cause) => isObject(cause) && cause.field === 'metadata.uid');
}

/** Returns a code for responses whose HTTP status alone would be misleading. */
function codeByContent(status: JsonObject, causes: readonly Json[]): ClusterCode | undefined {
  if (isMistyped(status)) return 'cluster-invalid';
  if (isOtherUid(causes)) return 'cluster-conflict';
  const leaving = causes.some((cause) => isObject(cause) && cause.reason === 'NamespaceTerminating');
  return leaving ? 'cluster-namespace-leaving' : undefined;
}

function clusterCode(status: number): ClusterCode {
  switch (status) {
    case 400:
    case 413:
    case 415:
    case 422:
      return 'cluster-invalid';
    case 401:
      return 'cluster-unauthorized';
    case 403:
      return 'cluster-forbidden';
    case 404:
      return 'cluster-not-found';
    case 409:
      return 'cluster-conflict';
    case 410:
      return 'cluster-gone';
    case 429:
    case 503:
      return 'cluster-busy';
    default:
      return 'cluster-error';
  }
}

/** Returns the Status object in the response. Empty if the response has no Status, as behind a proxy. */
export function readStatus(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) && value.kind === 'Status' ? value : {};
  } catch {
    return {};
  }
}

/** Messages of field manager conflicts are kept even for Secrets, because they contain only managers and fields. */
function readCauses({ details }: JsonObject, secret: boolean): Json[] {
  const causes = isObject(details) && Array.isArray(details.causes) ? details.causes.filter(isObject) : [];
  return causes.map(({ reason, field, message }) => {
    const quotes = secret && reason !== 'FieldManagerConflict';
    return quotes ? { reason, field } : { reason, field, message };
  });
}

/**
 * True if messages with this status may quote the object's content, because validation or admission wrote them. Other
 * messages contain only the object's name.
 */
function mayQuote(status: number): boolean {
  return ![401, 404, 409, 410, 429, 503].includes(status);
}

function withheld(status: number, reason: string | undefined, causes: readonly Json[]): string {
  const fields = causes.filter(isObject).flatMap(({ field }) => (typeof field === 'string' ? [field] : []));
  const where = fields.length === 0 ? '' : ` at ${fields.join(', ')}`;
  return `${[status, reason].join(' ').trim()}${where} (the server's message about a Secret is not shown: it may quote values)`;
}

function messageOf({ status, text }: ClusterResponse, { message }: JsonObject): string {
  if (typeof message === 'string' && message !== '') return message;
  const [line = ''] = text.trim().split('\n');
  return line === '' ? `status ${status}` : `status ${status}: ${line.slice(0, 200)}`;
}
