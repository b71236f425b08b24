// Verifies tokens of trusted issuers: signature, audience and lifetime.

import { createProviderKeys, type ProviderKeys } from '#auth/jwks.ts';
import { checkJwt, claimedIssuer } from '#auth/jwt.ts';
import type { TokenRefusal } from '#auth/rejection.ts';
import { type JsonObject, textsIn } from '#std/json.ts';
import type { OAuthError, OAuthErrorCode } from '../message.ts';
import type { IssuerPorts } from '../ports.ts';
import type { TrustedIssuer } from './settings.ts';

/**
 * Maximum length of a token. Tokens of common providers have less than half of this length. Without this limit, a token
 * could be as long as a request body.
 */
const LENGTH_MAX = 16 * 1024;
const SUBJECT_LENGTH_MAX = 256;

export interface Trusted extends TrustedIssuer {
  readonly keys: ProviderKeys;
}

/** Returns the trusted issuer that a token names. undefined if the issuer is not trusted. */
export type FindTrusted = (token: string) => Trusted | undefined;

export function createTrust(ports: IssuerPorts, issuers: readonly TrustedIssuer[]): FindTrusted {
  const trusted = new Map(issuers.map((each) => [each.issuer, { ...each, keys: keysOf(ports, each) }]));
  return function findTrusted(token) {
    const issuer = token.length > LENGTH_MAX ? undefined : claimedIssuer(token);
    return issuer === undefined ? undefined : trusted.get(issuer);
  };
}

function keysOf(ports: IssuerPorts, { issuer, jwksUrl, allowPrivate }: TrustedIssuer): ProviderKeys {
  const authPorts = {
    fetch: ports.fetch,
    files: { read: async (path: string) => ports.files.read(path) },
    clock: ports.clock,
    notify: ({ message, data }: { readonly message: string; readonly data: JsonObject }) =>
      ports.notify({ code: 'issuer-trusted-unavailable', level: 'warn', message, data: { ...data, issuer } }),
  };
  return createProviderKeys(authPorts, {
    ...{ name: issuer, issuerUrl: issuer, audience: issuer, jwksUrl },
    allowPrivateIP: allowPrivate,
  });
}

/** Verifies a token for the audience, and returns its claims. `code` is the error code for a refused token. */
export async function checkTrusted(
  { issuer, keys }: Trusted,
  token: string,
  audience: string,
  { code, nowMs }: { readonly code: OAuthErrorCode; readonly nowMs: number },
): Promise<{ readonly claims: JsonObject } | OAuthError> {
  const checked = await checkJwt(keys.find, token, { issuer, audience }, nowMs);
  return checked.ok ? { claims: checked.claims } : refusedAs(code, checked.refusal);
}

/**
 * Returns the error for a refused token. If the keys are unavailable, the token may be valid, so the client should try
 * again.
 */
function refusedAs(code: OAuthErrorCode, { reason }: TokenRefusal): OAuthError {
  if (reason === 'keys-unavailable')
    return { error: 'temporarily_unavailable', description: 'the keys of the issuer cannot be had; try again' };
  return { error: code, description: `the token of the issuer is refused: ${reason}` };
}

export function audiencesIn({ aud }: JsonObject): readonly string[] {
  return typeof aud === 'string' ? [aud] : textsIn(aud);
}

/** Returns the subject of a token. undefined if the subject is missing, empty or too long. */
export function subjectIn({ sub }: JsonObject): string | undefined {
  return typeof sub === 'string' && sub !== '' && sub.length <= SUBJECT_LENGTH_MAX ? sub : undefined;
}

/**
 * Returns the subject in tokens of this server for a subject of another issuer. The result differs from the subjects of
 * this server's persons and of all other issuers.
 */
export function foreignSubject(issuer: string, subject: string): string {
  return `${issuer}#${subject}`;
}
