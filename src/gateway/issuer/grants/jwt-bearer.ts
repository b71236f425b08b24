// Accepts assertions of trusted issuers as grants (RFC 7523 section 2.1). A workload gets a token for one resource,
// without a login and without a client. Each assertion is valid once.

import { decodeProtectedHeader } from 'jose/decode/protected_header';
import { decodeJwt } from 'jose/jwt/decode';
import { knownResource } from '#contracts/auth-server/resources.ts';
import { sha256 } from '#std/hash.ts';
import type { JsonObject } from '#std/json.ts';
import type { TokenFacts } from '../access-token.ts';
import type { IssuerRequest, OAuthError } from '../message.ts';
import { ASSERTION_SKEW_MS, KEYS } from '../records.ts';
import { audienceFor } from '../resources.ts';
import type { IssuerWorld } from '../world.ts';
import type { BearerGrant } from './settings.ts';
import { audiencesIn, checkTrusted, foreignSubject, subjectIn } from './trust.ts';

export const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer';

/** Maximum time by which `iat` may be in the future, because clocks differ. */
const IAT_SKEW_S = 60;

/** Verifies an assertion, and returns the facts of its token. */
export async function redeemAssertion(
  world: IssuerWorld,
  { headers }: IssuerRequest,
  form: URLSearchParams,
): Promise<TokenFacts | OAuthError> {
  const isProven = headers.authorization !== undefined || form.has('client_secret') || form.has('client_assertion');
  if (isProven) return invalidRequest('this grant has no client: send the assertion alone');
  const assertion = form.get('assertion') ?? '';
  if (assertion === '') return invalidRequest('assertion is missing');
  const trusted = world.findTrusted(assertion);
  const bearer = trusted?.bearer;
  if (trusted === undefined || bearer === undefined)
    return invalidGrant('the issuer of the assertion is not trusted, or the assertion cannot be read');
  if (!hasAssertionType(assertion)) return invalidGrant('the typ of the assertion must be JWT, or absent');
  const nowMs = world.ports.clock.now();
  const audience = namedAudience(assertion, bearer);
  const checked = await checkTrusted(trusted, assertion, audience, { code: 'invalid_grant', nowMs });
  if ('error' in checked) return checked;
  const { claims } = checked;
  const fault = ageFault(claims, bearer, nowMs) ?? formFault(claims);
  if (fault !== undefined) return invalidGrant(`the assertion ${fault}`);
  const subject = String(claims.sub);
  const granted = resourceFor(world, bearer, subject, form.getAll('resource'));
  if ('error' in granted) return granted;
  // The assertion is marked as used before the token is created. A workload that loses the answer therefore needs a new
  // assertion.
  if (!(await spendAssertion(world, trusted.issuer, assertion, claims)))
    return invalidGrant('the assertion was used before');
  return {
    client: `urn:skep:assertion:${sha256(JSON.stringify([trusted.issuer, subject]))}`,
    person: { subject: foreignSubject(trusted.issuer, subject) },
    scopes: [],
    audience: granted,
    untilMs: Number(claims.exp) * 1000,
  };
}

/**
 * Returns whether the JWT has the type of an assertion. Access tokens, logout tokens and similar types are not
 * assertions (RFC 8725 section 3.11).
 */
function hasAssertionType(assertion: string): boolean {
  const typ = headerType(assertion);
  return typ === undefined || (typeof typ === 'string' && ['jwt', 'application/jwt'].includes(typ.toLowerCase()));
}

/** Returns `typ` of the header. null if the header is not readable. */
function headerType(assertion: string): unknown {
  try {
    return decodeProtectedHeader(assertion).typ;
  } catch {
    // jose throws several error classes. Each class means that the header is not readable.
    return null;
  }
}

/**
 * Returns an accepted audience that the unverified assertion names. If the assertion names no accepted audience,
 * returns the first accepted audience, so that the verification fails.
 */
function namedAudience(assertion: string, { audiences }: BearerGrant): string {
  const named = audiencesIn(decodeJwt<JsonObject>(assertion));
  return audiences.find((each) => named.includes(each)) ?? audiences[0];
}

function ageFault({ iat, exp }: JsonObject, { maxAgeMs }: BearerGrant, nowMs: number): string | undefined {
  if (typeof iat !== 'number' || typeof exp !== 'number') return 'must have iat and exp';
  if (iat > nowMs / 1000 + IAT_SKEW_S) return 'is from the future (iat)';
  return (exp - iat) * 1000 > maxAgeMs ? `is good for longer than ${maxAgeMs / 1000} seconds` : undefined;
}

function formFault(claims: JsonObject): string | undefined {
  const { jti, cnf } = claims;
  if (subjectIn(claims) === undefined) return 'must have a sub';
  if (jti !== undefined && (typeof jti !== 'string' || jti === '')) return 'has a jti that is not a text';
  // A token with `cnf` is only valid with a proof of possession (RFC 7800 section 3.1), which this server does not
  // verify.
  return cnf === undefined ? undefined : 'is bound to a key';
}

/** Returns the `aud` of the token: the requested resource, if the subject may have a token for this resource. */
function resourceFor(
  { settings }: IssuerWorld,
  { bindings }: BearerGrant,
  subject: string,
  asked: readonly string[],
): readonly string[] | OAuthError {
  const allowed = bindings.get(subject);
  if (allowed === undefined) return invalidGrant('the subject of the assertion gets no tokens here');
  const [resource = ''] = asked;
  if (asked.length !== 1 || resource === '') return invalidRequest('name exactly one resource');
  if (knownResource(allowed, resource) === undefined)
    return { error: 'invalid_target', description: 'the subject of the assertion gets no tokens for the resource' };
  return audienceFor(settings, asked);
}

/**
 * Returns false if the assertion was used before. An assertion without a jti is identified by its signed content. The
 * signature is not suitable, because one content can have several valid signatures.
 */
async function spendAssertion(
  { ports }: IssuerWorld,
  issuer: string,
  assertion: string,
  { jti, exp }: JsonObject,
): Promise<boolean> {
  const signed = assertion.slice(0, assertion.lastIndexOf('.'));
  const mark = sha256(JSON.stringify(typeof jti === 'string' ? [issuer, 'jti', jti] : [issuer, 'signed', signed]));
  const leftMs = Number(exp) * 1000 - ports.clock.now();
  return ports.store.add(KEYS.bearerAssertion(mark), '1', leftMs + ASSERTION_SKEW_MS);
}

function invalidGrant(description: string): OAuthError {
  return { error: 'invalid_grant', description };
}

function invalidRequest(description: string): OAuthError {
  return { error: 'invalid_request', description };
}
