// Issues and verifies access tokens as JWTs (RFC 9068).

import { decodeProtectedHeader, jwtVerify, SignJWT } from 'jose';
import { SESSION_CLAIM } from '#auth/identity.ts';
import { isObject, type JsonObject } from '#std/json.ts';
import type { Person } from './records.ts';
import { type IssuerWorld, randomId } from './world.ts';

export interface TokenFacts {
  readonly client: string;
  /** Login that the token comes from. undefined for a token without a login. */
  readonly session?: string;
  readonly person: Person;
  readonly scopes: readonly string[];
  readonly audience: readonly string[];
  /** Party that acts for the person (RFC 8693 section 4.1). */
  readonly act?: JsonObject;
  /** Latest expiry of the token, in milliseconds since 1970. */
  readonly untilMs?: number;
}

/** Returns the lifetime of a token in seconds. */
export function tokenSeconds({ settings, ports }: IssuerWorld, { untilMs }: TokenFacts): number {
  const leftMs = untilMs === undefined ? settings.accessMs : untilMs - ports.clock.now();
  return Math.max(0, Math.floor(Math.min(settings.accessMs, leftMs) / 1000));
}

export function signAccessToken(world: IssuerWorld, facts: TokenFacts): Promise<string> {
  const { settings, keys, ports } = world;
  const { client, session, person, scopes, audience, act } = facts;
  const { id, algorithm, privateKey } = keys.current();
  const now = Math.floor(ports.clock.now() / 1000);
  const { subject, name, email } = person;
  const claims = {
    iss: settings.issuer,
    sub: subject,
    aud: audience.length === 1 ? audience[0] : [...audience],
    iat: now,
    exp: now + tokenSeconds(world, facts),
    jti: randomId(world),
    client_id: client,
    scope: scopes.length === 0 ? undefined : scopes.join(' '),
    act,
    // The claim is null for a token without a login. The presence of the claim shows that this server issued the token.
    // This server writes no groups into its tokens.
    [SESSION_CLAIM]: session ?? null,
    name,
    email,
  };
  return new SignJWT(claims).setProtectedHeader({ alg: algorithm, typ: 'at+jwt', kid: id }).sign(privateKey);
}

/**
 * Returns the client and session of an unexpired token of this server. undefined for all other tokens, and for tokens
 * with `act`.
 */
export async function readAccessToken(
  world: IssuerWorld,
  token: string,
): Promise<{ readonly client: string; readonly session: string } | undefined> {
  const { client_id: client, [SESSION_CLAIM]: session, act } = (await readOwnToken(world, token)) ?? {};
  // A client that acts for a person must not end the login of the person.
  if (act !== undefined) return undefined;
  return typeof client === 'string' && typeof session === 'string' ? { client, session } : undefined;
}

/** Returns the claims of an unexpired token of this server. undefined for all other texts. */
export async function readOwnToken(
  { keys, settings, ports }: IssuerWorld,
  token: string,
): Promise<JsonObject | undefined> {
  try {
    const { kid } = decodeProtectedHeader(token);
    const key = keys.published().keys.find((each) => each.kid === kid);
    if (key === undefined) return undefined;
    const options = {
      issuer: settings.issuer,
      typ: 'at+jwt',
      algorithms: [key.alg ?? ''],
      currentDate: new Date(ports.clock.now()),
    };
    const { payload } = await jwtVerify(token, key, options);
    return isObject(payload) ? payload : undefined;
  } catch {
    // Every error means that the text is not a valid token of this server.
    return undefined;
  }
}
