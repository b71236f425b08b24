// Parses the answer of a token endpoint to a token request (RFC 8693 section 2.2, RFC 6749 section 5.2).

import type { FetchResponse } from '#auth/ports.ts';
import { isObject, type JsonObject } from '#std/json.ts';
import type { CredentialCode } from '../codes.ts';
import { conceal } from '../conceal.ts';
import { refusedIssue, unavailableStatus } from '../endpoint.ts';
import { bearerValue } from '../header-rules.ts';
import type { Issue } from '../issued.ts';

const NOT_POSSIBLE = 'the token for this server cannot be obtained';

/** Data about the request that the answer does not contain. */
export interface ExchangeContext {
  /** URL of the endpoint, for messages. */
  readonly display: string;
  /** Time before the request was sent, in milliseconds since 1970. */
  readonly askedAtMs: number;
  /** Texts that messages must not contain. */
  readonly secrets: readonly string[];
  /** True if the request contains no token of the caller. A refusal then does not concern the caller's login. */
  readonly isOwn?: boolean;
}

/** Parses the answer to a token exchange. Returns the header value `Bearer <token>`. */
export function readExchange(response: FetchResponse, context: ExchangeContext): Issue<string> {
  const answer = readIssued(response, context);
  return 'type' in answer ? answer : readToken(answer.answer, context, true);
}

/**
 * Parses the answer to another grant. Such an answer has no `issued_token_type`. Returns the header value `Bearer
 * <token>`.
 */
export function readGrant(response: FetchResponse, context: ExchangeContext): Issue<string> {
  const answer = readIssued(response, context);
  return 'type' in answer ? answer : readToken(answer.answer, context, false);
}

/** Returns the parsed body of a successful answer, without validating its members. */
export function readIssued(
  response: FetchResponse,
  context: ExchangeContext,
): { readonly answer: JsonObject } | Issue<never> {
  const answer = parseObject(response.body);
  const error = answer?.error;
  if (response.status >= 400 && typeof error === 'string' && answer !== undefined) {
    return readError(response, error, answer.error_description, context);
  }
  const unavailable = unavailableStatus(response, context.display);
  if (unavailable !== undefined) return unavailable;
  if (response.status !== 200) return unusableAnswer(context.display, `answered with status ${response.status}`);
  if (answer === undefined) return unusableAnswer(context.display, 'did not answer with a JSON object');
  return { answer };
}

export function invalidExchange(detail: string): Issue<never> {
  return refusedIssue(502, 'exchange-answer-invalid', NOT_POSSIBLE, detail);
}

export function unusableAnswer(display: string, what: string): Issue<never> {
  return invalidExchange(`${display} ${what}`);
}

function readToken(answer: JsonObject, { display, askedAtMs }: ExchangeContext, isTyped: boolean): Issue<string> {
  const { access_token: token, issued_token_type: issuedType, token_type: type, expires_in: seconds } = answer;
  const value = typeof token === 'string' ? bearerValue(token) : undefined;
  if (value === undefined) return unusableAnswer(display, 'answered without an access_token that a header can carry');
  if (isTyped && (typeof issuedType !== 'string' || issuedType === ''))
    return unusableAnswer(display, 'answered without issued_token_type');
  if (typeof type !== 'string' || type.toLowerCase() !== 'bearer') {
    return unusableAnswer(display, 'answered with a token_type that is not Bearer');
  }
  if (seconds === undefined || seconds === null) return { type: 'issued', value };
  // Some services send the number as text.
  const life = typeof seconds === 'string' && /^[0-9]{1,10}$/.test(seconds) ? Number(seconds) : seconds;
  if (typeof life !== 'number' || life < 0)
    return unusableAnswer(display, 'answered with an expires_in that is not a number');
  return { type: 'issued', value, expiresAtMs: askedAtMs + life * 1000 };
}

interface Meaning {
  readonly status: 401 | 403 | 502;
  readonly code: CredentialCode;
  readonly message: string;
}

const REFUSED_TOKEN: Meaning = {
  status: 401,
  code: 'exchange-token-refused',
  message: 'the token was not accepted in exchange for one of this server',
};

const DENIED: Meaning = {
  status: 403,
  code: 'exchange-denied',
  message: 'the caller gets no token for this server',
};

/** Error codes that concern the caller. All other codes mean that the proxy or the proxy's configuration is wrong. */
const MEANINGS: ReadonlyMap<string, Meaning> = new Map([
  ['invalid_grant', REFUSED_TOKEN],
  ['invalid_request', REFUSED_TOKEN],
  ['access_denied', DENIED],
]);
const MISCONFIGURED: Meaning = { status: 502, code: 'exchange-misconfigured', message: NOT_POSSIBLE };

/** Error codes of an overloaded endpoint (RFC 6749 section 4.1.2.1, RFC 8628 section 3.5). */
const OVERLOADED: ReadonlySet<string> = new Set(['temporarily_unavailable', 'slow_down']);

function readError(
  response: FetchResponse,
  error: string,
  description: unknown,
  { display, secrets, isOwn = false }: ExchangeContext,
): Issue<never> {
  const words = conceal(typeof description === 'string' ? `${error}: ${description}` : error, secrets);
  const detail = `${display} answered with status ${response.status}, ${words}`;
  const unavailable = unavailableStatus(response, display);
  if (unavailable !== undefined) return { ...unavailable, detail };
  if (OVERLOADED.has(error)) return { type: 'unavailable', detail };
  if (error === 'server_error') return { type: 'failed', detail };
  const meaning = MEANINGS.get(error) ?? MISCONFIGURED;
  // A 401 would make the client log in again. A new login does not help if the request contains no token of the caller.
  const { status, code, message } = isOwn && meaning.status === 401 ? DENIED : meaning;
  return refusedIssue(status, code, message, detail);
}

function parseObject(body: Uint8Array): JsonObject | undefined {
  try {
    const parsed: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
    return isObject(parsed) ? parsed : undefined;
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return undefined;
    throw error;
  }
}
