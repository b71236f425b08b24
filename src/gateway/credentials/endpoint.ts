// Sends requests to token endpoints with common limits, and recognises answers of an endpoint that is down.

import type { FetchResponse } from '#auth/ports.ts';
import { Failure } from '#std/failure.ts';
import { configFault } from './config-fault.ts';
import type { CredentialRefusal } from './credential.ts';
import type { Issue } from './issued.ts';
import type { CredentialPorts } from './ports.ts';

const TIMEOUT_MS = 10_000;
const ANSWER_BYTES_MAX = 128 * 1024;

type Unavailable = Extract<Issue<never>, { readonly type: 'unavailable' | 'failed' }>;
type IssueRefusal = Extract<Issue<never>, { readonly type: 'refused' }>;

/**
 * Validates the URL of an endpoint. `display` is the URL without its query, for messages. Throws Failure
 * `credential-config-invalid`.
 */
export function endpointUrl(url: string, pointer: string): { readonly url: string; readonly display: string } {
  const parsed = URL.parse(url);
  if (parsed === null || !['http:', 'https:'].includes(parsed.protocol) || parsed.username + parsed.password !== '') {
    throw configFault(pointer, 'is not an http or https URL without user name and password');
  }
  return { url, display: `${parsed.origin}${parsed.pathname}` };
}

/** Posts a form. Throws a Failure if no answer arrives. */
export function postForm(
  ports: Pick<CredentialPorts, 'fetch'>,
  url: string,
  form: URLSearchParams,
  headers: Readonly<Record<string, string>>,
): Promise<FetchResponse> {
  return ports.fetch({
    url,
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/x-www-form-urlencoded' },
    body: form.toString(),
    // The URL comes from the configuration. Private addresses are normal inside a cluster and for private endpoints of
    // a cloud.
    allowPrivate: true,
    timeoutMs: TIMEOUT_MS,
    maxBytes: ANSWER_BYTES_MAX,
  });
}

/** Converts a Failure of a request to a result. Throws all other errors again, because they are bugs. */
export function noAnswer(error: unknown, invalid: (detail: string) => Issue<never>): Issue<never> {
  if (!(error instanceof Failure)) throw error;
  // An answer that is too large is not an outage. Other callers may get a smaller answer.
  if (error.code === 'outbound-too-large') return invalid(error.message);
  return { type: 'unavailable', detail: error.message };
}

/**
 * Returns a result if the endpoint is overloaded or fails (RFC 6585 section 4, RFC 9110 section 15.6). undefined for
 * other answers.
 */
export function unavailableStatus({ status, headers }: FetchResponse, display: string): Unavailable | undefined {
  if (status !== 429 && status < 500) return undefined;
  const detail = `${display} answered with status ${status}`;
  if (status === 500) return { type: 'failed', detail };
  const seconds = Number(headers['retry-after']);
  const pauseMs = Number.isFinite(seconds) && seconds > 0 ? seconds * 1000 : undefined;
  return { type: 'unavailable', detail, pauseMs };
}

export function refusedIssue(
  status: CredentialRefusal['status'],
  code: string,
  message: string,
  detail: string,
): IssueRefusal {
  return { type: 'refused', refusal: { status, code, message, detail } };
}
