// Assertions of trusted issuers as grants (RFC 7523 section 2.1): a workload gets a token for one resource, without a login and
// without a client. Each assertion counts once.

import { decodeProtectedHeader } from 'jose/decode/protected_header';
import { decodeJwt } from 'jose/jwt/decode';
import { sha256 } from '#std/hash.ts';
import type { JsonObject } from '#std/json.ts';
import { textsIn } from '#std/json.ts';
import type { TokenFacts } from '../access-token.ts';
import { knownResource } from '../known-resource.ts';
import type { IssuerRequest, OAuthError } from '../message.ts';
import { ASSERTION_SKEW_MS, KEYS } from '../records.ts';
import { audienceFor } from '../resources.ts';
import type { IssuerWorld } from '../world.ts';
import type { BearerGrant } from './settings.ts';
import { checkTrusted, foreignSubject } from './trust.ts';

export const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer';

/** An assertion is made right before it is sent, and clocks differ. */
const IAT_SKEW_S = 60;
const SUBJECT_LENGTH_MAX = 256;

/** The token that an assertion is good for. */
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
  // Before the token is made: an assertion whose answer is lost has to be replaced by another one.
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

/** RFC 8725 section 3.11: an access token, an ID token of another kind or a logout token is not an assertion. */
function hasAssertionType(assertion: string): boolean {
  const typ = headerType(assertion);
  return typ === undefined || (typeof typ === 'string' && ['jwt', 'application/jwt'].includes(typ.toLowerCase()));
}

/** Null if the header cannot be read. */
function headerType(assertion: string): unknown {
  try {
    return decodeProtectedHeader(assertion).typ;
  } catch {
    // jose throws different classes for different flaws; all of them mean that there is no header to read.
    return null;
  }
}

/** The accepted audience that the assertion names, not verified yet; the first one if it names none of them. */
function namedAudience(assertion: string, { audiences }: BearerGrant): string {
  const { aud } = decodeJwt(assertion);
  const named = typeof aud === 'string' ? [aud] : textsIn(aud);
  return audiences.find((each) => named.includes(each)) ?? audiences[0];
}

function ageFault({ iat, exp }: JsonObject, { maxAgeMs }: BearerGrant, nowMs: number): string | undefined {
  if (typeof iat !== 'number' || typeof exp !== 'number') return 'must have iat and exp';
  if (iat > nowMs / 1000 + IAT_SKEW_S) return 'is from the future (iat)';
  return (exp - iat) * 1000 > maxAgeMs ? `is good for longer than ${maxAgeMs / 1000} seconds` : undefined;
}

function formFault({ sub, jti, cnf }: JsonObject): string | undefined {
  if (typeof sub !== 'string' || sub === '' || sub.length > SUBJECT_LENGTH_MAX) return 'must have a sub';
  if (jti !== undefined && (typeof jti !== 'string' || jti === '')) return 'has a jti that is not a text';
  // RFC 7800 section 3.1: good only together with a proof, which is not checked here.
  return cnf === undefined ? undefined : 'is bound to a key';
}

/** The `aud` of the token: the one resource that is asked for, if the subject may have it. */
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
 * False: it was used before. Without a jti, what was signed is the mark: of one content and one key there may be several valid
 * signatures, so a signature marks nothing.
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
