// Defines requests to the authorization server and its answers as plain values.

import type { JsonObject } from '#std/json.ts';

export interface IssuerRequest {
  readonly method: string;
  /** Path without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** Header names are in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Body of the request. Empty if the request has no body. */
  readonly body: string;
  /** Address of the client, for rate limits. */
  readonly address: string;
}

export interface IssuerAnswer {
  readonly status: number;
  /** Header names are in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body: string;
}

/**
 * Error codes of RFC 6749 sections 4.1.2.1 and 5.2, RFC 7591 section 3.2.2, RFC 8707 section 2 and RFC 7009 section
 * 2.2.1.
 */
export type OAuthErrorCode =
  | 'access_denied'
  | 'invalid_client'
  | 'invalid_client_metadata'
  | 'invalid_grant'
  | 'invalid_redirect_uri'
  | 'invalid_request'
  | 'invalid_scope'
  | 'invalid_target'
  | 'request_not_supported'
  | 'request_uri_not_supported'
  | 'server_error'
  | 'slow_down'
  | 'temporarily_unavailable'
  | 'unauthorized_client'
  | 'unsupported_grant_type'
  | 'unsupported_response_type'
  | 'unsupported_token_type';

/** Error for a client. The description says how to correct the request, without internals. */
export interface OAuthError {
  readonly error: OAuthErrorCode;
  readonly description: string;
  /** HTTP scheme that the client used (RFC 6749 section 5.2). */
  readonly scheme?: 'Basic';
}

/** Headers of answers with tokens, which must not be cached (RFC 6749 section 5.1). */
const NOT_KEPT = { 'cache-control': 'no-store', pragma: 'no-cache' } as const;

export function jsonAnswer(status: number, value: JsonObject, headers: IssuerAnswer['headers'] = {}): IssuerAnswer {
  return {
    status,
    headers: { 'content-type': 'application/json; charset=utf-8', ...NOT_KEPT, ...headers },
    body: `${JSON.stringify(value)}\n`,
  };
}

/**
 * Formats an error. `invalid_client` has status 401, so that an unknown client registers again (RFC 6749 section 5.2).
 */
export function errorAnswer({ error, description, scheme }: OAuthError, status?: number): IssuerAnswer {
  const own = status ?? STATUSES[error] ?? 400;
  const headers: Record<string, string> = own === 503 || own === 429 ? { 'retry-after': '5' } : {};
  const challenge: Record<string, string> =
    scheme === undefined ? {} : { 'www-authenticate': `${scheme} realm="token"` };
  return jsonAnswer(own, { error, error_description: description }, { ...headers, ...challenge });
}

const STATUSES: { readonly [Code in OAuthErrorCode]?: number } = {
  invalid_client: 401,
  server_error: 500,
  slow_down: 429,
  temporarily_unavailable: 503,
};

/** Redirects the browser. The browser then sends a GET, even if this request is a POST. */
export function redirectAnswer(url: string, cookies: readonly string[] = []): IssuerAnswer {
  return {
    status: 303,
    headers: {
      location: url,
      ...NOT_KEPT,
      'referrer-policy': 'no-referrer',
      ...(cookies.length === 0 ? {} : { 'set-cookie': cookies }),
    },
    body: '',
  };
}

/** Maximum number of parameters. OAuth requests have less than half of this number. */
const PARAMETERS_MAX = 50;

/** First fault of the parameters, as a clause of a sentence. `resource` may repeat (RFC 8707 section 2). */
export interface ParameterFault {
  /** Repeated parameter. undefined if the request has too many parameters. */
  readonly repeated: string | undefined;
  readonly message: string;
}

/**
 * Returns the form of a POST. undefined if the body is not a form (RFC 6749 section 4.1.3), or if its parameters have a
 * fault.
 */
export function readForm({ headers, body }: IssuerRequest): URLSearchParams | undefined {
  const type = headers['content-type'] ?? '';
  if (!/^application\/x-www-form-urlencoded\s*(;|$)/i.test(type)) return undefined;
  // The number of parameters is checked first, because parsing thousands of parameters takes milliseconds.
  if (body.split('&', PARAMETERS_MAX + 1).length > PARAMETERS_MAX) return undefined;
  const form = new URLSearchParams(body);
  return parameterFault(form) === undefined ? form : undefined;
}

/**
 * Returns the fault of the parameters. undefined for at most 50 parameters without repetitions (RFC 6749 sections 3.1
 * and 3.2).
 */
export function parameterFault(parameters: URLSearchParams): ParameterFault | undefined {
  if (parameters.size > PARAMETERS_MAX) {
    return { repeated: undefined, message: `there are more than ${PARAMETERS_MAX} parameters` };
  }
  const names = new Set<string>();
  for (const name of parameters.keys()) {
    if (names.has(name) && name !== 'resource') return { repeated: name, message: `${name} occurs twice` };
    names.add(name);
  }
  return undefined;
}
