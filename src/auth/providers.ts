// Decides whether a request's token is accepted: which providers may judge it, and what they say.
// Knows nothing about HTTP frameworks, paths or challenges.

import type { JsonObject } from '../std/json.ts';
import { readBearer } from './bearer.ts';
import { excerpt } from './claims.ts';
import { createIntrospection, type Introspect } from './introspection.ts';
import { createKeyLookup, type KeyLookup } from './jwks.ts';
import { checkJwt, claimedIssuer, type TokenResult } from './jwt.ts';
import type { AuthPorts } from './ports.ts';
import type { Attempt, Rejection } from './rejection.ts';
import type { ProviderSettings } from './settings.ts';

/** Who calls, as far as the token says. */
interface Identity {
  /** Name of the provider that vouches for it. */
  readonly provider: string;
  readonly subject?: string;
}

type Verdict =
  | { readonly ok: true; readonly identity: Identity }
  | { readonly ok: false; readonly rejection: Rejection };

/** `authorization`: every Authorization header of the request, in order. Never rejects because of a token. */
export type Authenticate = (authorization: readonly string[]) => Promise<Verdict>;

interface Provider {
  readonly settings: ProviderSettings;
  readonly findKey: KeyLookup;
  readonly introspect?: Introspect;
}

/** Asks nobody yet: keys are fetched when the first token needs them. */
export function createAuthenticate(ports: AuthPorts, settings: readonly ProviderSettings[]): Authenticate {
  const providers = settings.map((provider) => createProvider(ports, provider));
  return async function authenticate(authorization) {
    const bearer = readBearer(authorization);
    if (!bearer.ok) return bearer;
    const issuer = claimedIssuer(bearer.token);
    const judges = providers.filter((provider) => mayJudge(provider, issuer));
    if (judges.length === 0) {
      return {
        ok: false,
        rejection: { reason: 'provider-unknown', ...(issuer === undefined ? {} : { issuer: excerpt(issuer) }) },
      };
    }
    return judge(ports, judges, bearer.token, issuer !== undefined);
  };
}

function createProvider(ports: AuthPorts, settings: ProviderSettings): Provider {
  const { introspectionUrl } = settings;
  return {
    settings,
    findKey: createKeyLookup(ports, settings),
    ...(introspectionUrl === undefined
      ? {}
      : { introspect: createIntrospection(ports, { ...settings, introspectionUrl }) }),
  };
}

/**
 * A token that names an issuer goes to the providers of exactly that issuer, so that no other provider ever sees it. One
 * that names none is opaque, and goes to those that can be asked about it.
 */
function mayJudge(provider: Provider, issuer: string | undefined): boolean {
  return issuer === undefined ? provider.introspect !== undefined : provider.settings.issuerUrl === issuer;
}

/** Document 1, Token validation rule 1: as a JWT first, then by introspection. The first acceptance wins. */
async function judge(
  ports: AuthPorts,
  providers: readonly Provider[],
  token: string,
  isJwt: boolean,
): Promise<Verdict> {
  const attempts: Attempt[] = [];
  for (const { settings, findKey } of isJwt ? providers : []) {
    const expected = { issuer: settings.issuerUrl, audience: settings.audience };
    const result = await checkJwt(findKey, token, expected, ports.clock.now());
    if (result.ok) return accepted(settings, result.claims);
    attempts.push({ provider: settings.name, method: 'jwt', refusal: result.refusal });
  }
  for (const { settings, introspect } of providers) {
    if (introspect === undefined) continue;
    const result: TokenResult = await introspect(token);
    if (result.ok) return accepted(settings, result.claims);
    attempts.push({ provider: settings.name, method: 'introspection', refusal: result.refusal });
  }
  return { ok: false, rejection: { reason: 'token-refused', attempts } };
}

function accepted(provider: ProviderSettings, claims: JsonObject): Verdict {
  const subject = typeof claims.sub === 'string' ? { subject: excerpt(claims.sub) } : {};
  return { ok: true, identity: { provider: provider.name, ...subject } };
}
