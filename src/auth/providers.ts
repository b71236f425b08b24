// Decides whether a token is accepted, by the providers that may have issued it.

import type { JsonObject } from '#std/json.ts';
import { type Accepted, type AcceptedTokens, createAcceptedTokens, isAccepted } from './accepted.ts';
import { readBearer } from './bearer.ts';
import { excerpt } from './excerpt.ts';
import { type Identity, identityOf } from './identity.ts';
import { createIntrospection, type Introspect } from './introspection.ts';
import { createProviderKeys, type ProviderKeys } from './jwks.ts';
import { checkAccessToken, claimedIssuer, type TokenResult } from './jwt.ts';
import type { AuthPorts } from './ports.ts';
import { type ProviderAttempt, type Rejection, refusedBy } from './rejection.ts';
import type { ProviderSettings } from './settings.ts';
import { checkForm } from './token-form.ts';

export type Authentication =
  | {
      readonly ok: true;
      readonly identity: Identity;
      /**
       * Returns true while the token stays accepted without a request to a provider. If absent, each use needs a
       * request.
       */
      readonly holds?: () => boolean;
    }
  | { readonly ok: false; readonly rejection: Rejection };

/**
 * `authorization` contains all Authorization headers of the request, in order. Returns a promise only if the token was
 * not accepted before. Never rejects because of a token.
 */
export type Authenticate = (authorization: readonly string[]) => Authentication | Promise<Authentication>;

interface TokenProvider {
  readonly settings: ProviderSettings;
  readonly keys: ProviderKeys;
  readonly introspect?: Introspect;
}

interface TokenValidation {
  readonly ports: AuthPorts;
  readonly providers: readonly TokenProvider[];
  readonly accepted: AcceptedTokens;
}

/** Creates the check without a request: the first token that needs a provider's keys fetches them. */
export function createAuthenticate(ports: AuthPorts, settings: readonly ProviderSettings[]): Authenticate {
  const providers = settings.map((provider) => createProvider(ports, provider));
  const validation: TokenValidation = { ports, providers, accepted: createAcceptedTokens() };
  return function authenticate(authorization) {
    const bearer = readBearer(authorization);
    if (!bearer.ok) return bearer;
    const known = validation.accepted.get(bearer.token, ports.clock.now());
    return known === undefined ? tryProviders(validation, bearer.token) : acceptedAuthentication(ports, known);
  };
}

function acceptedAuthentication({ clock }: AuthPorts, accepted: Accepted): Authentication {
  return { ok: true, identity: accepted.identity, holds: () => isAccepted(accepted, clock.now()) };
}

function createProvider(ports: AuthPorts, settings: ProviderSettings): TokenProvider {
  const { introspectionUrl } = settings;
  return {
    settings,
    keys: createProviderKeys(ports, settings),
    introspect:
      introspectionUrl === undefined ? undefined : createIntrospection(ports, { ...settings, introspectionUrl }),
  };
}

/**
 * Verifies a token as a JWT first, and then by introspection (registry server document, Token validation rule 1). A
 * token with a configured issuer is sent only to providers of this issuer. Other tokens are sent to each provider with
 * introspection, in order. The first acceptance decides.
 */
async function tryProviders(validation: TokenValidation, token: string): Promise<Authentication> {
  const issuer = claimedIssuer(token);
  const named = issuer === undefined ? [] : await providersOf(validation, issuer);
  const candidates =
    named.length > 0 ? named : validation.providers.filter(({ introspect }) => introspect !== undefined);
  if (candidates.length === 0) {
    const detail = issuer === undefined ? {} : { issuer: excerpt(issuer) };
    return { ok: false, rejection: { reason: 'provider-unknown', ...detail } };
  }
  const attempts: ProviderAttempt[] = [];
  const identity =
    (await verify(validation, named, { token, issuer }, attempts)) ?? (await introspectBy(candidates, token, attempts));
  return identity === undefined ? { ok: false, rejection: refusedBy(attempts) } : { ok: true, identity };
}

/**
 * Returns the providers of the issuer, and unreachable providers, because these may have the issuer too. If an
 * unreachable provider cannot decide, the token is undecided, not refused.
 */
async function providersOf({ providers }: TokenValidation, issuer: string): Promise<readonly TokenProvider[]> {
  const answers = await Promise.all(providers.map(({ keys }) => keys.issues(issuer)));
  return providers.filter((_provider, index) => answers[index] !== false);
}

/** Verifies the signature with the keys of each provider. Adds each refusal to `attempts`. */
async function verify(
  { ports, accepted }: TokenValidation,
  providers: readonly TokenProvider[],
  { token, issuer = '' }: { readonly token: string; readonly issuer: string | undefined },
  attempts: ProviderAttempt[],
): Promise<Identity | undefined> {
  for (const { settings, keys } of providers) {
    const { issuerUrl, audience, account, tokenTypes } = settings;
    // Checked again: if `keys` were loaded since the first check, they may belong to another issuer.
    const isIssued = await keys.issues(issuer);
    const expected = { issuer: isIssued === true ? issuer : issuerUrl, audience, account, tokenTypes };
    const result = await checkAccessToken(keys.find, token, expected, ports.clock.now());
    if (result.ok) {
      const identity = identityOf(settings.name, result.claims);
      const edition = keys.edition();
      // If the keys are no longer fresh, the acceptance is not reused for later requests.
      const holds = () => edition !== undefined && keys.edition() === edition;
      accepted.set(token, { identity, expiry: expiryOf(result.claims), holds });
      return identity;
    }
    attempts.push({ provider: settings.name, method: 'jwt', refusal: result.refusal });
  }
  return undefined;
}

async function introspectBy(
  providers: readonly TokenProvider[],
  token: string,
  attempts: ProviderAttempt[],
): Promise<Identity | undefined> {
  for (const { settings, introspect } of providers) {
    if (introspect === undefined) continue;
    const refusal = checkForm(token, settings.tokenTypes);
    const result: TokenResult = refusal === undefined ? await introspect(token) : { ok: false, refusal };
    if (result.ok) return identityOf(settings.name, result.claims);
    attempts.push({ provider: settings.name, method: 'introspection', refusal: result.refusal });
  }
  return undefined;
}

/** Returns `exp`, which the check of the claims requires to be a number. */
function expiryOf({ exp }: JsonObject): number {
  return Number(exp);
}
