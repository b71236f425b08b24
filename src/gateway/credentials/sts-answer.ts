// Parses the token service's answer to AssumeRoleWithWebIdentity. Uses the documented XML, which every token service
// sends. The JSON that AWS sends for `Accept: application/json` is undocumented, and other services do not support it.

import type { FetchResponse } from '#auth/ports.ts';
import type { CredentialCode } from './codes.ts';
import { conceal } from './conceal.ts';
import { refusedIssue, unavailableStatus } from './endpoint.ts';
import type { Issue } from './issued.ts';
import type { SigningKeys } from './sigv4.ts';
import { readXml } from './xml.ts';

const NOT_POSSIBLE = 'the credentials for this server cannot be obtained';
const CREDENTIALS = 'AssumeRoleWithWebIdentityResponse/AssumeRoleWithWebIdentityResult/Credentials';

export function readAssumedRole(
  response: FetchResponse,
  display: string,
  secrets: readonly string[],
): Issue<SigningKeys> {
  const texts = readXml(new TextDecoder().decode(response.body));
  const error = texts?.get('ErrorResponse/Error/Code');
  if (response.status >= 400 && error !== undefined) {
    const words = conceal(`${error}: ${texts?.get('ErrorResponse/Error/Message') ?? ''}`, secrets);
    return readError(response, error, display, `${display} answered with status ${response.status}, ${words}`);
  }
  const unavailable = unavailableStatus(response, display);
  if (unavailable !== undefined) return unavailable;
  if (response.status !== 200) return invalidAssumedRole(`${display} answered with status ${response.status}`);
  return readKeys(texts, display);
}

export function invalidAssumedRole(detail: string): Issue<never> {
  return refusedIssue(502, 'sts-answer-invalid', NOT_POSSIBLE, detail);
}

/**
 * Characters that are valid in headers. The key id is sent in Authorization, and the session token in another header.
 */
const SENDABLE = /^[\u0021-\u007e]+$/;

function readKeys(texts: ReadonlyMap<string, string> | undefined, display: string): Issue<SigningKeys> {
  const [accessKeyId, secretAccessKey, sessionToken, expiration] = [
    'AccessKeyId',
    'SecretAccessKey',
    'SessionToken',
    'Expiration',
  ].map((name) => texts?.get(`${CREDENTIALS}/${name}`)?.trim() ?? '');
  const expiresAtMs = Date.parse(expiration ?? '');
  if (
    !isSendable(accessKeyId) ||
    !isSendable(secretAccessKey) ||
    !isSendable(sessionToken) ||
    Number.isNaN(expiresAtMs)
  ) {
    return invalidAssumedRole(`${display} did not answer with the credentials of a role`);
  }
  return { type: 'issued', value: { accessKeyId, secretAccessKey, sessionToken }, expiresAtMs };
}

function isSendable(text: string | undefined): text is string {
  return text !== undefined && SENDABLE.test(text);
}

interface Meaning {
  readonly status: 401 | 403;
  readonly code: CredentialCode;
  readonly message: string;
}

const REFUSED_TOKEN: Meaning = {
  status: 401,
  code: 'sts-token-refused',
  message: 'the token was not accepted in exchange for credentials of this server',
};

/** Error codes that concern the caller. All other codes mean that the proxy or the proxy's configuration is wrong. */
const MEANINGS: ReadonlyMap<string, Meaning> = new Map([
  ['ExpiredToken', REFUSED_TOKEN],
  ['ExpiredTokenException', REFUSED_TOKEN],
  ['IDPRejectedClaim', REFUSED_TOKEN],
  ['InvalidIdentityToken', REFUSED_TOKEN],
  ['AccessDenied', { status: 403, code: 'sts-denied', message: 'the caller may not use this server' }],
]);

/**
 * Error codes of a service that is overloaded or cannot reach the identity provider. Some of these codes have status
 * 400.
 */
const OVERLOADED: ReadonlySet<string> = new Set([
  'IDPCommunicationError',
  'RequestLimitExceeded',
  'ServiceUnavailable',
  'Throttling',
  'ThrottlingException',
]);

function readError(response: FetchResponse, error: string, display: string, detail: string): Issue<never> {
  const unavailable = unavailableStatus(response, display);
  if (unavailable !== undefined) return { ...unavailable, detail };
  if (OVERLOADED.has(error)) return { type: 'unavailable', detail };
  const meaning = MEANINGS.get(error);
  if (meaning === undefined) return refusedIssue(502, 'sts-misconfigured', NOT_POSSIBLE, detail);
  return refusedIssue(meaning.status, meaning.code, meaning.message, detail);
}
